/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a small server which cluster it is. The test changes its kube-system. The clock is virtual. */
#include "tests/room.h"
#include "tests/support/transport_world.h"
#include "tests/support/virtual_clock.h"
#include "writer/resource/cluster_guard.h"

#define QUESTION "/api/v1/namespaces/kube-system"
#define NAMESPACE(uid) "{\"kind\":\"Namespace\",\"metadata\":{\"name\":\"kube-system\",\"uid\":\"" uid "\"}}"

#define VERSION "/version"
#define RELEASE(minor) "{\"major\":\"1\",\"minor\":\"" minor "\",\"gitVersion\":\"v1.30.0\"}"

struct test {
	struct world *world;
	struct http_route routes[4];
	struct virtual_clock clock;
	struct cluster_guard guard;
	int known, changed, result, releases;
	unsigned release;
	char why[256];
	char message[256];
};

static void
on_known(void *context, int result, const char *message)
{
	struct test *t = context;

	t->known++;
	t->result = result;
	snprintf(t->message, sizeof(t->message), "%s", message);
}

static void
on_changed(void *context)
{
	struct test *t = context;

	t->changed++;
}

static void
on_release(void *context, unsigned release, const char *why)
{
	struct test *t = context;

	t->releases++;
	t->release = release;
	snprintf(t->why, sizeof(t->why), "%s", why);
}

static void
begin_anew(struct test *t)
{
	static const struct cluster_guard_events events = {on_known, on_changed, on_release};

	cluster_guard_done(&t->guard);
	cluster_guard_init(&t->guard, t->world->transport, &t->clock.clock, &events, t);
}

static int
setup(void **state)
{
	static struct test t;
	void *world = NULL;

	memset(&t, 0, sizeof(t));
	if (transport_world_setup(&world) < 0)
		return -1;
	t.world = world;
	t.routes[0] = (struct http_route){.path = QUESTION, .status = 200, .body = NAMESPACE("aaaa-1111")};
	t.routes[1] = (struct http_route){.path = "/list", .status = 200, .body = "{}"};
	t.routes[2] = (struct http_route){.path = VERSION, .status = 200, .body = RELEASE("36+")};
	serve(t.world, t.routes);
	virtual_clock_init(&t.clock);
	begin_anew(&t);
	*state = &t;
	return 0;
}

static int
teardown(void **state)
{
	struct test *t = *state;
	void *world = t->world;

	cluster_guard_done(&t->guard);
	return transport_world_teardown(&world);
}

static unsigned
questions(const struct test *t)
{
	return http_fixture_count(t->world->server, QUESTION);
}

static void
await_known(struct test *t)
{
	int before = t->known;

	assert_int_equal(cluster_guard_ask(&t->guard), 0);
	run_until(t->world, t->known > before);
}

static void
make_connection(struct test *t)
{
	fetch(t->world, "/list", TRANSPORT_FRESH);
}

/* Run until the guard's question is answered. */
static void
wait_for_answer(struct test *t)
{
	run_until(t->world, !t->guard.question);
}

/* Make a new connection, and let ten seconds pass. */
static void
be_asked_again(struct test *t)
{
	make_connection(t);
	virtual_clock_advance(&t->clock, CLUSTER_GUARD_INTERVAL_MS);
	wait_for_answer(t);
}

static void
answer(struct test *t, int status, const char *body)
{
	t->routes[0].status = status;
	t->routes[0].body = body;
}

#define GUARD_TEST(name) TEST_CASE_OF(struct test *t, setup, teardown, name)

/* The cluster's id is the UID of kube-system. The question is as cheap as the server allows. */
GUARD_TEST(the_id_is_the_uid_of_kube_system)
{
	assert_false(cluster_guard_is_known(&t->guard));
	await_known(t);
	assert_int_equal(t->result, 0);
	assert_true(cluster_guard_is_known(&t->guard));
	assert_string_equal(cluster_guard_id(&t->guard), "aaaa-1111");
	assert_string_equal(http_fixture_query(t->world->server), "resourceVersion=0");
	assert_int_equal(t->changed, 0);
}

/* The release is known before the first list. The question is repeated with that for the id. */
GUARD_TEST(the_release_is_asked_for_with_the_id)
{
	await_known(t);
	assert_int_equal(t->releases, 1);
	assert_int_equal(t->release, 1036);
	assert_int_equal(http_fixture_count(t->world->server, VERSION), 1);
	t->routes[2].body = RELEASE("37");
	be_asked_again(t);
	assert_int_equal(t->releases, 2);
	assert_int_equal(t->release, 1037);
	assert_int_equal(t->known, 1);
	be_asked_again(t);
	assert_int_equal(http_fixture_count(t->world->server, VERSION), 3);
	assert_int_equal(t->releases, 2); /* the same release */
	assert_int_equal(t->changed, 0);
}

/*
 * If the id is hidden or missing, everything goes on without an id. If the release is hidden, it is unknown,
 * which is logged once.
 */
GUARD_TEST(a_hidden_id_or_release_is_no_obstacle)
{
	static const struct {
		unsigned route;
		int status;
		const char *body, *why; /* of the release */
	} cases[] = {
		{0, 403, "{}", ""},
		{0, 404, "{}", ""},
		{0, 200, "[]", ""},
		{0, 200, "no JSON", ""},
		{0, 200, NAMESPACE(""), ""},
		{0, 200, NAMESPACE("not/an id"), ""},
		{0, 200, NAMESPACE("0123456789012345678901234567890123456789012345678901234567890123456789"),
		 ""},
		{2, 403, "{}", "403"},
		{2, 404, "{}", "404"},
		{2, 200, "{}", "no release"},
		{2, 200, "{\"major\":1,\"minor\":36}", "no release"},
		{2, 200, RELEASE(""), "no release"},
		{2, 200, "[1", "no JSON"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct http_route *route = &t->routes[cases[i].route], was = *route;

		begin_anew(t);
		route->status = cases[i].status;
		route->body = cases[i].body;
		await_known(t);
		assert_int_equal(t->result, 0);
		assert_string_equal(cluster_guard_id(&t->guard), cases[i].route == 0 ? "" : "aaaa-1111");
		assert_int_equal(t->releases, i + 1);
		assert_int_equal(t->release, cases[i].route == 0 ? 1036 : 0);
		assert_non_null(strstr(t->why, cases[i].why));
		*route = was;
	}
}

/* Until the release is known nothing begins: decoded objects would be of the wrong release. */
GUARD_TEST(the_guard_waits_for_an_unavailable_release)
{
	t->routes[2].status = 503;
	await_known(t);
	assert_int_equal(t->result, -EAGAIN);
	assert_false(cluster_guard_is_known(&t->guard));
	assert_int_equal(t->releases, 0);
	t->routes[2].status = 200;
	await_known(t);
	assert_int_equal(t->result, 0);
	assert_int_equal(t->release, 1036);
}

/* A server that cannot answer now is asked again. Until then nothing is trusted. */
GUARD_TEST(an_unavailable_server_is_asked_again)
{
	answer(t, 503, "{}");
	await_known(t);
	assert_int_equal(t->result, -EAGAIN);
	assert_non_null(strstr(t->message, "503"));
	assert_false(cluster_guard_is_known(&t->guard));
	answer(t, 401, "{}");
	await_known(t);
	assert_int_equal(t->result, -EACCES);
	assert_non_null(strstr(t->message, "does not accept the credentials (401)"));
	answer(t, 200, NAMESPACE("aaaa-1111"));
	await_known(t);
	assert_int_equal(t->result, 0);
}

/* A new connection may lead to another server: the id is asked again, at most every ten seconds. */
GUARD_TEST(a_new_connection_is_asked_which_cluster_it_leads_to)
{
	await_known(t);
	assert_int_equal(questions(t), 1);
	make_connection(t);
	make_connection(t);
	virtual_clock_advance(&t->clock, CLUSTER_GUARD_INTERVAL_MS - 1);
	assert_null(t->guard.question);
	virtual_clock_advance(&t->clock, 1);
	assert_non_null(t->guard.question);
	wait_for_answer(t);
	assert_int_equal(questions(t), 2);
	assert_int_equal(t->changed, 0);

	virtual_clock_advance(&t->clock, 10ull * CLUSTER_GUARD_INTERVAL_MS);
	assert_null(t->guard.question); /* nothing new, no question */
	make_connection(t);
	virtual_clock_advance(&t->clock, 0);
	assert_non_null(t->guard.question); /* the first connection after a while is asked at once */
	wait_for_answer(t);
	assert_int_equal(questions(t), 3);
}

/* An old connection leads to the old server: it cannot answer for a new connection. */
GUARD_TEST(no_older_connection_answers_for_a_new_one)
{
	unsigned long before;

	await_known(t);
	make_connection(t);
	before = stats_of(t->world).connections;
	virtual_clock_advance(&t->clock, CLUSTER_GUARD_INTERVAL_MS);
	wait_for_answer(t);
	assert_int_equal(stats_of(t->world).connections, before + 2);
	/* the questions' own connections are no reason to ask again */
	assert_int_equal(virtual_clock_next(&t->clock), CLOCK_NEVER);
	fetch(t->world, "/list", 0);
	assert_int_equal(stats_of(t->world).connections, before + 2);
}

/* An open connection leads to the same server. */
GUARD_TEST(a_kept_connection_is_not_asked_about)
{
	await_known(t);
	fetch(t->world, "/list", 0);
	assert_int_equal(virtual_clock_next(&t->clock), CLOCK_NEVER);
}

GUARD_TEST(another_cluster_is_reported)
{
	await_known(t);
	answer(t, 200, NAMESPACE("bbbb-2222"));
	be_asked_again(t);
	assert_int_equal(t->changed, 1);
	assert_string_equal(cluster_guard_id(&t->guard), "bbbb-2222");
}

/* An id that appears may be another cluster's. An id that is hidden later changes nothing. */
GUARD_TEST(a_new_id_is_a_change_and_a_hidden_id_is_none)
{
	answer(t, 403, "{}");
	await_known(t);
	answer(t, 200, NAMESPACE("aaaa-1111"));
	be_asked_again(t);
	answer(t, 403, "{}");
	be_asked_again(t);
	assert_int_equal(t->changed, 1);
	assert_string_equal(cluster_guard_id(&t->guard), "aaaa-1111");
}

GUARD_TEST(a_question_that_failed_is_asked_again)
{
	await_known(t);
	answer(t, 500, "{}");
	be_asked_again(t);
	assert_int_equal(t->known, 1);
	answer(t, 200, NAMESPACE("bbbb-2222"));
	virtual_clock_advance(&t->clock, CLUSTER_GUARD_INTERVAL_MS);
	run_until(t->world, t->changed);
}
