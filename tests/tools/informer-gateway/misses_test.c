/* SPDX-License-Identifier: Apache-2.0 */
/* What the arena does not have: who is asked, how often, and what those who wait are told. */
#include <stdatomic.h>

#include "tests/tools/informer-gateway/upstream_world.h"
#include "tools/informer-gateway/misses.h"

static char plural[] = "pods", group[] = "";
static const struct api_resource pods = {
	.group = group, .version = "v1", .plural = plural, .group_resource = plural, .namespaced = true};

struct miss_world {
	struct upstream_world *u;
	struct gw_misses *misses;
	bool has; /* the arena */
};

struct told {
	struct miss_world *m;
	unsigned n;
	enum gw_miss result;
	int code;
	char json[64];
};

static _Atomic unsigned answers; /* that upstream gave */

static bool
answer(struct duplex *d, const struct raw_request *request)
{
	if (strstr(request->head, "/none"))
		return raw_write_json(d, 404, "{}");
	if (strstr(request->head, "/secret"))
		return raw_write_json(d, 403, "{}");
	if (strstr(request->head, "/ill"))
		return raw_write_json(d, 500, "{}");
	return raw_write_json(d, 200, "{\"kind\":\"Pod\"}");
}

static bool
respond(struct raw_server *s, struct duplex *d, const struct raw_request *request, void *ctx)
{
	bool more = answer(d, request);

	(void)s;
	(void)ctx;
	atomic_fetch_add(&answers, 1);
	return more;
}

static bool
has(void *ctx, const struct api_resource *resource, const char *namespace_, const char *name)
{
	struct miss_world *m = ctx;

	(void)resource;
	(void)namespace_;
	(void)name;
	return m->has;
}

static int
setup(void **state)
{
	static struct miss_world world;
	struct miss_world *m = &world;

	if (upstream_world_setup((void **)&m->u) < 0)
		return -1;
	upstream_world_start(m->u, false, respond, NULL);
	m->misses = gw_misses_new(m->u->upstream,
				  &(struct gw_misses_options){.rate = 5, .has = has, .ctx = m});
	*state = m;
	return 0;
}

static int
teardown(void **state)
{
	struct miss_world *m = *state;

	gw_misses_free(m->misses);
	return upstream_world_teardown((void **)&m->u);
}

static void
note(void *ctx, enum gw_miss result, int code, const char *json, size_t length)
{
	struct told *t = ctx;

	assert_int_equal(strlen(json), length);
	t->n++;
	t->result = result;
	t->code = code;
	snprintf(t->json, sizeof(t->json), "%s", json);
	uv_stop(&t->m->u->w->loop);
}

static struct gw_miss_wait *
ask(struct miss_world *m, struct told *t, const char *name, const char *bearer)
{
	struct gw_miss_wait *wait;

	*t = (struct told){.m = m};
	wait = gw_miss_ask(m->misses, &pods, "default", name, bearer, note, t);
	assert_int_equal(t->n, 0);
	return wait;
}

static unsigned
asked_by(struct miss_world *m, const char *who)
{
	unsigned n = 0;

	for (unsigned i = 0; i < raw_server_count(m->u->server); i++)
		n += strcmp(raw_header(raw_server_request(m->u->server, i), "Authorization"), who) == 0;
	return n;
}

/* The arena does not have it in its time; upstream is asked, and answers. */
static void
let_upstream_answer(struct miss_world *m, unsigned count)
{
	test_clock_pass(&m->u->w->loop, GW_MISS_PATIENCE_MS);
	test_loop_until(&m->u->w->loop, atomic_load(&answers) == count);
}

#define TEST(name) TEST_CASE_OF(struct miss_world *m, setup, teardown, name)

/* A hundred who want the same with the same right cause one question; another right asks for itself. */
TEST(the_same_is_asked_once)
{
	static struct told told[100];
	struct told other;

	for (int i = 0; i < 100; i++)
		ask(m, &told[i], "web", "theirs");
	ask(m, &other, "web", "another's");
	let_upstream_answer(m, 2);
	test_clock_pass(&m->u->w->loop, GW_MISS_ARENA_MS - GW_MISS_PATIENCE_MS);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(told[i].n, 1);
		assert_int_equal(told[i].result, GW_MISS_FOUND);
		assert_string_equal(told[i].json, "{\"kind\":\"Pod\"}");
	}
	assert_int_equal(raw_server_count(m->u->server), 2);
	assert_ptr_equal(strstr(raw_server_request(m->u->server, 0)->head,
				"GET /api/v1/namespaces/default/pods/web HTTP/1.1\r\n"),
			 raw_server_request(m->u->server, 0)->head);
	assert_int_equal(asked_by(m, "Bearer theirs"), 1);
	assert_int_equal(asked_by(m, "Bearer another's"), 1);
}

/* What the arena has within its time is answered from there; upstream is not asked at all. */
TEST(what_the_arena_gets_in_time_is_answered_from_there)
{
	struct told t;

	ask(m, &t, "web", NULL);
	gw_misses_changed(m->misses, &pods);
	m->has = true;
	gw_misses_changed(m->misses, &pods);
	test_loop_until(&m->u->w->loop, t.n);
	assert_int_equal(t.result, GW_MISS_THERE);
	assert_int_equal(raw_server_count(m->u->server), 0);
}

/* Upstream has it: the arena is preferred, if it has it within the second. */
TEST(upstreams_object_waits_for_the_arenas)
{
	struct told t;

	ask(m, &t, "web", NULL);
	let_upstream_answer(m, 1);
	test_clock_pass(&m->u->w->loop, GW_MISS_ARENA_MS - GW_MISS_PATIENCE_MS - 1);
	assert_int_equal(t.n, 0);
	m->has = true;
	gw_misses_changed(m->misses, &pods);
	test_loop_until(&m->u->w->loop, t.n);
	assert_int_equal(t.result, GW_MISS_THERE);
	assert_string_equal(raw_header(raw_server_request(m->u->server, 0), "Authorization"),
			    "Bearer " OWN_TOKEN);
}

/* A no is remembered for a second, for the same right alone; what is not known is told as that. */
TEST(a_refusal_is_remembered)
{
	struct told none, again, secret, ill;

	ask(m, &none, "none", "a");
	ask(m, &secret, "secret", "a");
	ask(m, &ill, "ill", "a");
	let_upstream_answer(m, 3);
	test_loop_until(&m->u->w->loop, none.n && secret.n && ill.n);
	assert_int_equal(none.result, GW_MISS_ABSENT);
	assert_int_equal(secret.result, GW_MISS_REFUSED);
	assert_int_equal(secret.code, 403);
	assert_int_equal(ill.result, GW_MISS_LATER);
	ask(m, &again, "none", "a");
	test_loop_until(&m->u->w->loop, again.n);
	assert_int_equal(again.result, GW_MISS_ABSENT);
	assert_int_equal(raw_server_count(m->u->server), 3);
	/* until the arena has it */
	m->has = true;
	gw_misses_changed(m->misses, &pods);
	ask(m, &again, "none", "a");
	test_loop_until(&m->u->w->loop, again.n);
	assert_int_equal(again.result, GW_MISS_THERE);
}

/* More than the rate is not asked, and it is not said that there is none. */
TEST(more_than_the_rate_is_for_later)
{
	static struct told told[30];
	unsigned later = 0;
	char name[16];

	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "none-%d", i);
		ask(m, &told[i], name, "a");
	}
	test_clock_pass(&m->u->w->loop, GW_MISS_PATIENCE_MS);
	for (int i = 0; i < 30; i++) {
		test_loop_until(&m->u->w->loop, told[i].n);
		later += told[i].result == GW_MISS_LATER;
	}
	assert_int_equal(later, 20); /* two seconds of the rate are asked */
	assert_int_equal(raw_server_count(m->u->server), 30 - later);
}

/* A name is a segment of the path, whatever it holds; who has gone is not told. */
TEST(a_name_stays_one_segment)
{
	struct told t, gone;

	gw_miss_cancel(ask(m, &gone, "web", "a"));
	ask(m, &t, "a/../none?x\r\n", "a");
	let_upstream_answer(m, 2);
	test_clock_pass(&m->u->w->loop, GW_MISS_ARENA_MS - GW_MISS_PATIENCE_MS);
	assert_int_equal(t.n, 1);
	assert_int_equal(gone.n, 0);
	assert_true(strstr(raw_server_request(m->u->server, 0)->head, "/a%2F..%2Fnone%3Fx%0D%0A HTTP/1.1") ||
		    strstr(raw_server_request(m->u->server, 1)->head, "/a%2F..%2Fnone%3Fx%0D%0A HTTP/1.1"));
}
