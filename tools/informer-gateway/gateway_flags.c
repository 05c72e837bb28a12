/* SPDX-License-Identifier: Apache-2.0 */
/* The command line; see gateway_flags.h. */
#include "tools/informer-gateway/gateway_flags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flags/flags.h"
#include "tools/informer-gateway/gateway_file.h"
#include "writer/base/message.h"
#include "writer/base/quantity.h"

struct flags {
	const char *file;
	bool help, version;
	struct gw_listener_config *listener; /* the one that flags speak of; NULL: they speak of none yet */
	struct gw_config config; /* what the flags say; what they do not say is as in `defaults` */
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
add_uid(struct gw_listener_config *l, const char *value, char **ret_error)
{
	uint32_t id;
	int r = gw_config_parse_uid(value, &id, ret_error);

	return r < 0 ? r : gw_ids_add(&l->uids, id);
}

static int
add_gid(struct gw_listener_config *l, const char *value, char **ret_error)
{
	uint32_t id;
	int r = gw_config_parse_gid(value, &id, ret_error);

	return r < 0 ? r : gw_ids_add(&l->gids, id);
}

static int
set_insecure(struct gw_listener_config *l, const char *value, char **ret_error)
{
	if (*value == 't' && l->profile != GW_PROFILE_NONE && l->profile != GW_PROFILE_INSECURE)
		return flag_fail(ret_error, "the profile is %s already", gw_profile_name(l->profile));
	if (*value == 't')
		l->profile = GW_PROFILE_INSECURE;
	return 0;
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

static int
set_misses(struct gw_listener_config *l, const char *value, char **ret_error)
{
	l->misses_ask = strcmp(value, "ask") == 0;
	return l->misses_ask || strcmp(value, "refuse") == 0 ? 0
							     : flag_fail(ret_error, "must be ask or refuse");
}

static int
set_inherited(struct gw_listener_config *l, const char *value, char **ret_error)
{
	uint64_t number;
	int r = flag_number(value, 3, 1 << 20, &number, ret_error);

	if (r == 0)
		l->inherit_fd = (int)number;
	return r;
}

TAKE_OF_LISTENER(take_listen, flag_take_copy(&l->listen, value, ret_error))
TAKE_OF_LISTENER(take_inherited, set_inherited(l, value, ret_error))
TAKE_OF_LISTENER(take_profile, set_profile(l, value, ret_error))
TAKE_OF_LISTENER(take_insecure, set_insecure(l, value, ret_error))
TAKE_OF_LISTENER(take_uid, add_uid(l, value, ret_error))
TAKE_OF_LISTENER(take_gid, add_gid(l, value, ret_error))
TAKE_OF_LISTENER(take_mode, gw_config_parse_mode(value, &l->mode, ret_error))
TAKE_OF_LISTENER(take_certificate, flag_take_copy(&l->certificate, value, ret_error))
TAKE_OF_LISTENER(take_key, flag_take_copy(&l->key, value, ret_error))
TAKE_OF_LISTENER(take_client_ca, flag_take_copy(&l->client_ca, value, ret_error))
TAKE_OF_LISTENER(take_client_name, ((void)ret_error, gw_texts_add(&l->client_names, value, strlen(value))))
TAKE_OF_LISTENER(take_audience, ((void)ret_error, gw_texts_add(&l->audiences, value, strlen(value))))
TAKE_OF_LISTENER(take_allow, gw_scope_parse_rule(value, &l->scope, ret_error))
TAKE_OF_LISTENER(take_open_health, flag_take_on(&l->open_health, value, ret_error))
TAKE_OF_LISTENER(take_freshness, gw_config_parse_freshness(value, &l->freshness, ret_error))
TAKE_OF_LISTENER(take_misses, set_misses(l, value, ret_error))
TAKE_OF_LISTENER(take_deleted_for, quantity_time(value, 0, 3600000, &l->deleted_for_ms, ret_error))
TAKE_OF_LISTENER(take_pass_through, flag_take_on(&l->pass_through, value, ret_error))

/* ---- of the whole ---- */

#define TAKE_TIME(function, least, most)                                                                     \
	static int function(void *at, const char *value, char **ret_error)                                   \
	{                                                                                                    \
		return quantity_time(value, least, most, at, ret_error);                                     \
	}
#define TAKE_NUMBER(function, low, high)                                                                     \
	static int function(void *at, const char *value, char **ret_error)                                   \
	{                                                                                                    \
		uint64_t number;                                                                             \
		int r = flag_number(value, low, high, &number, ret_error);                                   \
                                                                                                             \
		if (r == 0)                                                                                  \
			*(unsigned *)at = (unsigned)number;                                                  \
		return r;                                                                                    \
	}
TAKE_TIME(take_keep, GW_KEEP_LEAST_MS, GW_KEEP_MOST_MS)
TAKE_TIME(take_keep_refused, 1000, GW_KEEP_MOST_MS)
TAKE_TIME(take_drain, 0, 600000)
TAKE_NUMBER(take_count, 1, 1 << 20)

static int
take_size(void *at, const char *value, char **ret_error)
{
	return quantity_size(value, at, ret_error);
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

static int
take_as_group(void *at, const char *value, char **ret_error)
{
	(void)ret_error;
	return server_choice_add_group(at, value);
}

static int
take_server_timeout(void *at, const char *value, char **ret_error)
{
	return server_choice_parse_timeout(value, at, ret_error);
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
	{"inherit-fd", 0, "N", "the descriptor N listens there already", take_inherited, OF_LISTENER},
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
	{"mode", 0, "MODE", "of the Unix socket's file; default 0660", take_mode, OF_LISTENER},
	{"tls-cert", 0, "FILE", "certificates (PEM), the listener's own first", take_certificate,
	 OF_LISTENER},
	{"tls-key", 0, "FILE", "and the key (PEM)", take_key, OF_LISTENER},
	{"client-ca", 0, "FILE", "the CAs of clients' certificates (PEM)", take_client_ca, OF_LISTENER},
	{"client-name", 0, "NAME", "a name in a client's certificate that may; repeatable", take_client_name,
	 OF_LISTENER},
	{"audience", 0, "NAME", "of tokens that are meant for this listener; repeatable", take_audience,
	 OF_LISTENER},
	{"open-health", 0, NULL, "answer /livez, /readyz and /healthz to anybody", take_open_health,
	 OF_LISTENER},
	{"freshness", 0, "cache|strict",
	 "of reads without an RV: as they are here, or proved at the API server", take_freshness,
	 OF_LISTENER},
	{"misses", 0, "ask|refuse", "of one object that is not here: ask the API server, or 404", take_misses,
	 OF_LISTENER},
	{"deleted-for", 0, "TIME", "GETs by name find what was deleted so long ago", take_deleted_for,
	 OF_LISTENER},
	{"pass-through", 0, NULL, "pass on what is not served here, with the caller's own token",
	 take_pass_through, OF_LISTENER},
	FLAG_HEADING("Any number of listeners"),
	{"config", 0, "FILE", "informer-gateway.yaml(5)", FLAG_TEXT(struct flags, file)},
	FLAG_HEADING("The arena, and the API server, as whom reviews are asked"),
	{"socket", 0, "PATH", "informerd's", COPY(socket)},
	{"kubeconfig", 0, "FILE", "this file alone", COPY(server.kubeconfig)},
	{"context", 0, "NAME", "of the kubeconfig", COPY(server.context)},
	{"cluster", 0, "NAME", "of the kubeconfig", COPY(server.cluster)},
	{"user", 0, "NAME", "of the kubeconfig", COPY(server.user)},
	{"server", 's', "URL", "the API server", COPY(server.server)},
	{"certificate-authority", 0, "FILE", "its CA", COPY(server.certificate_authority)},
	{"insecure-skip-tls-verify", 0, NULL, "believe any certificate of it",
	 FLAG_ON(struct flags, config.server.insecure_skip_tls_verify)},
	{"tls-server-name", 0, "NAME", "that its certificate has", COPY(server.tls_server_name)},
	{"client-certificate", 0, "FILE", "ours, there", COPY(server.client_certificate)},
	{"client-key", 0, "FILE", "and its key", COPY(server.client_key)},
	{"as", 0, "USER", "impersonate", COPY(server.as)},
	{"as-uid", 0, "UID", "of it", COPY(server.as_uid)},
	{"as-group", 0, "GROUP", "of it; repeatable", take_as_group, AT(server)},
	{"request-timeout", 0, "TIME", "of a request there", take_server_timeout,
	 AT(server.request_timeout_ms)},
	FLAG_HEADING("Limits"),
	{"keep-allowed", 0, "TIME", "how long a decision holds, 10s to 5m; default 2m", take_keep,
	 AT(access.keep_allowed_ms)},
	{"keep-refused", 0, "TIME", "and a refusal; default 10s", take_keep_refused,
	 AT(access.keep_refused_ms)},
	{"connections", 0, "N", "in all; default 12000", take_count, AT(limits.connections)},
	{"connections-by-client", 0, "N", "of one uid or address; default 10000", take_count,
	 AT(limits.connections_by_client)},
	{"requests-by-identity", 0, "N", "under way; default 256", take_count,
	 AT(limits.requests_by_identity)},
	{"watches-by-identity", 0, "N", "default 4096", take_count, AT(limits.watches_by_identity)},
	{"history", 0, "SIZE", "of changes kept for watches of each resource; default 64Mi", take_size,
	 AT(history_bytes)},
	{"lists", 0, "SIZE", "of lists that are being sent; default 256Mi", take_size, AT(list_bytes)},
	{"drain", 0, "TIME", "over which watches end after SIGTERM; default 30s", take_drain, AT(drain_ms)},
	{"goaway-chance", 0, "P", "that an answer closes its connection, 0 to 0.02; default 0", take_chance,
	 AT(goaway_chance)},
	FLAG_HEADING("What is told"),
	{"audit-log", 0, "FILE", "a line of JSON a request; - is standard output",
	 FLAG_COPY(struct flags, config.audit_file)},
	{"log-level", 0, "LEVEL", "error, warning, info or debug", take_log_level, AT(log_level)},
	{"help", 'h', NULL, "this text", FLAG_ON(struct flags, help)},
	{"version", 0, NULL, "the version", FLAG_ON(struct flags, version)},
};
_Static_assert(sizeof(table_rows) / sizeof(*table_rows) <= FLAGS_MAX, "FLAGS_MAX of flags.h");

static const struct flag_table table = {table_rows, sizeof(table_rows) / sizeof(*table_rows),
					"informer-gateway --help", true, NULL};

static int
no_words(void *into, const char *text, char **ret_error)
{
	(void)into;
	return flag_fail(ret_error, "'%s' is no flag", text);
}

/* ---- file and flags ---- */

static void
forget_groups(struct server_choice *server)
{
	for (size_t i = 0; i < server->n_as_groups; i++)
		free(server->as_groups[i]);
	server->n_as_groups = 0;
}

/*
 * The file is read into the configuration first, then the flags are once more read over it: a flag counts
 * whatever the file says, and groups replace those of the file.
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
	if (flags->config.server.n_as_groups > 0)
		forget_groups(&over.config.server);
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
			flags_help(out, &table, 34);
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
