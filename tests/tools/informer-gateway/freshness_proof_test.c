/* SPDX-License-Identifier: Apache-2.0 */
/* Who must not be answered with less than upstream has: how many questions that takes, and when the wait
 * ends. */
#include <stdatomic.h>

#include "tests/tools/informer-gateway/upstream_world.h"
#include "tools/informer-gateway/freshness_proof.h"
#include "tools/informer-gateway/quiet_probe.h"

static char plural[] = "pods", group[] = "";
static const struct api_resource pods = {
	.group = group, .version = "v1", .plural = plural, .group_resource = plural, .namespaced = true};

/* Upstream: its RV, and what a watch tells. */
static _Atomic unsigned upstream_rv;
static const char *_Atomic events;
static _Atomic unsigned answers; /* that it gave */
static _Atomic bool hangs;

struct fresh_world {
	struct upstream_world *u;
	struct gw_freshness *freshness;
	uint64_t rv; /* of the arena */
};

struct told {
	struct fresh_world *f;
	struct gw_fresh_wait *wait;
	unsigned n;
	int result;
	uint64_t rv;
	char why[256];
};

static bool
answer(struct duplex *d, const struct raw_request *request)
{
	char body[160];

	if (strstr(request->head, "watch=true"))
		return raw_write_json(d, 200, atomic_load(&events));
	snprintf(body, sizeof(body),
		 "{\"kind\":\"PartialObjectMetadataList\",\"metadata\":{\"resourceVersion\":\"%u\"}}",
		 atomic_load(&upstream_rv));
	return raw_write_json(d, atomic_load(&upstream_rv) ? 200 : 403, body);
}

static bool
respond(struct raw_server *s, struct duplex *d, const struct raw_request *request, void *ctx)
{
	bool more;

	(void)ctx;
	if (atomic_load(&hangs) && !raw_server_wait(s))
		return false;
	more = answer(d, request);
	atomic_fetch_add(&answers, 1);
	return more;
}

static uint64_t
arena_rv(void *ctx, const struct api_resource *resource)
{
	struct fresh_world *f = ctx;

	assert_ptr_equal(resource, &pods);
	return f->rv;
}

static int
setup(void **state)
{
	static struct fresh_world world;
	struct fresh_world *f = &world;

	if (upstream_world_setup((void **)&f->u) < 0)
		return -1;
	f->rv = 100;
	atomic_store(&upstream_rv, 100);
	atomic_store(&events, "");
	atomic_store(&hangs, false);
	upstream_world_start(f->u, false, respond, NULL);
	f->freshness = gw_freshness_new(f->u->upstream, arena_rv, f);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fresh_world *f = *state;

	gw_freshness_free(f->freshness);
	return upstream_world_teardown((void **)&f->u);
}

static void
note(void *ctx, int result, uint64_t rv, const char *why)
{
	struct told *t = ctx;

	t->n++;
	t->result = result;
	t->rv = rv;
	snprintf(t->why, sizeof(t->why), "%s", why);
	uv_stop(&t->f->u->w->loop);
}

static void
ask(struct fresh_world *f, struct told *t)
{
	*t = (struct told){.f = f};
	t->wait = gw_fresh_wait(f->freshness, &pods, NULL, note, t);
	assert_int_equal(t->n, 0);
}

/* Upstream gave so many answers, and the time passed after which a probe begins. */
static void
pass_to_probe(struct fresh_world *f, unsigned count)
{
	test_loop_until(&f->u->w->loop, atomic_load(&answers) == count);
	test_clock_pass(&f->u->w->loop, GW_FRESH_PROBE_MS);
}

#define TEST(name) TEST_CASE_OF(struct fresh_world *f, setup, teardown, name)

/* A hundred who ask at one moment share one question, of one object as metadata, by our own way. */
TEST(a_hundred_share_one_question)
{
	static struct told told[100];
	const struct raw_request *r;

	for (int i = 0; i < 100; i++)
		ask(f, &told[i]);
	test_loop_until(&f->u->w->loop, told[99].n);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(told[i].n, 1);
		assert_int_equal(told[i].result, 0);
		assert_int_equal(told[i].rv, 100);
	}
	assert_int_equal(raw_server_count(f->u->server), 1);
	r = raw_server_request(f->u->server, 0);
	assert_ptr_equal(strstr(r->head, "GET /api/v1/pods?limit=1 HTTP/1.1\r\n"), r->head);
	assert_non_null(strstr(raw_header(r, "Accept"), "as=PartialObjectMetadataList"));
	assert_string_equal(raw_header(r, "Authorization"), "Bearer " OWN_TOKEN);
}

/* Who comes while a question is under way has one of his own: its answer may be older than his wish. */
TEST(who_comes_later_has_a_question_of_his_own)
{
	struct told first, second;

	atomic_store(&hangs, true);
	ask(f, &first);
	test_loop_until(&f->u->w->loop, raw_server_count(f->u->server) == 1);
	ask(f, &second);
	gw_fresh_cancel(first.wait);
	atomic_store(&hangs, false);
	raw_server_go(f->u->server); /* it answers the first, for whom nobody waits */
	test_loop_until(&f->u->w->loop, second.n);
	assert_int_equal(first.n, 0);
	assert_int_equal(second.result, 0);
	assert_true(gw_freshness_counters(f->freshness)->questions == 2);
}

/* The arena is behind: it is waited for, and the answer comes with the change. */
TEST(the_arena_is_waited_for)
{
	struct told t;

	atomic_store(&upstream_rv, 107);
	ask(f, &t);
	pass_to_probe(f, 1);
	assert_int_equal(gw_freshness_counters(f->freshness)->probes, 1);
	f->rv = 106;
	gw_fresh_reached(f->freshness, &pods);
	assert_int_equal(t.n, 0);
	f->rv = 107;
	gw_fresh_reached(f->freshness, &pods);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.result, 0);
	assert_int_equal(t.rv, 107);
}

/* Others changed, this resource did not: a probe from the arena's RV on says so, and that is fresh enough. */
TEST(a_quiet_resource_is_proved_quiet)
{
	struct told t;
	const struct raw_request *r;

	atomic_store(&upstream_rv, 107);
	atomic_store(&events,
		     "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"110\"}}}\n");
	ask(f, &t);
	pass_to_probe(f, 1);
	test_loop_until(&f->u->w->loop, t.n);
	assert_int_equal(t.result, 0);
	assert_int_equal(t.rv, 100);
	r = raw_server_request(f->u->server, 1);
	assert_non_null(
		strstr(r->head, "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=100&"));
}

/* The probe tells of a change: so far the arena must come, and no further. */
TEST(a_change_that_the_probe_tells_is_waited_for)
{
	struct told t;

	atomic_store(&upstream_rv, 107);
	atomic_store(&events,
		     "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"resourceVersion\":\"103\"}}}\n"
		     "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"110\"}}}\n");
	ask(f, &t);
	pass_to_probe(f, 1);
	pass_to_probe(f, 2);
	assert_int_equal(gw_freshness_counters(f->freshness)->probes, 2); /* the first has ended */
	assert_int_equal(t.n, 0);
	f->rv = 103;
	gw_fresh_reached(f->freshness, &pods);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.result, 0);
}

/* An arena that does not come is waited for three seconds; a bookmark that is too old proves nothing. */
TEST(a_wait_ends_in_its_time)
{
	struct told t;

	atomic_store(&upstream_rv, 107);
	atomic_store(&events,
		     "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"106\"}}}\n");
	ask(f, &t);
	pass_to_probe(f, 1);
	test_loop_until(&f->u->w->loop, atomic_load(&answers) == 2); /* the probe's */
	test_clock_pass(&f->u->w->loop, GW_FRESH_WAIT_MS - GW_FRESH_PROBE_MS - 1);
	assert_int_equal(t.n, 0);
	test_clock_pass(&f->u->w->loop, 1);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.result, -ETIMEDOUT);
	assert_int_equal(t.rv, 107);
	assert_string_not_equal(t.why, "");
}

/* Upstream does not let us ask, or is not there: said at once, with a reason. */
TEST(what_cannot_be_asked_is_said)
{
	struct told refused;

	atomic_store(&upstream_rv, 0);
	ask(f, &refused);
	test_loop_until(&f->u->w->loop, refused.n);
	assert_int_equal(refused.result, -EACCES);
	assert_non_null(strstr(refused.why, "403"));
}

/* An RV is a number without leading zeros; whatever else is none. */
TEST_CASE(an_rv_is_a_number)
{
	assert_int_equal(gw_rv_number("1"), 1);
	assert_true(gw_rv_number("18446744073709551615") == UINT64_MAX);
	for (const char *const *bad =
		     (const char *const[]){"", "0", "01", "-1", "1x", "18446744073709551616", NULL};
	     *bad; bad++)
		assert_int_equal(gw_rv_number(*bad), 0);
	assert_int_equal(gw_rv_number(NULL), 0);
}
