/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two configurations, and what that costs. */
#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/base/message.h"
#include "writer/config/options.h"
#include "writer/resource/reload_plan.h"
#include "writer/config/config_check.h"
#include "writer/config/config_build.h"

static struct kube_resource pods = {.group = "", .version = "v1", .resource = "pods", .namespaced = true};
static struct kube_resource services = {
	.group = "", .version = "v1", .resource = "services", .namespaced = true};
static struct kube_resource widgets = {
	.group = "example.com", .version = "v1", .resource = "widgets", .namespaced = true};
static struct kube_resource newer_widgets = {
	.group = "example.com", .version = "v2", .resource = "widgets", .namespaced = true};

static const struct kube_resource *
meaning(const char *name)
{
	static const struct {
		const char *name;
		const struct kube_resource *is;
	} names[] = {{"pods", &pods},
		     {"po", &pods},
		     {"services", &services},
		     {"widgets.example.com", &widgets},
		     {"widgets.v2.example.com", &newer_widgets}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].is;
	return NULL; /* nobody knows it yet */
}

struct side {
	struct config config;
	const struct kube_resource **resolved;
};

static struct side
side_of(const char *dir, const char *yaml)
{
	char *argv[] = {"informerd", "--server", "http://a", "--config",
			(char *)(uintptr_t)temp_file(dir, "c.yaml", yaml)};
	_cleanup_(message_freep) char *error = NULL;
	struct options options;
	struct side side;
	const char **names;

	assert_int_equal(options_parse(5, argv, &options, &error), 0);
	if (config_build(&options, &side.config, &error) < 0)
		fail_msg("%s: %s", yaml, error);
	options_done(&options);
	names = config_names(&side.config);
	side.resolved = calloc(side.config.n_resources + side.config.n_indexes + 1,
			       sizeof(const struct kube_resource *));
	for (size_t i = 0; i < side.config.n_resources + side.config.n_indexes; i++)
		side.resolved[i] = meaning(names[i]);
	free(names);
	return side;
}

static void
side_done(struct side *side)
{
	config_done(&side->config);
	free(side->resolved);
}

/* Both configurations, what is said of the plan, and which fields wait. */
static void
assert_plan(const char *dir, const char *before_yaml, const char *after_yaml, const char *text,
	    const char *later)
{
	struct side before = side_of(dir, before_yaml), after = side_of(dir, after_yaml);
	struct reload_plan plan;
	char *said, *waits;

	assert_int_equal(reload_plan_make(&(struct reload_side){&before.config, before.resolved},
					  &(struct reload_side){&after.config, after.resolved}, &plan), 0);
	said = reload_plan_text(&plan, &before.config, &after.config);
	waits = reload_plan_later_text(&plan);
	if (strcmp(said, text) != 0 || strcmp(waits, later) != 0)
		fail_msg("from\n%s\nto\n%s\n'%s' instead of '%s'; '%s' instead of '%s'", before_yaml,
			 after_yaml, said, text, waits, later);
	assert_int_equal(reload_plan_is_empty(&plan), *text == '\0');
	free(said);
	free(waits);
	reload_plan_done(&plan);
	side_done(&before);
	side_done(&after);
}

struct row {
	const char *before, *after, *text, *later;
};

static void
check_rows(const char *dir, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_plan(dir, rows[i].before, rows[i].after, rows[i].text,
			    rows[i].later ? rows[i].later : "");
}
#define CHECK(rows) check_rows(*state, rows, sizeof(rows) / sizeof(*(rows)))

#define POD(more) "resources: [{resource: pods" more "}]\n"
#define PODS	  POD("")

#define TEST(name) TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, name)

/* What a running daemon can take over is told apart from what it cannot, field by field. */
TEST(fields_count_now_or_wait_for_a_restart)
{
	static const struct row rows[] = {
		{PODS, PODS "logLevel: debug\n", "logLevel", ""},
		{PODS, PODS "access: {uids: [1], gids: [2]}\n", "access.uids, access.gids", ""},
		{PODS "access: {uids: [1]}\n", PODS "access: {uids: [2]}\n", "access.uids", ""},
		{PODS, PODS "access: {maxReaders: 9}\n", "", "access.maxReaders"},
		{PODS, PODS "arena: {maxBytes: 1Gi, holdBytes: 1Mi, holdSeconds: 5}\n",
		 "arena.maxBytes, arena.holdBytes, arena.holdSeconds", ""},
		{PODS, PODS "arena: {dir: /tmp, name: n}\n", "", "arena.dir, arena.name"},
		{PODS,
		 PODS "events: {queueEntries: 128, maxQueueEntries: 256, queueBytes: 1Mi, queueSeconds: 5}\n",
		 "events.queueEntries, events.maxQueueEntries, events.queueBytes, events.queueSeconds", ""},
		{PODS, PODS "events: {maxQueueMemory: 8Mi}\n", "events.maxQueueMemory", ""},
		{PODS, PODS "consumers: {perUser: 1, total: 2, days: 3}\n",
		 "consumers.perUser, consumers.total, consumers.days", ""},
		{PODS, PODS "watchTimeout: 1h\nbackoff: {initial: 1s, max: 20s, reset: 1m}\n",
		 "watchTimeout, backoff.initial, backoff.max, backoff.reset", ""},
		{PODS, PODS "checkEvery: 1h\n", "checkEvery", ""},
		{PODS, PODS "allowSecrets: true\n", "allowSecrets", ""},
		{PODS "socket: /tmp/a\narena: {name: n}\n", PODS "socket: /tmp/b\narena: {name: n}\n", "",
		 "socket"},
		{PODS, PODS "metricsAddress: ':1'\n", "", "metricsAddress"},
		{PODS,
		 PODS "context: c\ncluster: c\nuser: u\ntlsServerName: n\nas: a\nasUid: i\nasGroups: "
		      "[g]\nrequestTimeout: 3s\n"
		      "insecureSkipTlsVerify: true\n",
		 "",
		 "context, cluster, user, insecureSkipTlsVerify, tlsServerName, as, asUid, requestTimeout, "
		 "asGroups"},
		{PODS "asGroups: [a]\n", PODS "asGroups: [b]\n", "", "asGroups"},
		{PODS "compression: gzip\n", PODS, "", "compression"},
		{PODS "schema: /a\n", PODS "schema: /b\n", "", "schema"},
		{PODS "schema: /a\n", PODS, "", "schema"},
		{PODS,
		 PODS "kubeconfig: /k\ncertificateAuthority: /a\nclientCertificate: /c\nclientKey: /k\n", "",
		 "kubeconfig, certificateAuthority, clientCertificate, clientKey"},
	};

	CHECK(rows);
}

/* Less is kept of what is there: no list. More: a list. The same in other words: neither. */
TEST(what_is_kept_costs_a_list_only_when_it_grows)
{
	static const struct row rows[] = {
		{PODS, POD(", drop: [spec.volumes]"), "pods: more is dropped", ""},
		{POD(", drop: [spec.volumes]"), PODS, "pods: more is kept", ""},
		{POD(", drop: [spec]"), POD(", drop: [spec.volumes]"), "pods: more is kept", ""},
		{POD(", drop: [spec.volumes]"), POD(", drop: [spec]"), "pods: more is dropped", ""},
		{POD(", drop: [spec.a]"), POD(", drop: [spec.ab]"), "pods: more is kept, more is dropped",
		 ""},
		{POD(", drop: [spec.a, spec.b]"), POD(", drop: [spec.b, spec.a]"), "pods: on demand or order",
		 ""},
		/* it finds nothing to drop */
		{POD(", drop: [spec, 'spec.a[*].b']"), POD(", drop: [spec]"), "pods: more is dropped", ""},
		{PODS, PODS "keepManagedFields: true\n", "pods: more is kept", ""},
		{PODS "keepManagedFields: true\n", PODS, "pods: more is dropped", ""},
		{PODS, POD(", metadataOnly: true"), "pods: more is dropped", ""},
		{POD(", metadataOnly: true"), PODS, "pods: more is kept", ""},
	};

	CHECK(rows);
}

/* Another index needs no list, and concerns its resource alone; how its resource is spelt does not matter. */
TEST(indexes_belong_to_their_resource)
{
#define BOTH "resources: [pods, services]\n"
	static const struct row rows[] = {
		{BOTH, BOTH "indexes: ['a=pods:x']\n", "pods: indexes", ""},
		{BOTH "indexes: ['a=pods:x']\n", BOTH, "pods: indexes", ""},
		{BOTH "indexes: ['a=pods:x']\n", BOTH "indexes: ['a=pods:y']\n", "pods: indexes", ""},
		{BOTH "indexes: ['a=pods:x']\n", BOTH "indexes: ['a=pods:x:split=,']\n", "pods: indexes", ""},
		{BOTH "indexes: ['a=pods:x', 'b=pods:x']\n", BOTH "indexes: ['b=pods:x', 'a=pods:x']\n",
		 "pods: indexes", ""},
		{BOTH "indexes: ['a=pods:x']\n", BOTH "indexes: ['a=services:x']\n",
		 "pods: indexes; services: indexes", ""},
		{BOTH "indexes: ['a=pods:x']\n", BOTH "indexes: ['a=po:x']\n", "", ""},
		{BOTH "indexes: ['a=pods:x', 'b=services:y']\n",
		 BOTH "indexes: ['b=services:y', 'a=pods:x']\n", "", ""},
	};

	CHECK(rows);
}

/*
 * Resources come and go; what is still there is known by resource and namespace, and nothing is asked of it
 * again.
 */
TEST(entries_are_known_by_resource_and_namespace)
{
	static const struct row rows[] = {
		{PODS, "resources: [pods, services]\n", "services: new", ""},
		{"resources: [pods, services]\n", PODS, "services: gone", ""},
		{"resources: [pods, services]\n", "resources: [services, po]\n", "", ""},
		{PODS, "resources: [services]\n", "services: new; pods: gone", ""},
		{POD(", namespaces: [a, b]"), POD(", namespaces: [b, c]"), "pods in c: selection", ""},
		{POD(", namespaces: [a, b]"), POD(", namespaces: [b]"), "pods in a: gone", ""},
		{POD(", namespaces: [a]"), POD(", namespaces: [b, a]"), "pods in b: new", ""},
		{POD(", namespaces: [a, b]"), PODS, "pods: selection; pods in b: gone", ""},
		/* nobody knows what that is */
		{"resources: [gadgets, pods]\n", "resources: [pods, gadgets]\n", "", ""},
		{"resources: [gadgets]\n", "resources: [gizmos]\n", "gizmos: new; gadgets: gone", ""},
	};

	CHECK(rows);
}

/* Another selection, or version of the API, is listed. */
TEST(another_selection_is_listed)
{
	static const struct row rows[] = {
		{PODS, POD(", namespace: a"), "pods in a: selection", ""},
		{POD(", labelSelector: a=b"), POD(", labelSelector: a=c"), "pods: selection", ""},
		{POD(", fieldSelector: spec.nodeName=a"), PODS, "pods: selection", ""},
		{"resources: [widgets.example.com]\n", "resources: [widgets.v2.example.com]\n",
		 "widgets.v2.example.com: selection", ""},
		{PODS, PODS "namespace: a\n", "pods in a: selection", ""},
	};

	CHECK(rows);
}

/* What is chosen about lists and deletions changes nothing of what is there. */
TEST(choices_change_nothing_of_what_is_there)
{
	static const struct row rows[] = {
		{PODS, POD(", pageSize: 7"), "pods: way of listing", ""},
		{PODS, POD(", resourceVersion: latest"), "pods: way of listing", ""},
		{PODS, PODS "watchList: false\n", "pods: way of listing", ""},
		{PODS, PODS "wire: json\n", "pods: way of listing", ""},
		{PODS "wire: json\n", POD(", wire: auto") "wire: json\n", "pods: way of listing", ""},
		{PODS "wire: auto\n", PODS, "", ""},
		{PODS, POD(", tombstones: {count: 0}"), "pods: tombstones", ""},
		{PODS, PODS "tombstones: {seconds: 3}\n", "pods: tombstones", ""},
		{PODS, POD(", optional: true"), "pods: optional", ""},
		{PODS, POD(", onDemand: true"), "pods: on demand or order", ""},
		{PODS, "# a comment\n\n" PODS, "", ""},
	};

	CHECK(rows);
}

/*
 * What has to wait is in the new configuration as it was in the old one, and the old one has what is to be
 * freed.
 */
TEST(what_waits_is_kept_as_it_was)
{
	struct side before = side_of(*state, PODS "socket: /tmp/a\ncontext: x\nasGroups: [g, h]\narena: "
						  "{name: n}\nlogLevel: error\n"),
		    after = side_of(
			    *state,
			    PODS "socket: /tmp/b\narena: {name: m}\nmetricsAddress: ':1'\nlogLevel: debug\n");

	reload_keep_later(&before.config, &after.config);
	assert_string_equal(after.config.socket, "/tmp/a");
	assert_string_equal(after.config.choice.context, "x");
	assert_int_equal(after.config.choice.n_as_groups, 2);
	assert_string_equal(after.config.arena_name, "n");
	assert_null(after.config.metrics_address);
	assert_int_not_equal(after.config.log_level, before.config.log_level);
	assert_string_equal(before.config.metrics_address, ":1");
	side_done(&before);
	side_done(&after);
}
