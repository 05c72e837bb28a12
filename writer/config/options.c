/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: one table for parser, help and page; see options.h. */
#include "writer/config/options.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "writer/config/config_parse.h"
#include "writer/base/listen_address.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/base/number.h"
#include "writer/config/config_entry.h"

struct option_row {
	const char *name;
	char letter;		/* or 0 */
	const char *value;	/* what --help calls it; NULL for a switch */
	int (*take)(struct options *options, const char *value, char **ret_error);
	const char *help;	/* lines separated by \n */
	const char *section;	/* a heading before this one, or NULL */
};

static int
set_string(char **field, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

#define TAKE_STRING(function, field)                                                                         \
	static int function(struct options *options, const char *value, char **ret_error)                    \
	{                                                                                                    \
		(void)ret_error;                                                                             \
		return set_string(&options->field, value);                                                   \
	}
TAKE_STRING(take_kubeconfig, flags.connection.kubeconfig)
TAKE_STRING(take_context, flags.connection.context)
TAKE_STRING(take_cluster, flags.connection.cluster)
TAKE_STRING(take_user, flags.connection.user)
TAKE_STRING(take_server, flags.connection.server)
TAKE_STRING(take_certificate_authority, flags.connection.certificate_authority)
TAKE_STRING(take_tls_server_name, flags.connection.tls_server_name)
TAKE_STRING(take_client_certificate, flags.connection.client_certificate)
TAKE_STRING(take_client_key, flags.connection.client_key)
TAKE_STRING(take_token, flags.connection.token)
TAKE_STRING(take_username, flags.connection.username)
TAKE_STRING(take_password, flags.connection.password)
TAKE_STRING(take_as, flags.connection.as)
TAKE_STRING(take_as_uid, flags.connection.as_uid)
TAKE_STRING(take_socket, flags.socket)
TAKE_STRING(take_config, config_path)
TAKE_STRING(take_arena_dir, flags.arena_dir)
TAKE_STRING(take_arena_name, flags.arena_name)

static int
take_as_group(struct options *options, const char *value, char **ret_error)
{
	(void)ret_error;
	return server_choice_add_group(&options->flags.connection, value);
}

static int
take_insecure(struct options *options, const char *value, char **ret_error)
{
	(void)value;
	(void)ret_error;
	options->flags.connection.insecure_skip_tls_verify = true;
	return 0;
}

static int
take_disable_compression(struct options *options, const char *value, char **ret_error)
{
	(void)value;
	(void)ret_error;
	options->flags.connection.disable_compression = true;
	return 0;
}

static int
take_request_timeout(struct options *options, const char *value, char **ret_error)
{
	return server_choice_parse_timeout(value, &options->flags.connection.request_timeout_ms, ret_error);
}

static int
take_namespace(struct options *options, const char *value, char **ret_error)
{
	int r = config_check_namespace(value, ret_error);

	return r < 0 ? r : set_string(&options->flags.namespace_, value);
}

static int
take_resource(struct options *options, const char *value, char **ret_error)
{
	return config_add_resource(&options->flags, value, ret_error);
}

static int
take_index(struct options *options, const char *value, char **ret_error)
{
	return config_add_index(&options->flags, value, ret_error);
}

static int
take_keep_managed_fields(struct options *options, const char *value, char **ret_error)
{
	(void)value;
	(void)ret_error;
	options->flags.keep_managed_fields = true;
	return 0;
}

static int
take_no_watch_list(struct options *options, const char *value, char **ret_error)
{
	(void)value;
	(void)ret_error;
	options->flags.watch_list = CONFIG_NO;
	return 0;
}

static int
take_arena_max(struct options *options, const char *value, char **ret_error)
{
	int r = config_parse_size(value, &options->flags.arena_max_bytes, ret_error);

	if (r == 0 && options->flags.arena_max_bytes == 0)
		r = message_set(ret_error, -EINVAL, "an arena of no bytes holds nothing");
	return r;
}

static int
take_allow_uid(struct options *options, const char *value, char **ret_error)
{
	uint64_t id;
	int r = number_parse(value, UINT32_MAX - 1, &id, ret_error);

	return r < 0 ? r : config_add_uid(&options->flags, (uid_t)id);
}

static int
take_allow_gid(struct options *options, const char *value, char **ret_error)
{
	uint64_t id;
	int r = number_parse(value, UINT32_MAX - 1, &id, ret_error);

	return r < 0 ? r : config_add_gid(&options->flags, (gid_t)id);
}

static int
take_max_readers(struct options *options, const char *value, char **ret_error)
{
	uint64_t number;
	int r = number_parse(value, CONFIG_LIMIT_MAX_READERS, &number, ret_error);

	if (r == 0 && number == 0)
		r = message_set(ret_error, -EINVAL, "with 0 readers nobody could attach");
	if (r == 0)
		options->flags.max_readers = (unsigned)number;
	return r;
}

static int
take_log_level(struct options *options, const char *value, char **ret_error)
{
	enum log_level level;

	if (log_level_parse(value, &level) < 0)
		return message_set(ret_error, -EINVAL, "'%s' is none of error, warning, info, debug", value);
	options->flags.log_level = (int)level;
	return 0;
}

static int
take_metrics_address(struct options *options, const char *value, char **ret_error)
{
	struct listen_address address;
	int r = listen_address_parse(value, &address, ret_error);

	return r < 0 ? r : set_string(&options->flags.metrics_address, value);
}

static int
take_version(struct options *options, const char *value, char **ret_error)
{
	(void)value;
	(void)ret_error;
	options->version = true;
	return 0;
}

static int
take_help(struct options *options, const char *value, char **ret_error)
{
	(void)value;
	(void)ret_error;
	options->help = true;
	return 0;
}

#define KUBECTLS "Which API server, and as whom (as for kubectl)"

static const struct option_row rows[] = {
	{"resource", 'r', "NAME[?SELECT]", take_resource,
	 "cache this resource; may be repeated. NAME is as for kubectl: pods, po, deployments.apps,\n"
	 "widgets.v1.example.com. SELECT is namespace=NS[,NS], labelSelector=SEL, fieldSelector=SEL,\n"
	 "joined by &, as in the API (quote it for the shell), ${NODE_NAME} in them is the\n"
	 "environment's; and metadataOnly=true, onDemand=true, optional=true, pageSize=N,\n"
	 "watchList=false, resourceVersion=any|latest (see informerd(8))",
	 "What to cache"},
	{"namespace", 'n', "NS", take_namespace,
	 "for each resource that names none itself (default: all namespaces)", NULL},
	{"index", 0, "NAME=RESOURCE:PATH", take_index,
	 "a further index; may be repeated. With :split=, behind it a value is a list in one string:\n"
	 "byUser=pods:metadata.annotations.users:split=,",
	 NULL},
	{"keep-managed-fields", 0, NULL, take_keep_managed_fields,
	 "keep metadata.managedFields, which are dropped otherwise", NULL},
	{"no-watch-list", 0, NULL, take_no_watch_list,
	 "ask for lists, not for watches that begin with the state; for servers that answer these badly",
	 NULL},
	{"kubeconfig", 0, "FILE", take_kubeconfig,
	 "default: the files of $KUBECONFIG, merged, else ~/.kube/config, else the service account\n"
	 "of the pod",
	 KUBECTLS},
	{"context", 0, "NAME", take_context, "the kubeconfig's context (default: its current-context)", NULL},
	{"cluster", 0, "NAME", take_cluster, "the kubeconfig's cluster instead of the context's", NULL},
	{"user", 0, "NAME", take_user, "the kubeconfig's user instead of the context's", NULL},
	{"server", 's', "URL", take_server,
	 "the API server's address instead of the kubeconfig's; enough alone, without\n"
	 "credentials",
	 NULL},
	{"certificate-authority", 0, "FILE", take_certificate_authority,
	 "the CA that the server's certificate is from", NULL},
	{"insecure-skip-tls-verify", 0, NULL, take_insecure,
	 "believe any certificate: whoever is between can read all", NULL},
	{"tls-server-name", 0, "NAME", take_tls_server_name,
	 "the name in the server's certificate, if not the server's", NULL},
	{"client-certificate", 0, "FILE", take_client_certificate, "who we are, with --client-key", NULL},
	{"client-key", 0, "FILE", take_client_key, "the key of --client-certificate", NULL},
	{"token", 0, "TOKEN", take_token,
	 "who we are, instead of the kubeconfig's token, password or plugin; others on this machine\n"
	 "can see a command line: a kubeconfig with tokenFile is better",
	 NULL},
	{"username", 0, "NAME", take_username, "who we are, with --password, instead of the kubeconfig's",
	 NULL},
	{"password", 0, "WORD", take_password,
	 "the password of --username; as with --token, a kubeconfig is better", NULL},
	{"as", 0, "USER", take_as,
	 "impersonate this user, system:serviceaccount:NS:NAME for a service account", NULL},
	{"as-group", 0, "GROUP", take_as_group, "impersonate this group, too; may be repeated", NULL},
	{"as-uid", 0, "UID", take_as_uid, "impersonate this UID, too", NULL},
	{"request-timeout", 0, "TIME", take_request_timeout,
	 "give up a list that takes longer, as 30s or 2m (default: 0, no limit but 90 s of silence);\n"
	 "watches have no end and no limit",
	 NULL},
	{"disable-compression", 0, NULL, take_disable_compression, "do not ask for compressed lists", NULL},
	{"socket", 0, "PATH", take_socket,
	 "where readers attach (default: $INFORMER_SOCKET, else /run/informer/informer.sock, or\n"
	 "$XDG_RUNTIME_DIR/informer/informer.sock when not root)",
	 "Where it is kept, and for whom"},
	{"arena-dir", 0, "DIR", take_arena_dir,
	 "a tmpfs folder for the arena (default: POSIX shared memory, /dev/shm)", NULL},
	{"arena-name", 0, "NAME", take_arena_name,
	 "the arena's name there (default: follows from the socket)", NULL},
	{"arena-max", 0, "SIZE", take_arena_max,
	 "the arena's largest size, as 512Mi or 4Gi (default: what fits)", NULL},
	{"allow-uid", 0, "UID", take_allow_uid,
	 "let this user attach; may be repeated (informerd's own user and root always may)", NULL},
	{"allow-gid", 0, "GID", take_allow_gid, "let this group attach; may be repeated", NULL},
	{"max-readers", 0, "N", take_max_readers, "readers at one time (default: 256)", NULL},
	{"config", 'c', "FILE", take_config,
	 "a configuration file (YAML); flags win over it, lists are joined", "The daemon"},
	{"metrics-address", 0, "ADDRESS", take_metrics_address,
	 "serve /metrics (Prometheus), /livez and /readyz by HTTP, for whoever can connect, as\n"
	 "127.0.0.1:9090, :9090 (all addresses) or unix:/PATH (default: nowhere)",
	 NULL},
	{"log-level", 0, "LEVEL", take_log_level, "error, warning, info (default) or debug", NULL},
	{"version", 0, NULL, take_version, "print the version", NULL},
	{"help", 'h', NULL, take_help, "print this", NULL},
};
#define N_ROWS (sizeof(rows) / sizeof(*rows))

const char *
options_name(size_t i)
{
	return i < N_ROWS ? rows[i].name : NULL;
}

static const struct option_row *
find_name(const char *name, size_t len)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (strlen(rows[i].name) == len && strncmp(rows[i].name, name, len) == 0)
			return &rows[i];
	return NULL;
}

static const struct option_row *
find_letter(char letter)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].letter == letter)
			return &rows[i];
	return NULL;
}

static int
unknown(const char *argument, char **ret_error)
{
	const char *names[N_ROWS], *near;
	char name[64];
	size_t len;

	if (*argument != '-')
		return message_set(ret_error, -EINVAL,
				   "'%s' belongs to no flag; a resource is named with --resource %s; see "
				   "--help",
				   argument, argument);
	for (size_t i = 0; i < N_ROWS; i++)
		names[i] = rows[i].name;
	argument += strspn(argument, "-");
	len = strcspn(argument, "=");
	snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name) - 1), argument);
	near = message_nearest(name, names, N_ROWS);
	return message_set(ret_error, -EINVAL, "unknown flag --%s%s%s%s; see --help", name,
			   near ? "; did you mean --" : "", near ? near : "", near ? "?" : "");
}

/* The flag that an argument is, and where in it its value begins; 0: not in it. */
static const struct option_row *
find_row(const char *argument, size_t *ret_value_at)
{
	const struct option_row *row = NULL;
	size_t len;

	*ret_value_at = 0;
	if (strncmp(argument, "--", 2) == 0) {
		len = strcspn(argument + 2, "=");
		row = find_name(argument + 2, len);
		if (argument[2 + len] == '=')
			*ret_value_at = 2 + len + 1;
	} else if (argument[0] == '-' && argument[1]) {
		row = find_letter(argument[1]);
		if (row && argument[2])
			*ret_value_at = argument[2] == '=' ? 3 : 2;
	}
	return row;
}

/* Which kubectl has, too. */
static bool
is_kubectls(const struct option_row *row)
{
	while (!row->section)
		row--;
	return strcmp(row->section, KUBECTLS) == 0;
}

/* What a switch's value says, in Go's words: 1, 0, -EINVAL. */
static int
parse_switch(const char *value)
{
	static const char *const yes[] = {"1", "t", "T", "true", "True", "TRUE"}, *const no[] = {
											  "0",     "f",
											  "F",     "false",
											  "False", "FALSE"};

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (strcmp(value, yes[i]) == 0 || strcmp(value, no[i]) == 0)
			return strcmp(value, yes[i]) == 0;
	return -EINVAL;
}

/* One flag at argv[*at], with its value there or behind it; *at is moved to the last one used. */
static int
take_flag(struct options *options, int argc, char *const *argv, int *at, char **ret_error)
{
	_cleanup_(message_freep) char *error = NULL;
	const char *value;
	const struct option_row *row;
	size_t value_at;
	int r;

	row = find_row(argv[*at], &value_at);
	if (!row)
		return unknown(argv[*at], ret_error);
	value = value_at ? argv[*at] + value_at : NULL;
	r = row->value || !value ? 1 : parse_switch(value);
	if (r == 0)
		return 0; /* --flag=false is as if it were not there */
	if (r < 0)
		return message_set(ret_error, -EINVAL, "--%s takes no value (but =true or =false)",
				   row->name);
	if (row->value && !value) {
		if (*at + 1 >= argc)
			return message_set(ret_error, -EINVAL, "--%s needs a value: --%s %s", row->name,
					   row->name, row->value);
		value = argv[++*at];
	}
	if (row->value && !*value && is_kubectls(row))
		return 0; /* as for kubectl: --context="$CONTEXT" of a variable that is not set */
	if (row->value && !*value)
		return message_set(ret_error, -EINVAL, "--%s needs a value that is not empty", row->name);
	r = row->take(options, value, &error);
	if (r < 0 && r != -ENOMEM)
		return message_set(ret_error, -EINVAL, "--%s: %s", row->name, error ? error : "no memory");
	return r;
}

int
options_parse(int argc, char *const *argv, struct options *ret_options, char **ret_error)
{
	struct options options = {.flags.log_level = -1};
	int r = 0;

	for (int i = 1; i < argc && r == 0; i++)
		r = take_flag(&options, argc, argv, &i, ret_error);
	if (r < 0) {
		options_done(&options);
		return r;
	}
	*ret_options = options;
	return 0;
}

static bool
is_secret(const struct option_row *row)
{
	return row->take == take_token || row->take == take_password;
}

void
options_hide_secrets(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t value_at;
		const struct option_row *row = find_row(argv[i], &value_at);
		char *value = NULL;

		if (row && row->value)
			value = value_at ? argv[i] + value_at : i + 1 < argc ? argv[++i] : NULL;
		if (value && is_secret(row))
			memset(value, 'x', strlen(value));
	}
}

void
options_done(struct options *options)
{
	config_done(&options->flags);
	free(options->config_path);
	memset(options, 0, sizeof(*options));
}

void
options_help(FILE *out)
{
	fputs("informerd: keeps Kubernetes objects in shared memory for all agents of a node.\n\n"
	      "usage: informerd --resource NAME [flags]\n"
	      "       informerd --resource pods --resource 'services?namespace=kube-system'\n"
	      "       informerd --resource 'pods?fieldSelector=spec.nodeName=node-1' --index "
	      "byTeam=pods:metadata.labels.team\n",
	      out);
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct option_row *row = &rows[i];
		char letter[8] = "    ";

		if (row->section)
			fprintf(out, "\n%s\n", row->section);
		if (row->letter)
			snprintf(letter, sizeof(letter), "-%c, ", row->letter);
		fprintf(out, "  %s--%s%s%s\n", letter, row->name, row->value ? " " : "",
			row->value ? row->value : "");
		for (const char *line = row->help; *line;) {
			size_t len = strcspn(line, "\n");

			fprintf(out, "          %.*s\n", (int)len, line);
			line += len + (line[len] == '\n');
		}
	}
	fputs("\nReaders are programs with libinformer, and informerctl(1): informerctl get pods -A\n"
	      "SIGHUP reads the configuration file again. The file and all messages are in informerd(8).\n",
	      out);
}
