/* SPDX-License-Identifier: Apache-2.0 */
/* The command line; see gateway_flags.h. */
#include "tools/informer-gateway/config/gateway_flags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flags/flags.h"
#include "tools/informer-gateway/config/gateway_file.h"
#include "tools/serving/buf.h"
#include "writer/base/message.h"

struct flags {
	const char *file;
	bool help, version, insecure;
	struct gw_listener_config listener; /* the listener that the flags describe */
	struct gw_config config;
};

static int
take_client_name(void *at, const char *value, char **ret_error)
{
	(void)ret_error;
	gw_texts_add(at, value);
	return 0;
}

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

/* ---- the table ---- */

#define AT(member) offsetof(struct flags, member), false
/* may be empty, as in --context="$CONTEXT" */
#define COPY(member) flag_take_copy, offsetof(struct flags, config.member), true
#define FILE_OF(member) FLAG_COPY(struct flags, listener.member)

static const struct flag table_rows[] = {
	FLAG_HEADING("One listener"),
	{"listen", 0, "ADDRESS", "IP:PORT, [IP6]:PORT, :PORT or unix:PATH", FILE_OF(listen)},
	{"profile", 0, "PROFILE", "how clients authenticate: unix, tokens or certificates", gw_take_profile,
	 AT(listener.profile)},
	{"insecure-loopback", 0, NULL, "plain HTTP for everybody on this machine: 127.0.0.1 or [::1] alone",
	 FLAG_ON(struct flags, insecure)},
	{"allow", 0, "RULE",
	 "requests to allow: pods,services?namespaces=web&verbs=get, or /metrics; repeatable", gw_take_rule,
	 AT(listener.scope)},
	{"allow-uid", 0, "USER", "admit this user, by name or number (unix); repeatable", account_take_user,
	 AT(listener.uids)},
	{"allow-gid", 0, "GROUP", "admit this group, by name or number (unix); repeatable",
	 account_take_group, AT(listener.gids)},
	{"tls-cert", 0, "FILE", "certificates (PEM), the listener's own first", FILE_OF(certificate)},
	{"tls-key", 0, "FILE", "and the key (PEM)", FILE_OF(key)},
	{"client-ca", 0, "FILE", "the CAs of clients' certificates (PEM)", FILE_OF(client_ca)},
	{"client-name", 0, "NAME", "a name in a client's certificate that may; repeatable", take_client_name,
	 AT(listener.client_names)},
	FLAG_HEADING("Any number of listeners, and all else that can be set"),
	{"config", 0, "FILE", "informer-gateway.yaml(5)", FLAG_TEXT(struct flags, file)},
	FLAG_HEADING("The arena, and the API server, as whom reviews are asked"),
	{"socket", 0, "PATH", "informerd's", COPY(socket)},
	{"node-name", 0, "NAME", "the node of GET /pods; default: $NODE_NAME, or this host's name",
	 FLAG_COPY(struct flags, config.node_name)},
	{"kubeconfig", 0, "FILE", "this file alone", COPY(server.kubeconfig)},
	{"context", 0, "NAME", "of the kubeconfig", COPY(server.context)},
	{"server", 's', "URL", "the API server", COPY(server.server)},
	{"goaway-chance", 0, "P", "that an answer closes its connection, 0 to 0.02; default 0", take_chance,
	 AT(config.goaway_chance)},
	FLAG_HEADING("What is told"),
	{"log-level", 0, "LEVEL", "error, warning, info or debug", log_level_take, AT(config.log_level)},
	{"log-format", 0, "FORMAT", "text or json", log_format_take, AT(config.log_format)},
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

static bool
speaks_of_a_listener(const struct flags *flags)
{
	const struct gw_listener_config *l = &flags->listener;

	return flags->insecure || l->listen || l->profile || l->certificate || l->key || l->client_ca ||
	       l->client_names.count + l->uids.count + l->gids.count + l->scope.count > 0;
}

/* Move the listener to the configuration. */
static int
take_listener(struct flags *flags, char **ret_error)
{
	struct gw_listener_config *l = gw_config_add_listener(&flags->config);

	*l = flags->listener;
	flags->listener = (struct gw_listener_config){0};
	l->origin = api_strndup("--listen", 8);
	if (l->listen)
		l->name = api_strndup(l->listen, strlen(l->listen));
	if (flags->file)
		return message_set(ret_error, -EINVAL,
				   "listeners stand in the file of --config, or one in flags; not both");
	if (flags->insecure && l->profile)
		return message_set(ret_error, -EINVAL,
				   "--insecure-loopback and --profile %s: a listener has one profile",
				   gw_profile_name(l->profile));
	if (flags->insecure)
		l->profile = GW_PROFILE_INSECURE;
	else if (!l->profile && l->listen && strncmp(l->listen, "unix:", 5) == 0)
		l->profile = GW_PROFILE_UNIX; /* the only profile for Unix sockets */
	return 0;
}

static int
read_all(struct flags *flags, int argc, char *const *argv, char **ret_error)
{
	int r = 0;

	if (speaks_of_a_listener(flags))
		r = take_listener(flags, ret_error);
	if (r == 0 && flags->file) {
		r = gw_config_load(flags->file, &flags->config, ret_error);
		if (r == 0) /* flags override the file */
			r = flags_parse(&table, argc, argv, flags, no_words, ret_error);
	}
	return r < 0 ? r : gw_config_check(&flags->config, ret_error);
}

int
gw_flags_parse(int argc, char *const *argv, FILE *out, struct gw_config *ret_config, char **ret_error)
{
	struct flags flags = {.listener = GW_LISTENER_DEFAULTS};
	int r;

	gw_config_init(&flags.config);
	r = flags_parse(&table, argc, argv, &flags, no_words, ret_error);
	if (r >= 0 && (flags.help || flags.version)) {
		fprintf(out, flags.help ? "usage: informer-gateway [flags]\n" : "informer-gateway %s\n",
			INFORMER_VERSION);
		if (flags.help)
			flags_help(out, &table, 24);
		r = 1;
	} else if (r >= 0) {
		r = read_all(&flags, argc, argv, ret_error);
	}
	if (r == 0) {
		*ret_config = flags.config;
	} else {
		gw_listener_config_done(&flags.listener);
		gw_config_done(&flags.config);
	}
	return r;
}
