/* SPDX-License-Identifier: Apache-2.0 */
/* The command line; see gateway_flags.h. */
#include "tools/informer-gateway/config/gateway_flags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flags/flags.h"
#include "tools/informer-gateway/config/gateway_file.h"
#include "writer/base/message.h"
#include "writer/base/quantity.h"

struct flags {
	const char *file;
	bool help, version;
	struct gw_listener_config *listener; /* the one that flags speak of; NULL: they speak of none yet */
	struct gw_config config;             /* what the flags say, and defaults */
};

/* ---- of the listener ---- */

/* A flag of the listener is the first that speaks of it, or one more. */
static struct gw_listener_config *
listener_of(struct flags *flags)
{
	if (!flags->listener) {
		flags->listener = gw_config_add_listener(&flags->config);
		if (flags->listener)
			flags->listener->origin = strdup("--listen");
	}
	return flags->listener && flags->listener->origin ? flags->listener : NULL;
}

#define TAKE_OF_LISTENER(function, call)                                                                     \
	static int function(void *at, const char *value, char **ret_error)                                   \
	{                                                                                                    \
		struct gw_listener_config *l = listener_of(at);                                              \
                                                                                                             \
		return l ? (call) : -ENOMEM;                                                                 \
	}

static int
add_id(struct gw_ids *ids, const char *value,
       int (*parse)(const char *text, uint32_t *ret_id, char **ret_error), char **ret_error)
{
	uint32_t id;
	int r = parse(value, &id, ret_error);

	return r < 0 ? r : gw_ids_add(ids, id);
}

static int
set_profile(struct gw_listener_config *l, const char *value, char **ret_error)
{
	enum gw_profile profile;
	int r = gw_config_parse_profile(value, &profile, ret_error);

	if (r < 0)
		return r;
	if (l->profile != GW_PROFILE_NONE && l->profile != profile)
		return flag_fail(ret_error, "the profile is %s already", gw_profile_name(l->profile));
	l->profile = profile;
	return 0;
}

TAKE_OF_LISTENER(take_listen, flag_take_copy(&l->listen, value, ret_error))
TAKE_OF_LISTENER(take_profile, set_profile(l, value, ret_error))
TAKE_OF_LISTENER(take_insecure, *value == 't' ? set_profile(l, "insecure-loopback", ret_error) : 0)
TAKE_OF_LISTENER(take_uid, add_id(&l->uids, value, gw_config_parse_uid, ret_error))
TAKE_OF_LISTENER(take_gid, add_id(&l->gids, value, gw_config_parse_gid, ret_error))
TAKE_OF_LISTENER(take_certificate, flag_take_copy(&l->certificate, value, ret_error))
TAKE_OF_LISTENER(take_key, flag_take_copy(&l->key, value, ret_error))
TAKE_OF_LISTENER(take_client_ca, flag_take_copy(&l->client_ca, value, ret_error))
TAKE_OF_LISTENER(take_client_name, ((void)ret_error, gw_texts_add(&l->client_names, value, strlen(value))))
TAKE_OF_LISTENER(take_allow, gw_scope_parse_rule(value, &l->scope, ret_error))

/* ---- of the whole ---- */

static int
take_chance(void *at, const char *value, char **ret_error)
{
	char *end = NULL;
	double chance = strspn(value, "0123456789.eE-") == strlen(value) ? strtod(value, &end) : -1;

	if (!end || *end || !(chance >= 0 && chance <= GW_GOAWAY_MOST))
		return flag_fail(ret_error, "must be a number from 0 to 0.02");
	*(double *)at = chance;
	return 0;
}

static int
take_log_level(void *at, const char *value, char **ret_error)
{
	return log_level_parse(value, at) < 0 ? flag_fail(ret_error, "must be error, warning, info or debug")
					      : 0;
}

/* ---- the table ---- */

#define OF_LISTENER 0, false
#define AT(member) offsetof(struct flags, config.member), false
/* as --context="$CONTEXT" */
#define COPY(member) flag_take_copy, offsetof(struct flags, config.member), true

static const struct flag table_rows[] = {
	FLAG_HEADING("One listener"),
	{"listen", 0, "ADDRESS", "IP:PORT, [IP6]:PORT, :PORT or unix:PATH", take_listen, OF_LISTENER},
	{"profile", 0, "PROFILE", "who may: unix, tokens or certificates", take_profile, OF_LISTENER},
	{"insecure-loopback", 0, NULL, "plain HTTP for everybody on this machine: 127.0.0.1 or [::1] alone",
	 take_insecure, OF_LISTENER},
	{"allow", 0, "RULE",
	 "what may be asked: pods,services?namespaces=web&verbs=get, or /metrics; repeatable", take_allow,
	 OF_LISTENER},
	{"allow-uid", 0, "USER", "a user, by name or number, that may (unix); repeatable", take_uid,
	 OF_LISTENER},
	{"allow-gid", 0, "GROUP", "a group, by name or number, that may (unix); repeatable", take_gid,
	 OF_LISTENER},
	{"tls-cert", 0, "FILE", "certificates (PEM), the listener's own first", take_certificate,
	 OF_LISTENER},
	{"tls-key", 0, "FILE", "and the key (PEM)", take_key, OF_LISTENER},
	{"client-ca", 0, "FILE", "the CAs of clients' certificates (PEM)", take_client_ca, OF_LISTENER},
	{"client-name", 0, "NAME", "a name in a client's certificate that may; repeatable", take_client_name,
	 OF_LISTENER},
	FLAG_HEADING("Any number of listeners, and all else that can be set"),
	{"config", 0, "FILE", "informer-gateway.yaml(5)", FLAG_TEXT(struct flags, file)},
	FLAG_HEADING("The arena, and the API server, as whom reviews are asked"),
	{"socket", 0, "PATH", "informerd's", COPY(socket)},
	{"kubeconfig", 0, "FILE", "this file alone", COPY(server.kubeconfig)},
	{"context", 0, "NAME", "of the kubeconfig", COPY(server.context)},
	{"server", 's', "URL", "the API server", COPY(server.server)},
	{"goaway-chance", 0, "P", "that an answer closes its connection, 0 to 0.02; default 0", take_chance,
	 AT(goaway_chance)},
	FLAG_HEADING("What is told"),
	{"log-level", 0, "LEVEL", "error, warning, info or debug", take_log_level, AT(log_level)},
	{"help", 'h', NULL, "this text", FLAG_ON(struct flags, help)},
	{"version", 0, NULL, "the version", FLAG_ON(struct flags, version)},
};

static const struct flag_table table = {table_rows, sizeof(table_rows) / sizeof(*table_rows),
					"informer-gateway --help", true, NULL};

static int
no_words(void *into, const char *text, char **ret_error)
{
	(void)into;
	return flag_fail(ret_error, "'%s' is no flag", text);
}

/* ---- file and flags ---- */

/*
 * The file is read into the configuration first, then the flags are once more read over it: a flag counts
 * whatever the file says.
 */
static int
read_file(struct flags *flags, int argc, char *const *argv, char **ret_error)
{
	struct flags over = {.file = flags->file};
	int r;

	if (flags->listener)
		return message_set(ret_error, -EINVAL,
				   "listeners stand in the file of --config, or one in flags; not both");
	gw_config_init(&over.config);
	r = gw_config_load(flags->file, &over.config, ret_error);
	if (r == 0)
		r = flags_parse(&table, argc, argv, &over, no_words, ret_error);
	gw_config_done(&flags->config);
	flags->config = over.config;
	return r < 0 ? r : 0;
}

static int
finish_listener(struct gw_listener_config *listener, char **ret_error)
{
	if (!listener->listen)
		return message_set(ret_error, -EINVAL, "flags of a listener, and no --listen");
	if (listener->profile == GW_PROFILE_NONE && strncmp(listener->listen, "unix:", 5) == 0)
		listener->profile = GW_PROFILE_UNIX; /* there is no other for one */
	listener->name = strdup(listener->listen);
	return listener->name ? 0 : -ENOMEM;
}

int
gw_flags_parse(int argc, char *const *argv, FILE *out, struct gw_config *ret_config, char **ret_error)
{
	struct flags flags = {0};
	int r;

	gw_config_init(&flags.config);
	r = flags_parse(&table, argc, argv, &flags, no_words, ret_error);
	if (r >= 0 && (flags.help || flags.version)) {
		fprintf(out, flags.help ? "usage: informer-gateway [flags]\n" : "informer-gateway %s\n",
			INFORMER_VERSION);
		if (flags.help)
			flags_help(out, &table, 24);
		gw_config_done(&flags.config);
		return 1;
	}
	if (r >= 0)
		r = flags.file       ? read_file(&flags, argc, argv, ret_error)
		    : flags.listener ? finish_listener(flags.listener, ret_error)
				     : 0;
	if (r >= 0)
		r = gw_config_check(&flags.config, ret_error);
	if (r < 0) {
		gw_config_done(&flags.config);
		return r;
	}
	*ret_config = flags.config;
	return 0;
}
