/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file, its merge with flags, and the checks after discovery. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/config/config.h"
#include "writer/config/config_parse.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/config/options.h"
#include "writer/config/config_check.h"
#include "writer/config/config_build.h"

static int
build(const char *dir, const char *yaml, char *const *flags, struct config *ret, char **ret_error)
{
	char *argv[16] = {"informerd"};
	struct options options;
	int argc = 1, r;

	if (yaml) {
		argv[argc++] = "--config";
		argv[argc++] = (char *)(uintptr_t)temp_file(dir, "conf.yaml", yaml);
	}
	while (flags && *flags)
		argv[argc++] = *flags++;
	assert_int_equal(options_parse(argc, argv, &options, ret_error), 0);
	r = config_build(&options, ret, ret_error);
	options_done(&options);
	return r;
}

static struct config
built(const char *dir, const char *yaml, char *const *flags)
{
	_cleanup_(message_freep) char *error = NULL;
	struct config config = {0};
	int r = build(dir, yaml, flags, &config, &error);

	if (r < 0)
		print_message("%s\n", error ? error : "no message");
	assert_int_equal(r, 0);
	return config;
}

static void
assert_refused(const char *dir, const char *yaml, char *const *flags, int code, const char *message)
{
	_cleanup_(message_freep) char *error = NULL;
	struct config config;

	assert_int_equal(build(dir, yaml, flags, &config, &error), code);
	assert_non_null(error);
	if (!strstr(error, message))
		fail_msg("'%s' is not in '%s'", message, error);
}

static const char full[] = "kubeconfig: kube/config\n"
			   "context: prod\n"
			   "server: https://api:6443\n"
			   "resources:\n"
			   "- resource: pods\n"
			   "  namespace: web\n"
			   "  labelSelector: app in (a, b)\n"
			   "  fieldSelector: spec.nodeName=n1\n"
			   "  drop: [status.managed, 'metadata.annotations[\"a.b/c\"]']\n"
			   "- services?namespace=web\n"
			   "- nodes\n"
			   "indexes:\n"
			   "- name: byUser\n"
			   "  resource: pods\n"
			   "  path: metadata.annotations.users\n"
			   "  split: ','\n"
			   "- {name: image, resource: pods, paths: ['spec.containers[*].image', "
			   "'spec.initContainers[*].image']}\n"
			   "- byApp=services:spec.selector.app\n"
			   "socket: /tmp/x.sock\n"
			   "arena: {dir: /dev/shm, name: mine, maxBytes: 1Gi}\n"
			   "allowSecrets: false\n"
			   "keepManagedFields: true\n"
			   "access: {uids: [0, 1000], gids: [7], maxReaders: 9}\n"
			   "logLevel: debug\n";

#define TEST(name) TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, name)

/* Every field of a file reaches the configuration. */
TEST(every_field_of_a_file_is_taken)
{
	struct config c = built(*state, full, NULL);
	const char *slash = strrchr(c.choice.kubeconfig, '/');

	assert_memory_equal(c.choice.kubeconfig, *state, strlen(*state));
	assert_string_equal(slash, "/config");
	assert_string_equal(c.choice.context, "prod");
	assert_string_equal(c.choice.server, "https://api:6443");
	assert_int_equal(c.n_resources, 3);
	assert_string_equal(c.resources[0].label_selector, "app in (a, b)");
	assert_int_equal(c.resources[0].n_drops, 2);
	assert_string_equal(c.resources[0].drops[1], "metadata.annotations[\"a.b/c\"]");
	assert_string_equal(c.resources[1].namespace_, "web");
	assert_string_equal(c.resources[2].resource, "nodes");
	assert_int_equal(c.n_indexes, 3);
	assert_string_equal(c.indexes[0].split, ",");
	assert_int_equal(c.indexes[1].n_paths, 2);
	assert_string_equal(c.indexes[2].paths[0], "spec.selector.app");
	assert_string_equal(c.socket, "/tmp/x.sock");
	assert_string_equal(c.arena_dir, "/dev/shm");
	assert_string_equal(c.arena_name, "mine");
	assert_true(c.arena_max_bytes == 1u << 30);
	assert_true(c.keep_managed_fields);
	assert_int_equal(c.n_allow_uids, 2);
	assert_int_equal(c.n_allow_gids, 1);
	assert_int_equal(c.max_readers, 9);
	assert_int_equal(c.log_level, LOG_LEVEL_DEBUG);
	config_done(&c);
}

/*
 * What there is to say about the connection may stand in the file; a flag wins, and groups of flags are
 * instead.
 */
TEST(the_connection_may_stand_in_the_file)
{
	static const char text[] =
		"cluster: c\nuser: u\ncertificateAuthority: ca.crt\ninsecureSkipTlsVerify: false\n"
		"tlsServerName: n\nclientCertificate: /c\nclientKey: k\nas: a\nasUid: '7'\n"
		"asGroups: [g, h]\nrequestTimeout: 2m\nresources: [pods]\n";
	char *flags[] = {"--as", "b", "--as-group", "i", NULL};
	struct config c = built(*state, text, NULL);

	assert_string_equal(c.choice.cluster, "c");
	assert_string_equal(c.choice.user, "u");
	assert_string_equal(c.choice.certificate_authority, temp_path(*state, "ca.crt"));
	assert_string_equal(c.choice.tls_server_name, "n");
	assert_string_equal(c.choice.client_certificate, "/c");
	assert_string_equal(c.choice.client_key, temp_path(*state, "k"));
	assert_string_equal(c.choice.as_uid, "7");
	assert_int_equal(c.choice.n_as_groups, 2);
	assert_int_equal(c.choice.request_timeout_ms, 120000);
	config_done(&c);
	c = built(*state, text, flags);
	assert_string_equal(c.choice.as, "b");
	assert_int_equal(c.choice.n_as_groups, 1);
	assert_string_equal(c.choice.as_groups[0], "i");
	config_done(&c);
	assert_refused(*state, "requestTimeout: soon\n", NULL, -EINVAL,
		       "conf.yaml:1:17: 'soon' is not a time");
	assert_refused(*state, "asGroups: g\n", NULL, -EINVAL,
		       "conf.yaml:1:11: asGroups must be a list of groups");
	assert_refused(*state, "token: t\n", NULL, -EINVAL, "unknown field 'token'");
}

/*
 * How failures are waited after, and how long a watch lasts; a flag wins, and what does not fit together is
 * refused, whoever said it.
 */
TEST(waits_and_timeouts_may_stand_in_the_file)
{
	static const char text[] = "watchTimeout: 20m\nbackoff: {initial: 2s, max: 1m, reset: 5m}\n"
				   "resources: [pods]\n";
	char *flags[] = {"--watch-timeout=1h", "--backoff-max=90s", NULL},
	     *shorter[] = {"--backoff-max=1s", NULL}, *longer[] = {"--backoff-max=151s", NULL},
	     *rarely[] = {"--check-every=24h", NULL};
	struct config c = built(*state, text, NULL);

	assert_int_equal(c.watch_timeout_ms, 1200000);
	assert_int_equal(c.backoff.first_ms, 2000);
	assert_int_equal(c.backoff.max_ms, 60000);
	assert_int_equal(c.backoff.reset_ms, 300000);
	config_done(&c);
	c = built(*state, text, flags);
	assert_int_equal(c.watch_timeout_ms, 3600000);
	assert_int_equal(c.backoff.first_ms, 2000);
	assert_int_equal(c.backoff.max_ms, 90000);
	assert_int_equal(c.check_every_ms, 0);
	config_done(&c);
	c = built(*state, "checkEvery: 1h\nresources: [pods]\n", NULL);
	assert_int_equal(c.check_every_ms, 3600000);
	config_done(&c);
	c = built(*state, "checkEvery: 1h\nresources: [pods]\n", rarely);
	assert_int_equal(c.check_every_ms, 86400000);
	config_done(&c);
	c = built(*state, "backoff: {max: 1h}\nresources: [pods]\n", NULL);
	config_done(&c);
	assert_refused(*state, text, shorter, -EINVAL,
		       "the first wait after a failure, 2000 ms, is longer than the longest, 1000 ms");
	assert_refused(*state, text, longer, -EINVAL,
		       "--backoff-reset (backoff: reset), 300000 ms, must be twice the longest wait");
	assert_refused(*state, "backoff: {initial: 31s}\nresources: [pods]\n", NULL, -EINVAL,
		       "31000 ms, is longer than the longest, 30000 ms");
	assert_refused(*state, "backoff: {initial: 1}\n", NULL, -EINVAL,
		       "conf.yaml:1:20: initial must be a time as a string, such as 800ms");
	assert_refused(*state, "backoff: {max: 2h}\n", NULL, -EINVAL,
		       "conf.yaml:1:16: '2h' is not a time from 10ms to 1h");
	assert_refused(*state, "backoff: 30s\n", NULL, -EINVAL,
		       "conf.yaml:1:10: backoff must be a mapping with initial, max, reset");
	assert_refused(*state, "backoff: {maximum: 1s}\n", NULL, -EINVAL, "unknown field 'maximum'");
	assert_refused(*state, "checkEvery: 999ms\n", NULL, -EINVAL,
		       "conf.yaml:1:13: '999ms' is not a time from 1s to 168h");
	assert_refused(*state, "watchTimeout: 1s\n", NULL, -EINVAL,
		       "conf.yaml:1:15: '1s' is not a time from 5s to 24h");
}

/* A flag wins over the file's value, and lists are joined. */
TEST(flags_win_and_lists_are_joined)
{
	char *flags[] = {"--context",   "test", "--resource",        "deploy",
			 "--allow-uid", "5",    "--log-level=error", NULL};
	struct config c = built(*state, full, flags);

	assert_string_equal(c.choice.context, "test");
	assert_int_equal(c.log_level, LOG_LEVEL_ERROR);
	assert_int_equal(c.n_resources, 4);
	assert_string_equal(c.resources[3].resource, "deploy");
	assert_string_equal(c.resources[3].origin, "--resource deploy");
	assert_int_equal(c.n_allow_uids, 3);
	config_done(&c);
}

/* An unknown field is refused with its place and the nearest known name. */
TEST(an_unknown_field_names_its_place_and_the_nearest)
{
	assert_refused(*state, "resources:\n- resource: pods\n  labelselector: x\n", NULL, -EINVAL,
		       "conf.yaml:3:3: unknown field 'labelselector'; did you mean labelSelector?");
	assert_refused(*state, "resorces: []\n", NULL, -EINVAL,
		       "conf.yaml:1:1: unknown field 'resorces'; did you mean resources?");
	assert_refused(*state, "arena:\n  maxbytes: 1\n", NULL, -EINVAL,
		       "conf.yaml:2:3: unknown field 'maxbytes'; did you mean maxBytes?");
	assert_refused(*state, "quite_different: 1\n", NULL, -EINVAL, "unknown field 'quite_different'");
}

/* A value of another type is refused with its place and what was expected. */
TEST(a_wrong_type_names_its_place)
{
	assert_refused(*state, "socket: 5\n", NULL, -EINVAL, "conf.yaml:1:9: socket must be a string");
	assert_refused(*state, "allowSecrets: 'yes'\n", NULL, -EINVAL,
		       "conf.yaml:1:15: allowSecrets must be true or false");
	assert_refused(*state, "resources: pods\n", NULL, -EINVAL,
		       "conf.yaml:1:12: resources must be a list");
	assert_refused(*state, "resources:\n- 5\n", NULL, -EINVAL,
		       "conf.yaml:2:3: what stands here must be a mapping");
	assert_refused(*state, "resources:\n- namespace: a\n", NULL, -EINVAL,
		       "conf.yaml:2:3: this entry has no 'resource'");
	assert_refused(*state, "access: {uids: [-1]}\n", NULL, -EINVAL,
		       "conf.yaml:1:17: what stands here must be a whole number");
	assert_refused(*state, "access: {maxReaders: 1e9}\n", NULL, -EINVAL,
		       "maxReaders must be a whole number from 1 to 4096");
	assert_refused(*state, "arena: {maxBytes: lots}\n", NULL, -EINVAL,
		       "conf.yaml:1:19: 'lots' is not a size");
	assert_refused(*state, "- a\n", NULL, -EINVAL, "conf.yaml:1:1: what stands here must be a mapping");
	assert_refused(*state, "logLevel: loud\n", NULL, -EINVAL,
		       "logLevel must be error, warning, info or debug");
	assert_refused(*state, "namespace: Web\n", NULL, -EINVAL,
		       "conf.yaml:1:12: 'Web' cannot be a namespace");
}

/* An index whose path cannot be one is refused, naming the path and the character. */
TEST(an_impossible_path_names_itself)
{
	static const char *const wrong[] = {"a..b", "a.",    "a[", "a[x]", "a[*",
					    "a['b", "a[1]b", "a[", "[",    "."};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		_cleanup_(message_freep) char *error = NULL;
		char place[64];

		assert_int_equal(config_check_path(wrong[i], &error), -EINVAL);
		snprintf(place, sizeof(place), "path '%s', character ", wrong[i]);
		if (strncmp(error, place, strlen(place)) != 0)
			fail_msg("'%s' is not in '%s'", place, error);
	}
	assert_int_equal(config_check_path("", NULL), -EINVAL);
	assert_refused(*state,
		       "resources: [pods]\nindexes:\n- {name: x, resource: pods, path: 'spec..node'}\n", NULL,
		       -EINVAL, "conf.yaml:3:35: path 'spec..node', character 6");
	assert_refused(*state, "resources: [pods]\nindexes:\n- {name: x, resource: pods}\n", NULL, -EINVAL,
		       "this index has no 'path'");
}

/* What objects are found by cannot be dropped, and it is said before anything is begun. */
TEST(an_impossible_drop_names_its_place)
{
	assert_refused(*state, "resources:\n- resource: pods\n  drop: [spec.volumes, metadata.name]\n", NULL,
		       -EINVAL, "conf.yaml:3:24: 'metadata.name' cannot be dropped");
	assert_refused(*state, "resources:\n- resource: pods\n  drop: ['spec.containers[0]']\n", NULL,
		       -EINVAL, "conf.yaml:3:10: 'spec.containers[0]' cannot be dropped");
}

/* Names, quoted names, stars and numbers are paths. */
TEST(possible_paths_are_taken)
{
	static const char *const right[] = {"metadata.annotations.users",
					    "metadata.annotations[\"a.b/c\"]",
					    "metadata.labels['x']",
					    "spec.containers[*].image",
					    ".spec.nodeName",
					    "a[0][1].b",
					    "['a.b'].c",
					    "metadata.labels.app-name_1"};

	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++)
		assert_int_equal(config_check_path(right[i], NULL), 0);
}

/* Without a resource there is nothing to do, and the message says how to name one. */
TEST(no_resource_is_refused)
{
	assert_refused(*state, NULL, NULL, -EINVAL, "--resource pods");
}

/* Secrets are refused unless allowSecrets is true; the message says so. */
TEST(secrets_need_allow_secrets)
{
	char *flags[] = {"--resource", "Secret", NULL};
	struct config c;

	assert_refused(*state, NULL, flags, -EPERM, "allowSecrets: true");
	c = built(*state, "allowSecrets: true\nresources: [secrets]\n", NULL);
	assert_true(c.allow_secrets);
	config_done(&c);
}

/* Deletions are remembered as the file says, for all resources or for one; a count of 0 is said, too. */
TEST(tombstones_are_limited_for_all_and_for_one)
{
	struct config c = built(*state,
				"tombstones: {count: 50, bytes: 2Mi, seconds: 600}\n"
				"resources:\n- pods\n- resource: services\n  tombstones: {count: 0}\n",
				NULL);

	assert_true(c.tombstones.count_said);
	assert_int_equal(c.tombstones.count, 50);
	assert_int_equal(c.tombstones.bytes, 2u << 20);
	assert_int_equal(c.tombstones.seconds, 600);
	assert_false(c.resources[0].tombstones.count_said);
	assert_true(c.resources[1].tombstones.count_said);
	assert_int_equal(c.resources[1].tombstones.count, 0);
	assert_int_equal(c.resources[1].tombstones.seconds, 0);
	config_done(&c);
	assert_refused(*state, "resources: [pods]\ntombstones: {count: -1}\n", NULL, -EINVAL,
		       "a whole number from 0 to 10000000");
	assert_refused(*state, "resources: [pods]\ntombstones: {second: 1}\n", NULL, -EINVAL,
		       "did you mean seconds?");
	assert_refused(*state, "resources: [pods]\ntombstones: 5\n", NULL, -EINVAL,
		       "a mapping with count, bytes, seconds");
}

/* A socket path that no socket address holds is refused before anything is made. */
TEST(a_socket_path_that_is_too_long_is_refused)
{
	char path[200] = "/tmp/";
	char *flags[] = {"--resource", "pods", "--socket", path, NULL};

	memset(path + 5, 'x', 150);
	assert_refused(*state, NULL, flags, -EINVAL, "too long (155 bytes, the system allows 107)");
}

/* Two daemons with sockets of their own have arenas of their own. */
TEST(the_arena_name_follows_the_socket)
{
	char *one[] = {"-r", "pods", "--socket", "/tmp/one.sock", NULL},
	     *two[] = {"-r", "pods", "--socket", "/tmp/two.sock", NULL};
	char *root[] = {"-r", "pods", "--socket", "/run/informer/informer.sock", NULL};
	struct config a = built(*state, NULL, one), b = built(*state, NULL, two),
		      c = built(*state, NULL, root);

	assert_string_not_equal(a.arena_name, b.arena_name);
	assert_string_equal(c.arena_name, "informer");
	config_done(&a);
	config_done(&b);
	config_done(&c);
}

static struct kube_resource
resource(const char *group, const char *plural, bool namespaced)
{
	return (struct kube_resource){.group = (char *)(uintptr_t)group,
				      .version = (char *)(uintptr_t) "v1",
				      .resource = (char *)(uintptr_t)plural,
				      .kind = (char *)(uintptr_t) "",
				      .singular = (char *)(uintptr_t) "",
				      .namespaced = namespaced};
}

static void
assert_resolved_refused(const char *dir, const char *yaml, char *const *flags,
			const struct kube_resource *const *resolved, int code, const char *message,
			const char *message2)
{
	_cleanup_(message_freep) char *error = NULL;
	struct config c = built(dir, yaml, flags);

	assert_int_equal(config_check_resolved(&c, resolved, &error), code);
	assert_non_null(error);
	if (!strstr(error, message) || !strstr(error, message2))
		fail_msg("'%s' and '%s' are not in '%s'", message, message2, error);
	config_done(&c);
}

/* Two entries that are one resource must each have a namespace of its own. */
TEST(entries_of_one_resource_must_be_disjoint)
{
	struct kube_resource pods = resource("", "pods", true);
	const struct kube_resource *both[] = {&pods, &pods};
	char *overlap[] = {"-r", "pods", "-r", "po?namespace=web", NULL};
	char *disjoint[] = {"-r", "pods?namespace=db", "-r", "po?namespace=web", NULL};
	struct config c;

	assert_resolved_refused(*state, NULL, overlap, both, -EINVAL,
				"--resource pods and --resource po?namespace=web", "not disjoint");
	c = built(*state, NULL, disjoint);
	assert_int_equal(config_check_resolved(&c, both, NULL), 0);
	config_done(&c);
}

/* Secrets are also found out behind another spelling, once it is resolved. */
TEST(resolved_secrets_are_refused)
{
	struct kube_resource secrets = resource("", "secrets", true);
	const struct kube_resource *resolved[] = {&secrets};
	char *flags[] = {"-r", "secrets.v1.", NULL};

	assert_resolved_refused(*state, NULL, flags, resolved, -EPERM, "Secrets are not cached",
				"allowSecrets: true");
}

/* --namespace does not reach resources without namespaces; one of their own is refused. */
TEST(cluster_resources_take_no_namespace)
{
	struct kube_resource nodes = resource("", "nodes", false);
	const struct kube_resource *resolved[] = {&nodes};
	char *by_default[] = {"-r", "nodes", "-n", "web", NULL}, *own[] = {"-r", "nodes?namespace=web", NULL};
	struct config c = built(*state, NULL, by_default);

	assert_string_equal(c.resources[0].namespace_, "web");
	assert_int_equal(config_check_resolved(&c, resolved, NULL), 0);
	assert_null(c.resources[0].namespace_);
	config_done(&c);
	assert_resolved_refused(*state, NULL, own, resolved, -EINVAL, "nodes have no namespace", "'web'");
}

/* An index over a resource that is not cached is refused with both names. */
TEST(an_index_needs_a_cached_resource)
{
	struct kube_resource pods = resource("", "pods", true), services = resource("", "services", true);
	const struct kube_resource *resolved[] = {&pods, &services};
	char *flags[] = {"-r", "pods", "--index", "x=svc:spec.clusterIP", NULL};

	assert_resolved_refused(*state, NULL, flags, resolved, -EINVAL,
				"index 'x' is over services, which are not cached", "--resource svc");
}

/*
 * What is said about one resource reaches its entry, from the file and from a flag; the rest follows what is
 * said for all.
 */
TEST(a_resource_has_choices_of_its_own)
{
	static const char yaml[] = "watchList: false\n"
				   "resources:\n"
				   "- {resource: pods, metadataOnly: true, onDemand: true, optional: true, "
				   "watchList: true, pageSize: 50, resourceVersion: any}\n"
				   "- services\n";
	char *flags[] = {"-r",
			 "nodes?metadataOnly=true&onDemand=false&optional=true&pageSize=7&resourceVersion="
			 "latest&watchList=true",
			 NULL};
	struct config c = built(*state, yaml, flags);

	assert_true(c.resources[0].metadata_only && c.resources[0].on_demand);
	assert_true(c.resources[0].optional && !c.resources[1].optional && c.resources[2].optional);
	assert_int_equal(c.resources[0].watch_list, CONFIG_YES);
	assert_int_equal(c.resources[0].page_size, 50);
	assert_int_equal(c.resources[0].version, REFLECTOR_VERSION_ANY);
	assert_false(c.resources[1].metadata_only || c.resources[1].on_demand);
	assert_int_equal(c.resources[1].watch_list, CONFIG_NO);
	assert_int_equal(c.resources[1].page_size, 0);
	assert_int_equal(c.resources[1].version, REFLECTOR_VERSION_DEFAULT);
	assert_true(c.resources[2].metadata_only && !c.resources[2].on_demand);
	assert_int_equal(c.resources[2].watch_list, CONFIG_YES);
	assert_int_equal(c.resources[2].page_size, 7);
	assert_int_equal(c.resources[2].version, REFLECTOR_VERSION_LATEST);
	config_done(&c);
}

/* WatchLists are used where they are cheap, unless the file or a flag says otherwise; the flag wins. */
TEST(watch_lists_are_used_as_it_is_said)
{
	char *plain[] = {"-r", "pods", NULL}, *without[] = {"-r", "pods", "--no-watch-list", NULL};
	struct config c = built(*state, NULL, plain);

	assert_int_equal(c.resources[0].watch_list, CONFIG_NOT_SAID);
	config_done(&c);
	c = built(*state, "watchList: true\n", plain);
	assert_int_equal(c.resources[0].watch_list, CONFIG_YES);
	config_done(&c);
	c = built(*state, "watchList: true\n", without);
	assert_int_equal(c.resources[0].watch_list, CONFIG_NO);
	config_done(&c);
}

/* The syntax of all resources, and of one of them; a flag wins over the file; a file of kinds. */
TEST(the_wire_is_chosen_for_all_and_for_one)
{
	static const char yaml[] = "wire: json\nschema: /some/file\n"
				   "resources:\n- {resource: pods, wire: protobuf}\n- services\n";
	char *plain[] = {"-r", "nodes", "-r", "leases?wire=json", NULL}, *none[] = {NULL};
	char *flags[] = {"-r", "nodes?wire=auto", "--wire", "protobuf", "--schema", "/other/file", NULL};
	struct config c = built(*state, NULL, plain);

	assert_int_equal(c.resources[0].wire, WIRE_AUTO);
	assert_int_equal(c.resources[1].wire, WIRE_JSON);
	assert_null(c.schema);
	config_done(&c);
	c = built(*state, yaml, none);
	assert_int_equal(c.resources[0].wire, WIRE_PROTOBUF);
	assert_int_equal(c.resources[1].wire, WIRE_JSON);
	assert_string_equal(c.schema, "/some/file");
	config_done(&c);
	c = built(*state, yaml, flags);
	assert_int_equal(c.resources[0].wire, WIRE_PROTOBUF);
	assert_int_equal(c.resources[1].wire, WIRE_PROTOBUF);
	assert_int_equal(c.resources[2].wire, WIRE_AUTO);
	assert_string_equal(c.schema, "/other/file");
	config_done(&c);
}

TEST(compression_is_chosen_for_all)
{
	char *plain[] = {"-r", "pods", NULL}, *flags[] = {"-r", "pods", "--compression", "gzip", NULL};
	struct config c = built(*state, NULL, plain);

	assert_int_equal(c.choice.compression, KUBE_COMPRESSION_AUTO);
	assert_int_equal(server_choice_kubeconfig(&c.choice).compression, KUBE_COMPRESSION_AUTO);
	config_done(&c);
	c = built(*state, "compression: none\n", plain);
	assert_int_equal(c.choice.compression, KUBE_COMPRESSION_NONE);
	config_done(&c);
	c = built(*state, "compression: none\n", flags);
	assert_int_equal(server_choice_kubeconfig(&c.choice).compression, KUBE_COMPRESSION_GZIP);
	config_done(&c);
	assert_refused(*state, "compression: zstd\n", NULL, -EINVAL,
		       "conf.yaml:1:14: 'zstd' is neither auto, gzip nor none");
	assert_refused(*state, "compression: 1\n", NULL, -EINVAL, "compression must be auto, gzip or none");
}

TEST(a_wire_that_there_is_not_is_refused)
{
	assert_refused(*state, "resources: [pods]\nwire: cbor\n", NULL, -EINVAL,
		       "conf.yaml:2:7: 'cbor' is neither auto, json nor protobuf");
	assert_refused(*state, "resources:\n- {resource: pods, wire: 3}\n", NULL, -EINVAL,
		       "conf.yaml:2:26: wire must be auto, json or protobuf");
}

/* Several namespaces are as many entries, each with all the rest. */
TEST(several_namespaces_are_several_entries)
{
	static const char yaml[] =
		"resources:\n"
		"- {resource: pods, namespaces: [a, b], labelSelector: x=y, drop: [spec], pageSize: 9}\n";
	char *flags[] = {"-r", "services?namespace=c,d", NULL};
	static const char *const names[] = {"a", "b", "c", "d"};
	struct config c = built(*state, yaml, flags);

	assert_int_equal(c.n_resources, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_string_equal(c.resources[i].resource, i < 2 ? "pods" : "services");
		assert_string_equal(c.resources[i].namespace_, names[i]);
	}
	for (unsigned i = 0; i < 2; i++) {
		assert_string_equal(c.resources[i].label_selector, "x=y");
		assert_string_equal(c.resources[i].drops[0], "spec");
		assert_int_equal(c.resources[i].page_size, 9);
	}
	config_done(&c);
	assert_refused(*state, "resources: [{resource: pods, namespaces: [a, B]}]\n", NULL, -EINVAL,
		       "conf.yaml:1:46: 'B' cannot be a namespace");
	assert_refused(*state, "resources: [{resource: pods, namespace: a, namespaces: [b]}]\n", NULL,
		       -EINVAL, "the only one of namespace");
}

/* Variables of the environment stand in namespaces and selectors; what they bring is not looked at again. */
TEST(variables_are_the_environments)
{
	static const char yaml[] = "namespace: ${INFORMER_TEST_NS}\n"
				   "resources:\n"
				   "- {resource: pods, fieldSelector: "
				   "'spec.nodeName=${INFORMER_TEST_NODE},a=${INFORMER_TEST_ODD}'}\n";
	char *flags[] = {"-r", "services?namespace=x-${INFORMER_TEST_NS}&labelSelector=a=$b", NULL};
	struct config c;

	setenv("INFORMER_TEST_NODE", "node-7", 1);
	setenv("INFORMER_TEST_NS", "web", 1);
	setenv("INFORMER_TEST_ODD", "${INFORMER_TEST_NS}", 1);
	c = built(*state, yaml, flags);
	assert_string_equal(c.resources[0].field_selector, "spec.nodeName=node-7,a=${INFORMER_TEST_NS}");
	assert_string_equal(c.resources[0].namespace_, "web");
	assert_string_equal(c.resources[1].namespace_, "x-web");
	assert_string_equal(c.resources[1].label_selector, "a=$b");
	config_done(&c);
}

/* A variable that is not set, or empty, would make a selector mean another part: refused, with its name. */
TEST(a_variable_without_a_value_is_refused)
{
	static const struct {
		const char *selector, *message;
	} cases[] = {
		{"spec.nodeName=${INFORMER_TEST_UNSET}",
		 "the environment variable INFORMER_TEST_UNSET is not set"},
		{"spec.nodeName=${INFORMER_TEST_EMPTY}",
		 "the environment variable INFORMER_TEST_EMPTY is empty"},
		{"spec.nodeName=${}", "'${}' is no variable"},
		{"spec.nodeName=${A-B}", "is no variable"},
		{"spec.nodeName=${A", "is no variable"},
	};
	char text[200];

	unsetenv("INFORMER_TEST_UNSET");
	setenv("INFORMER_TEST_EMPTY", "", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), "resources: [{resource: pods, fieldSelector: '%s'}]\n",
			 cases[i].selector);
		assert_refused(*state, text, NULL, -EINVAL, cases[i].message);
	}
	setenv("INFORMER_TEST_BAD", "No Namespace", 1);
	assert_refused(*state, "resources: [{resource: pods, namespace: '${INFORMER_TEST_BAD}'}]\n", NULL,
		       -EINVAL, "cannot be a namespace");
}

/* Impossible choices are refused where they stand. */
TEST(impossible_choices_are_refused)
{
	static const struct {
		const char *entry, *message;
	} cases[] = {
		{"{resource: pods, pageSize: 0}", "pageSize must be a whole number from 1"},
		{"{resource: pods, resourceVersion: '0'}", "'0' is neither any nor latest"},
		{"{resource: pods, onDemand: 1}", "onDemand must be true or false"},
		{"'pods?pageSize=0'", "pageSize: a page of 0"},
		{"'pods?onDemand=yes'", "onDemand: 'yes' is neither true nor false"},
		{"'pods?metaDataOnly=true'", "did you mean metadataOnly?"},
		{"'pods?pageSize=1&pageSize=2'", "pageSize is given twice"},
	};
	char text[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), "resources: [%s]\n", cases[i].entry);
		assert_refused(*state, text, NULL, -EINVAL, cases[i].message);
	}
}

/*
 * What events and consumers may cost is configured; what is not said keeps the default, and what cannot be is
 * refused.
 */
TEST(queues_and_consumers_are_limited)
{
	struct config config = built(
		*state,
		"resources: [pods]\nevents: {queueEntries: 128, maxQueueEntries: 1000, queueBytes: 1Mi, "
		"queueSeconds: 5, maxQueueMemory: 8Mi}\nconsumers: {perUser: 2, total: 3, days: 30}\n",
		NULL);

	assert_int_equal(config.queue_entries, 128);
	assert_int_equal(config.max_queue_entries, 1000);
	assert_int_equal(config.queue_bytes, 1 << 20);
	assert_int_equal(config.queue_seconds, 5);
	assert_int_equal(config.max_queue_memory, 8 << 20);
	assert_int_equal(config.consumers_per_user, 2);
	assert_int_equal(config.consumers_total, 3);
	assert_int_equal(config.consumer_days, 30);
	config_done(&config);
	config = built(*state, "resources: [pods]\nevents:\nconsumers: {}\n", NULL);
	assert_int_equal(config.queue_entries + config.max_queue_entries + config.queue_seconds, 0);
	assert_int_equal(config.queue_bytes + config.max_queue_memory + config.consumers_per_user +
				 config.consumers_total + config.consumer_days,
			 0);
	config_done(&config);
	assert_refused(*state, "events: {queueEntries: 63}\n", NULL, -EINVAL, "from 64 to 65536");
	assert_refused(*state, "events: {maxQueueEntries: 65537}\n", NULL, -EINVAL,
		       "conf.yaml:1:27: maxQueueEntries must be");
	assert_refused(*state, "events: {queueSecond: 1}\n", NULL, -EINVAL, "did you mean queueSeconds?");
	assert_refused(*state, "events: [1]\n", NULL, -EINVAL, "a mapping with queueEntries");
	assert_refused(*state, "consumers: {perUser: 0}\n", NULL, -EINVAL, "from 1 to 65536");
	assert_refused(*state, "consumers: {days: 1.5}\n", NULL, -EINVAL, "from 1 to 3650");
}
