/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file, its merge with flags, and the checks after discovery. */
#include "tests/room.h"
#include "tests/support/config_text.h"
#include "tests/support/temp_dir.h"
#include "writer/config/config.h"
#include "writer/config/config_parse.h"
#include "writer/base/message.h"
#include "writer/config/config_check.h"

/* File and flags give this configuration (config_text.h). */
static void
assert_built(const char *dir, const char *yaml, const char *flags, const char *expected)
{
	struct config c = config_built(dir, yaml, flags);
	const char *text = config_text(&c, dir);

	if (strcmp(text, expected) != 0)
		fail_msg("%s %s became:%s\nexpected:%s", yaml, flags, text, expected);
	config_done(&c);
}

static void
assert_refused_with(const char *dir, const char *yaml, const char *flags, int code, const char *message)
{
	_cleanup_(message_freep) char *error = NULL;
	struct config config;

	assert_int_equal(config_try(dir, yaml, flags, &config, &error), code);
	assert_non_null(error);
	if (!strstr(error, message))
		fail_msg("'%s' is not in '%s'", message, error);
}

static void
assert_refused(const char *dir, const char *yaml, const char *message)
{
	assert_refused_with(dir, yaml, NULL, -EINVAL, message);
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
			   "  prefix: 12\n"
			   "- {name: image, resource: pods, paths: ['spec.containers[*].image', "
			   "'spec.initContainers[*].image']}\n"
			   "- byApp=services:spec.selector.app\n"
			   "socket: /tmp/x.sock\n"
			   "arena: {dir: /dev/shm, name: mine, maxBytes: 1Gi}\n"
			   "allowSecrets: false\n"
			   "keepManagedFields: true\n"
			   "access: {uids: [0, 1000], gids: [7], maxReaders: 9}\n"
			   "logLevel: debug\nlogFormat: json\n";

#define TEST(name) TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, name)

/* Each field of a file reaches the configuration. A flag wins over a field; lists are joined. */
TEST(every_field_of_a_file_is_taken)
{
	struct config c = config_built(*state, full, "--resource deploy");

	assert_string_equal(c.socket, "/tmp/x.sock");
	assert_string_equal(c.arena_name, "mine");
	assert_string_equal(c.resources[3].origin, "--resource deploy");
	config_done(&c);
	assert_built(*state, full, NULL,
		     " kubeconfig=DIR/kube/config context=prod server=https://api:6443 keep_managed_fields=1 "
		     "arena_dir=/dev/shm arena_max_bytes=1073741824 uid=0 uid=1000 gid=7 max_readers=9 "
		     "log_level=debug log_format=json\npods namespace_=web label_selector=app in (a, b) "
		     "field_selector=spec.nodeName=n1 drop=status.managed "
		     "drop=metadata.annotations[\"a.b/c\"]\nservices namespace_=web\nnodes\nindex byUser of "
		     "pods path=metadata.annotations.users split=, prefix=12\nindex image of pods "
		     "path=spec.containers[*].image path=spec.initContainers[*].image\nindex byApp of "
		     "services path=spec.selector.app");
	assert_built(*state, "context: prod\naccess: {uids: [0, 1000]}\nlogLevel: debug\nlogFormat: json\n"
				"resources: [pods]\n",
		     "--context test --resource deploy --allow-uid 5 --log-level=error --log-format text",
		     " context=test uid=0 uid=1000 uid=5 log_level=error\npods\ndeploy");
}

/* One flag configures what agents need. What is named beside it is a part, in place of the whole. */
TEST(a_preset_adds_the_resources_that_are_not_named)
{
	static const char rest[] = "namespaces\nnodes\nservices\nendpointslices.discovery.k8s.io\n"
				   "replicasets.apps metadata_only=1\njobs.batch metadata_only=1";
	char expected[512];

	snprintf(expected, sizeof(expected), " preset=node-agent\npods\n%s", rest);
	assert_built(*state, NULL, "--preset node-agent", expected);
	assert_built(*state, "preset: node-agent\n", NULL, expected);
	snprintf(expected, sizeof(expected), " preset=node-agent\nPod.v1 field_selector=spec.nodeName=n1\n%s",
		 rest);
	assert_built(*state, "preset: node-agent\nresources: ['Pod.v1?fieldSelector=spec.nodeName=n1']\n",
		     NULL, expected);
	assert_refused(*state, "preset: node\n", "there is no preset 'node'; there is node-agent");
}

/* A flag wins over the file; a list of groups from flags replaces the file's list. */
TEST(the_connection_may_stand_in_the_file)
{
	static const char text[] =
		"cluster: c\nuser: u\ncertificateAuthority: ca.crt\ninsecureSkipTlsVerify: false\n"
		"tlsServerName: n\nclientCertificate: /c\nclientKey: k\nas: a\nasUid: '7'\n"
		"asGroups: [g, h]\nrequestTimeout: 2m\nresources: [pods]\n";

	assert_built(*state, text, NULL,
		     " cluster=c user=u certificate_authority=DIR/ca.crt tls_server_name=n"
		     " client_certificate=/c client_key=DIR/k as=a as_uid=7 as_groups[i]=g as_groups[i]=h"
		     " request_timeout_ms=120000\npods");
	assert_built(*state, text, "--as b --as-group i",
		     " cluster=c user=u certificate_authority=DIR/ca.crt tls_server_name=n"
		     " client_certificate=/c client_key=DIR/k as=b as_uid=7 as_groups[i]=i"
		     " request_timeout_ms=120000\npods");
	/* a flag's "false" wins, too */
	assert_built(*state, "insecureSkipTlsVerify: true\nrequestTimeout: 2m\nresources: [pods]\n",
		     "--insecure-skip-tls-verify=false --request-timeout=0", "\npods");
}

/* A flag wins over the file. Values that do not fit together are refused. */
TEST(waits_and_timeouts_may_stand_in_the_file)
{
	static const char text[] = "watchTimeout: 20m\nbackoff: {initial: 2s, max: 1m, reset: 5m}\n"
				   "resources: [pods]\n";
	static const char check[] = "checkEvery: 1h\nresources: [pods]\n";

	assert_built(*state, text, NULL,
		     " backoff.first_ms=2000 backoff.max_ms=60000 backoff.reset_ms=300000"
		     " watch_timeout_ms=1200000\npods");
	assert_built(*state, text, "--watch-timeout=1h --backoff-max=90s",
		     " backoff.first_ms=2000 backoff.max_ms=90000 backoff.reset_ms=300000"
		     " watch_timeout_ms=3600000\npods");
	assert_built(*state, check, NULL, " check_every_ms=3600000\npods");
	assert_built(*state, check, "--check-every=24h", " check_every_ms=86400000\npods");
	assert_built(*state, "backoff: {max: 1h}\nresources: [pods]\n", NULL,
		     " backoff.max_ms=3600000\npods");
	assert_refused_with(*state, text, "--backoff-max=1s", -EINVAL,
			    "the first wait after a failure, 2000 ms, is longer than the longest, 1000 ms");
	assert_refused_with(
		*state, text, "--backoff-max=151s", -EINVAL,
		"--backoff-reset (backoff: reset) is 300000 ms; it must be at least twice the longest wait");
}

/* A refusal has the place, names the fault and what was expected, and suggests the nearest name. */
TEST(bad_values_are_refused_with_their_place)
{
	static const struct {
		const char *yaml, *message;
	} cases[] = {
		/* unknown fields */
		{"resources:\n- resource: pods\n  labelselector: x\n",
		 "conf.yaml:3:3: unknown field 'labelselector'; did you mean labelSelector?"},
		{"resorces: []\n", "conf.yaml:1:1: unknown field 'resorces'; did you mean resources?"},
		{"token: t\n", "unknown field 'token'"},
		{"resources: [pods]\ntombstones: {second: 1}\n", "did you mean seconds?"},
		{"events: {queueSecond: 1}\n", "did you mean queueSeconds?"},
		/* other types */
		{"resources: pods\n", "conf.yaml:1:12: resources must be a list"},
		{"resources:\n- 5\n", "conf.yaml:2:3: what stands here must be a mapping"},
		{"resources:\n- namespace: a\n", "conf.yaml:2:3: this entry has no 'resource'"},
		{"access: {uids: [-1]}\n", "conf.yaml:1:17: what stands here must be a whole number"},
		{"access: {maxReaders: 1e9}\n", "maxReaders must be a whole number from 1 to 4096"},
		{"- a\n", "conf.yaml:1:1: what stands here must be a mapping"},
		{"logLevel: loud\n", "'loud' is none of error, warning, info, debug"},
		{"namespace: Web\n", "conf.yaml:1:12: 'Web' cannot be a namespace"},
		{"asGroups: g\n", "conf.yaml:1:11: asGroups must be a list of groups"},
		{"compression: zstd\n", "conf.yaml:1:14: 'zstd' is neither auto, gzip nor none"},
		{"compression: 1\n", "compression must be auto, gzip or none"},
		{"resources: [pods]\nwire: cbor\n",
		 "conf.yaml:2:7: 'cbor' is neither auto, json nor protobuf"},
		{"resources:\n- {resource: pods, wire: 3}\n",
		 "conf.yaml:2:26: wire must be auto, json or protobuf"},
		/* times */
		{"requestTimeout: soon\n", "conf.yaml:1:17: 'soon' is not a time"},
		{"backoff: {initial: 31s}\nresources: [pods]\n",
		 "31000 ms, is longer than the longest, 30000 ms"},
		{"backoff: {initial: 1}\n",
		 "conf.yaml:1:20: initial must be a time as a string, such as 800ms"},
		{"backoff: {max: 2h}\n", "conf.yaml:1:16: '2h' is not a time from 10ms to 1h"},
		{"backoff: 30s\n", "conf.yaml:1:10: backoff must be a mapping with initial, max, reset"},
		{"checkEvery: 999ms\n", "conf.yaml:1:13: '999ms' is not a time from 1s to 168h"},
		{"watchTimeout: 1s\n", "conf.yaml:1:15: '1s' is not a time from 5s to 24h"},
		/* paths, also of fields that find objects and so cannot be dropped */
		{"resources: [pods]\nindexes:\n- {name: x, resource: pods, path: 'spec..node'}\n",
		 "conf.yaml:3:35: path 'spec..node', character 6"},
		{"resources: [pods]\nindexes:\n- {name: x, resource: pods, path: '.'}\n",
		 "names the whole object"},
		{"resources:\n- resource: pods\n  drop: ['']\n", "an empty path"},
		{"resources: [pods]\nindexes:\n- {name: x, resource: pods}\n", "this index has no 'path'"},
		{"resources: [pods]\nindexes:\n- {name: x, resource: pods, path: a}\n- {name: x, resource: "
		 "pods, path: b}\n",
		 "index 'x' is declared twice: "},
		{"resources:\n- resource: pods\n  drop: [spec.volumes, metadata.name]\n",
		 "conf.yaml:3:24: 'metadata.name' cannot be dropped"},
		{"resources:\n- resource: pods\n  drop: ['spec.containers[0]']\n",
		 "conf.yaml:3:10: 'spec.containers[0]' cannot be dropped"},
		/* fields of one resource */
		{"resources: [{resource: pods, pageSize: 0}]\n", "pageSize must be a whole number from 1"},
		{"resources: [{resource: pods, resourceVersion: '0'}]\n", "'0' is neither any nor latest"},
		{"resources: [{resource: pods, onDemand: 1}]\n", "onDemand must be true or false"},
		{"resources: ['pods?pageSize=0']\n", "pageSize: a page of 0"},
		{"resources: ['pods?onDemand=yes']\n", "onDemand: 'yes' is neither true nor false"},
		{"resources: ['pods?metaDataOnly=true']\n", "did you mean metadataOnly?"},
		{"resources: ['pods?pageSize=1&pageSize=2']\n", "pageSize is given twice"},
		{"resources: [{resource: pods, namespaces: [a, B]}]\n",
		 "conf.yaml:1:46: 'B' cannot be a namespace"},
		{"resources: [{resource: pods, namespace: a, namespaces: [b]}]\n",
		 "the only one of namespace"},
		/* limits */
		{"resources: [pods]\ntombstones: {count: -1}\n", "a whole number from 0 to 10000000"},
		{"resources: [pods]\ntombstones: 5\n", "a mapping with count, bytes, seconds"},
		{"events: {queueEntries: 63}\n", "from 64 to 65536"},
		{"events: {maxQueueEntries: 65537}\n", "conf.yaml:1:27: maxQueueEntries must be"},
		{"events: [1]\n", "a mapping with queueEntries"},
		{"consumers: {perUser: 0}\n", "from 1 to 65536"},
		{"consumers: {days: 1.5}\n", "from 1 to 3650"},
		/* without a resource there is nothing to do, and the message says how to name one */
		{NULL, "--resource pods"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_refused(*state, cases[i].yaml, cases[i].message);
}

/* Secrets are refused unless allowSecrets is true. The message names allowSecrets. */
TEST(secrets_need_allow_secrets)
{
	assert_refused_with(*state, NULL, "--resource Secret", -EPERM, "allowSecrets: true");
	assert_built(*state, "allowSecrets: true\nresources: [secrets]\n", NULL, " allow_secrets=1\nsecrets");
}

/* The file limits remembered deletions for all resources or for one; a count of 0 is kept, too. */
TEST(tombstones_are_limited_for_all_and_for_one)
{
	assert_built(*state,
		     "tombstones: {count: 50, bytes: 2Mi, seconds: 600}\n"
		     "resources:\n- pods\n- resource: services\n  tombstones: {count: 0}\n",
		     NULL, " tombstones=50/2097152/600\npods\nservices tombstones=0/0/0");
}

/* A socket path longer than a socket address holds is refused before anything is made. */
TEST(a_socket_path_that_is_too_long_is_refused)
{
	char flags[200] = "--resource pods --socket /tmp/";

	memset(flags + strlen(flags), 'x', 150);
	assert_refused_with(*state, NULL, flags, -EINVAL, "too long (155 bytes, the system allows 107)");
}

/* Two daemons with different sockets have different arenas. */
TEST(the_arena_name_follows_the_socket)
{
	struct config a = config_built(*state, NULL, "-r pods --socket /tmp/one.sock"),
		      b = config_built(*state, NULL, "-r pods --socket /tmp/two.sock"),
		      c = config_built(*state, NULL, "-r pods --socket /run/informer/informer.sock");

	assert_string_not_equal(a.arena_name, b.arena_name);
	assert_string_equal(c.arena_name, "informer");
	config_done(&a);
	config_done(&b);
	config_done(&c);
}

static struct kube_resource
resource(char *plural, bool namespaced)
{
	return (struct kube_resource){.group = "",
				      .version = "v1",
				      .resource = plural,
				      .kind = "",
				      .singular = "",
				      .namespaced = namespaced};
}

static void
assert_resolved_refused(const char *dir, const char *flags, const struct kube_resource *const *resolved,
			int code, const char *message, const char *message2)
{
	_cleanup_(message_freep) char *error = NULL;
	struct config c = config_built(dir, NULL, flags);

	assert_int_equal(config_check_resolved(&c, resolved, &error), code);
	assert_non_null(error);
	if (!strstr(error, message) || !strstr(error, message2))
		fail_msg("'%s' and '%s' are not in '%s'", message, message2, error);
	config_done(&c);
}

/* Two entries of one resource must each have a namespace of their own. */
TEST(entries_of_one_resource_must_be_disjoint)
{
	struct kube_resource pods = resource("pods", true);
	const struct kube_resource *both[] = {&pods, &pods};
	struct config c = config_built(*state, NULL, "-r pods?namespace=db -r po?namespace=web");

	assert_int_equal(config_check_resolved(&c, both, NULL), 0);
	config_done(&c);
	assert_resolved_refused(*state, "-r pods -r po?namespace=web", both, -EINVAL,
				"--resource pods and --resource po?namespace=web", "not disjoint");
}

/* Another spelling of secrets is refused after discovery has resolved it. */
TEST(resolved_secrets_are_refused)
{
	struct kube_resource secrets = resource("secrets", true);
	const struct kube_resource *resolved[] = {&secrets};

	assert_resolved_refused(*state, "-r secrets.v1.", resolved, -EPERM, "Secrets are not cached",
				"allowSecrets: true");
}

/* --namespace does not apply to resources without namespaces. A namespace of such an entry is refused. */
TEST(cluster_resources_take_no_namespace)
{
	struct kube_resource nodes = resource("nodes", false);
	const struct kube_resource *resolved[] = {&nodes};
	struct config c = config_built(*state, NULL, "-r nodes -n web");

	assert_string_equal(c.resources[0].namespace_, "web");
	assert_int_equal(config_check_resolved(&c, resolved, NULL), 0);
	assert_null(c.resources[0].namespace_);
	config_done(&c);
	assert_resolved_refused(*state, "-r nodes?namespace=web", resolved, -EINVAL,
				"nodes have no namespace", "'web'");
}

/* An index on a resource that is not cached is refused with both names. */
TEST(an_index_needs_a_cached_resource)
{
	struct kube_resource pods = resource("pods", true), services = resource("services", true);
	const struct kube_resource *resolved[] = {&pods, &services};

	assert_resolved_refused(*state, "-r pods --index x=svc:spec.clusterIP", resolved, -EINVAL,
				"index 'x' is over services, which are not cached", "--resource svc");
}

/* A choice for one resource, from file or flag, reaches its entry. Other entries have the common choice. */
TEST(a_resource_has_choices_of_its_own)
{
	assert_built(*state,
		     "watchList: false\n"
		     "resources:\n"
		     "- {resource: pods, metadataOnly: true, onDemand: true, optional: true, "
		     "watchList: true, pageSize: 50, resourceVersion: any}\n"
		     "- services\n",
		     "-r nodes?metadataOnly=true&onDemand=false&optional=true&pageSize=7"
		     "&resourceVersion=latest&watchList=true",
		     " watch_list=no\npods metadata_only=1 on_demand=1 optional=1 watch_list=yes "
		     "page_size=50 version=any\nservices watch_list=no\nnodes metadata_only=1 optional=1 "
		     "watch_list=yes page_size=7 version=latest");
}

/* An entry has the file's WatchLists, syntax and compression, unless the entry or a flag says otherwise. */
TEST(entries_take_the_common_choices)
{
	static const char wire[] = "wire: json\nschema: /some/file\n"
				   "resources:\n- {resource: pods, wire: protobuf}\n- services\n";
	struct config c = config_built(*state, "compression: none\n", "-r pods --compression gzip");

	assert_int_equal(c.choice.compression, KUBE_COMPRESSION_GZIP);
	config_done(&c);
	assert_built(*state, "watchList: true\n", "-r pods", " watch_list=yes\npods watch_list=yes");
	assert_built(*state, "watchList: true\n", "-r pods --no-watch-list",
		     " watch_list=no\npods watch_list=no");
	assert_built(*state, NULL, "-r nodes -r leases?wire=json", "\nnodes\nleases wire=json");
	assert_built(*state, wire, NULL,
		     " wire=json schema=/some/file\npods wire=protobuf\nservices wire=json");
	assert_built(*state, wire, "-r nodes?wire=auto --wire protobuf --schema /other/file",
		     " wire=protobuf schema=/other/file\npods wire=protobuf\nservices wire=protobuf\nnodes");
	assert_built(*state, "compression: none\n", "-r pods", " compression=none\npods");
	assert_built(*state, "compression: none\n", "-r pods --compression gzip", " compression=gzip\npods");
}

/* An entry with several namespaces becomes one entry for each, with all other choices. */
TEST(several_namespaces_are_several_entries)
{
	assert_built(*state,
		     "resources:\n- {resource: pods, namespaces: [a, b], labelSelector: x=y, drop: [spec], "
		     "pageSize: 9}\n",
		     "-r services?namespace=c,d",
		     "\npods namespace_=a label_selector=x=y drop=spec page_size=9"
		     "\npods namespace_=b label_selector=x=y drop=spec page_size=9"
		     "\nservices namespace_=c\nservices namespace_=d");
}

/* Variables of the environment are expanded in namespaces and selectors, once. */
TEST(variables_of_the_environment_are_expanded)
{
	setenv("INFORMER_TEST_NODE", "node-7", 1);
	setenv("INFORMER_TEST_NS", "web", 1);
	setenv("INFORMER_TEST_ODD", "${INFORMER_TEST_NS}", 1);
	assert_built(*state,
		     "namespace: ${INFORMER_TEST_NS}\n"
		     "resources:\n"
		     "- {resource: pods, fieldSelector: "
		     "'spec.nodeName=${INFORMER_TEST_NODE},a=${INFORMER_TEST_ODD}'}\n",
		     "-r services?namespace=x-${INFORMER_TEST_NS}&labelSelector=a=$b",
		     " namespace_=web\npods namespace_=web field_selector=spec.nodeName=node-7,"
		     "a=${INFORMER_TEST_NS}\nservices namespace_=x-web label_selector=a=$b");
}

/* An unset or empty variable would change what a selector means. It is refused by its name. */
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
		assert_refused(*state, text, cases[i].message);
	}
	setenv("INFORMER_TEST_BAD", "No Namespace", 1);
	assert_refused(*state, "resources: [{resource: pods, namespace: '${INFORMER_TEST_BAD}'}]\n",
		       "cannot be a namespace");
}

/* Costs of events and consumers are configured. An absent limit keeps its default. */
TEST(queues_and_consumers_are_limited)
{
	assert_built(*state,
		     "resources: [pods]\nevents: {queueEntries: 128, maxQueueEntries: 1000, queueBytes: 1Mi, "
		     "queueSeconds: 5, maxQueueMemory: 8Mi}\nconsumers: {perUser: 2, total: 3, days: 30}\n",
		     NULL,
		     " queue_entries=128 max_queue_entries=1000 queue_bytes=1048576 max_queue_memory=8388608"
		     " queue_seconds=5 consumers_per_user=2 consumers_total=3 consumer_days=30\npods");
	assert_built(*state, "resources: [pods]\nevents:\nconsumers: {}\n", NULL, "\npods");
}
