/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: one table for parser, help and page; see options.h. */
#include "writer/config/options.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flags/flags.h"
#include "writer/config/config_parse.h"
#include "writer/base/account.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/base/number.h"
#include "writer/base/quantity.h"
#include "writer/config/config_entry.h"
#include "writer/config/preset.h"

/* Each function stores a value in struct options, or in the member of its row; see tools/flags/flags.h. */

static int
take_namespace(void *at, const char *value, char **ret_error)
{
	int r = config_check_namespace(value, ret_error);

	return r < 0 ? r : flag_take_copy(at, value, ret_error);
}

static int
take_resource(void *at, const char *value, char **ret_error)
{
	return config_add_resource(at, value, ret_error);
}

static int
take_index(void *at, const char *value, char **ret_error)
{
	return config_add_index(at, value, ret_error);
}

static int
take_no_watch_list(void *at, const char *value, char **ret_error)
{
	(void)ret_error;
	*(enum config_choice *)at = *value == 't' ? CONFIG_NO : CONFIG_NOT_SAID;
	return 0;
}

static int
take_arena_max(void *at, const char *value, char **ret_error)
{
	uint64_t bytes;
	int r = quantity_size(value, &bytes, ret_error);

	if (r == 0 && bytes == 0)
		r = message_set(ret_error, -EINVAL, "an arena of no bytes holds nothing");
	if (r == 0)
		*(uint64_t *)at = bytes;
	return r;
}

static int
take_max_readers(void *at, const char *value, char **ret_error)
{
	uint64_t number;
	int r = number_parse(value, CONFIG_LIMIT_MAX_READERS, &number, ret_error);

	if (r == 0 && number == 0)
		r = message_set(ret_error, -EINVAL, "with 0 readers nobody could attach");
	if (r == 0)
		*(unsigned *)at = (unsigned)number;
	return r;
}

#define COPY(member) FLAG_COPY(struct options, member)
#define ON(member) FLAG_ON(struct options, member)
/* a flag of kubectl's; an empty value means none */
#define KUBECTL(member) flag_take_copy, offsetof(struct options, flags.choice.member), true

static const struct flag flags[] = {
	FLAG_HEADING("What to cache"),
	{"preset", 0, "node-agent",
	 "what agents of a node ask for: pods, namespaces, nodes, services, endpointslices, and\n"
	 "replicasets and jobs as metadata; --resource replaces one of these by a part of it",
	 preset_take, offsetof(struct options, flags.preset), false},
	{"resource", 'r', "NAME[?SELECT]",
	 "cache this resource; may be repeated. NAME is as for kubectl: pods, po, deployments.apps,\n"
	 "widgets.v1.example.com. SELECT is namespace=NS[,NS], labelSelector=SEL, fieldSelector=SEL,\n"
	 "joined by &, as in the API (quote it for the shell), ${NODE_NAME} in them is the\n"
	 "environment's; and metadataOnly=true, onDemand=true, optional=true, pageSize=N,\n"
	 "watchList=false, resourceVersion=any|latest, wire=json (see informerd(8))",
	 take_resource, offsetof(struct options, flags), false},
	{"namespace", 'n', "NS", "for each resource that names none itself (default: all namespaces)",
	 take_namespace, offsetof(struct options, flags.namespace_), false},
	{"index", 0, "NAME=RESOURCE:PATH",
	 "a further index; may be repeated. With :split=, behind it a value is a list in one string:\n"
	 "byUser=pods:metadata.annotations.users:split=,\n"
	 "With :prefix=N behind it prefixes of N bytes or more are found, too (N is 1 to 255)",
	 take_index, offsetof(struct options, flags), false},
	{"keep-managed-fields", 0, NULL, "keep metadata.managedFields, which are dropped otherwise",
	 ON(flags.keep_managed_fields)},
	{"no-watch-list", 0, NULL,
	 "use LIST, not a WATCH with sendInitialEvents; for servers that answer that badly",
	 take_no_watch_list, offsetof(struct options, flags.watch_list), false},
	{"wire", 0, "auto|json|protobuf",
	 "how objects come from the server (default: auto: protobuf where it has it, which costs it a\n"
	 "third or less of JSON, else JSON)",
	 config_take_wire, offsetof(struct options, flags.wire), false},
	{"schema", 0, "FILE",
	 "what Kubernetes' kinds are in protobuf, for servers newer than this informerd (default:\n"
	 "PREFIX/share/informer/kubernetes.schema where it is newer than what is built in)",
	 COPY(flags.schema)},
	FLAG_HEADING("Which API server, and as whom (as for kubectl)"),
	{"kubeconfig", 0, "FILE",
	 "default: the files of $KUBECONFIG, merged, else ~/.kube/config, else the service account\n"
	 "of the pod",
	 KUBECTL(kubeconfig)},
	{"context", 0, "NAME", "the kubeconfig's context (default: its current-context)", KUBECTL(context)},
	{"cluster", 0, "NAME", "the kubeconfig's cluster instead of the context's", KUBECTL(cluster)},
	{"user", 0, "NAME", "the kubeconfig's user instead of the context's", KUBECTL(user)},
	{"server", 's', "URL",
	 "the API server's address instead of the kubeconfig's; enough alone, without\n"
	 "credentials",
	 KUBECTL(server)},
	{"certificate-authority", 0, "FILE", "the CA that the server's certificate is from",
	 KUBECTL(certificate_authority)},
	{"insecure-skip-tls-verify", 0, NULL,
	 "do not verify the server's certificate: whoever is on the way can read and change all",
	 ON(flags.choice.insecure_skip_tls_verify)},
	{"tls-server-name", 0, "NAME", "the name in the server's certificate, if not the server's",
	 KUBECTL(tls_server_name)},
	{"client-certificate", 0, "FILE", "the certificate of informerd's user, with --client-key",
	 KUBECTL(client_certificate)},
	{"client-key", 0, "FILE", "the key of --client-certificate", KUBECTL(client_key)},
	{"token", 0, "TOKEN",
	 "the token of informerd's user, instead of the kubeconfig's; others on this machine\n"
	 "can see a command line: a kubeconfig with tokenFile is better",
	 KUBECTL(token)},
	{"username", 0, "NAME", "informerd's user, with --password, instead of the kubeconfig's",
	 KUBECTL(username)},
	{"password", 0, "WORD", "the password of --username; as with --token, a kubeconfig is better",
	 KUBECTL(password)},
	{"as", 0, "USER", "impersonate this user, system:serviceaccount:NS:NAME for a service account",
	 KUBECTL(as)},
	{"as-group", 0, "GROUP", "impersonate this group, too; may be repeated", server_choice_take_group,
	 offsetof(struct options, flags.choice), true},
	{"as-uid", 0, "UID", "impersonate this UID, too", KUBECTL(as_uid)},
	{"request-timeout", 0, "TIME",
	 "give up a list that takes longer, as 30s or 2m (default: 0, no limit but 90 s of silence);\n"
	 "watches have no end and no limit",
	 server_choice_take_timeout, offsetof(struct options, flags.choice.request_timeout_ms), true},
	{"watch-timeout", 0, "TIME",
	 "have the server end a watch after this and up to twice this (default: 5m); shorter than a\n"
	 "proxy's own limit, streams end in good order",
	 config_take_watch_timeout, offsetof(struct options, flags.watch_timeout_ms), false},
	{"backoff-initial", 0, "TIME",
	 "the first wait after a list or watch that failed (default: 800ms); it doubles with each\n"
	 "failure, and up to as much again is added by chance",
	 config_take_backoff, offsetof(struct options, flags.backoff.first_ms), false},
	{"backoff-max", 0, "TIME", "the longest of these waits (default: 30s)", config_take_backoff,
	 offsetof(struct options, flags.backoff.max_ms), false},
	{"backoff-reset", 0, "TIME",
	 "begin anew after so long without a failure (default: 2m, or twice the longest wait)",
	 config_take_backoff_reset, offsetof(struct options, flags.backoff.reset_ms), false},
	{"check-every", 0, "TIME",
	 "compare each resource with the server so often, as 1h (default: never): key, UID and\n"
	 "resourceVersion of each object; differences are logged, counted and mended by a list",
	 config_take_check_every, offsetof(struct options, flags.check_every_ms), false},
	{"compression", 0, "auto|gzip|none",
	 "which answers come in gzip (default: auto: lists in JSON, not from this machine; gzip: all, for\n"
	 "slow links)",
	 config_take_compression, offsetof(struct options, flags.choice.compression), false},
	{"disable-compression", 0, NULL, "the same as --compression=none, as kubectl has it",
	 ON(flags.choice.disable_compression)},
	FLAG_HEADING("Where it is kept, and for whom"),
	{"socket", 0, "PATH",
	 "where readers attach (default: $INFORMER_SOCKET, else /run/informer/informer.sock, or when not\n"
	 "root $XDG_RUNTIME_DIR/informer/informer.sock or /tmp/informer-UID/informer.sock)",
	 COPY(flags.socket)},
	{"arena-dir", 0, "DIR", "a tmpfs folder for the arena (default: POSIX shared memory, /dev/shm)",
	 COPY(flags.arena_dir)},
	{"arena-name", 0, "NAME", "the arena's name there (default: follows from the socket)",
	 COPY(flags.arena_name)},
	{"arena-max", 0, "SIZE", "the largest arena, with its unit, as 512Mi or 4Gi (default: what fits,\n"
	 "at most 3/4 of /dev/shm and half of the memory)",
	 take_arena_max, offsetof(struct options, flags.arena_max_bytes), false},
	{"allow-uid", 0, "USER",
	 "let this user attach, by name or number; may be repeated (informerd's own and root always may)",
	 account_take_user, offsetof(struct options, flags.allow_uids), false},
	{"allow-gid", 0, "GROUP", "let this group attach; may be repeated", account_take_group,
	 offsetof(struct options, flags.allow_gids), false},
	{"max-readers", 0, "N", "readers at one time (default: 256)", take_max_readers,
	 offsetof(struct options, flags.max_readers), false},
	FLAG_HEADING("The daemon"),
	{"config", 'c', "FILE", "a configuration file (YAML); flags win over it, lists are joined",
	 COPY(config_path)},
	{"standby", 0, NULL,
	 "when an informerd serves this socket already, wait until it ends, then go on in its place:\n"
	 "configuration and API server are looked at before; else start as ever",
	 ON(standby)},
	{"check", 0, NULL,
	 "look at configuration and API server as a start does, say what is wrong, and exit: 0 nothing,\n"
	 "2 something, 3 the API server does not answer",
	 ON(check)},
	{"check-config", 0, NULL,
	 "look at flags, files and the arena's directory alone, without the API server, say what is\n"
	 "wrong, and exit: 0 nothing, 2 something",
	 ON(check_config)},
	{"estimate", 0, NULL,
	 "ask the API server for numbers and a sample of the resources, print what caching them takes\n"
	 "(memory, bytes and requests at the start), and exit: 0, 2 a resource is refused or absent,\n"
	 "3 the API server does not answer",
	 ON(estimate)},
	{"metrics-address", 0, "ADDRESS",
	 "serve /metrics (Prometheus), /livez and /readyz by HTTP, for whoever can connect, as\n"
	 "127.0.0.1:9090, :9090 (all addresses) or unix:/PATH (default: nowhere)",
	 config_take_address, offsetof(struct options, flags.metrics_address), false},
	{"log-level", 0, "LEVEL", "error, warning, info (default) or debug", log_level_take,
	 offsetof(struct options, flags.log_level), false},
	{"log-format", 0, "FORMAT", "text (default) or json: an object with time, level and msg a line",
	 log_format_take, offsetof(struct options, flags.log_format), false},
	{"version", 0, NULL, "print the version", ON(version)},
	{"help", 'h', NULL, "print this", ON(help)},
};
static const struct flag_table table = {flags, sizeof(flags) / sizeof(*flags), "--help", false, NULL};

static void
free_arguments(char **arguments)
{
	for (char **a = arguments; a && *a; a++) {
		explicit_bzero(*a, strlen(*a));
		free(*a);
	}
	free(arguments);
}

/* NULL: no memory. */
static char **
copy_arguments(int argc, char *const *argv)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));

	for (int i = 0; copy && i < argc; i++) {
		copy[i] = strdup(argv[i]);
		if (!copy[i]) {
			free_arguments(copy);
			return NULL;
		}
	}
	return copy;
}

int
options_parse(int argc, char *const *argv, struct options *ret_options, char **ret_error)
{
	struct options options = {.flags.log_level = -1, .arguments = copy_arguments(argc, argv)};
	int r = options.arguments ? flags_parse(&table, argc, argv, &options, NULL, ret_error) : -ENOMEM;

	if (r >= 0 && r < argc)
		r = message_set(ret_error, -EINVAL,
				"'%s' belongs to no flag; a resource is named with --resource %s; see --help",
				argv[r], argv[r]);
	if (r >= 0 && options.check_config && options.estimate)
		r = message_set(ret_error, -EINVAL,
				"--estimate asks the API server, and --check-config does not: use one "
				"of them");
	if (r < 0) {
		options_done(&options);
		return r;
	}
	options.check |= options.check_config || options.estimate;
	*ret_options = options;
	return 0;
}

int
options_apply(const struct options *options, struct config *config, char **ret_error)
{
	struct options over = {.flags = *config};
	int argc = 0, r;

	while (options->arguments[argc])
		argc++;
	if (options->flags.choice.n_as_groups > 0)
		server_choice_drop_groups(&over.flags.choice);
	r = flags_parse(&table, argc, options->arguments, &over, NULL, ret_error);
	*config = over.flags;
	free(over.config_path);
	return r < 0 ? r : 0;
}

static bool
is_secret(const struct flag *flag)
{
	return flag->offset == offsetof(struct options, flags.choice.token) ||
	       flag->offset == offsetof(struct options, flags.choice.password);
}

void
options_hide_secrets(int argc, char **argv)
{
	struct flag_reader in = {.argc = argc, .argv = argv, .at = 1};
	const struct flag *flag;
	char *value;

	while (in.at < argc) {
		int r = flag_next(&table, &in, &flag, &value, NULL);

		if (r == 0)
			in.at++;
		if (r > 0 && value && is_secret(flag))
			memset(value, 'x', strlen(value));
	}
}

void
options_done(struct options *options)
{
	config_done(&options->flags);
	free(options->config_path);
	free_arguments(options->arguments);
	memset(options, 0, sizeof(*options));
}

void
options_help(FILE *out)
{
	fputs("informerd: keeps Kubernetes objects in shared memory for all agents of a node.\n\n"
	      "usage: informerd --resource NAME [flags]\n"
	      "       informerd --preset node-agent\n"
	      "       informerd --resource pods --resource 'services?namespace=kube-system'\n"
	      "       informerd --resource 'pods?fieldSelector=spec.nodeName=node-1' --index "
	      "byTeam=pods:metadata.labels.team\n",
	      out);
	flags_help(out, &table, 0);
	fputs("\nReaders are programs with libinformer, and informerctl(1): informerctl get pods -A\n"
	      "SIGHUP: go on by the configuration as it is now, and by the program on disk.\n"
	      "The configuration file is described in informerd(8).\n",
	      out);
}
