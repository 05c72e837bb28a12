/* SPDX-License-Identifier: Apache-2.0 */
/* The access of a running watch is reviewed again. */
#include "tests/tools/informer-gateway/access_world.h"
#include "tools/informer-gateway/access/access_watch.h"

#define MINUTE 60000ul
#define KEPT (2 * MINUTE) /* how long an allowed decision is kept */

static const struct review_token tokens[] = {
	{"t", "u", NULL, NULL}, {ACCESS_WORLD_JWT, "short", NULL, NULL}, {0}};
static const struct review_grant grants[] = {{"*", NULL, NULL, NULL, NULL, NULL, NULL, NULL}, {0}};
static const struct gw_attributes pods = {"watch", "", "v1", "pods", "", "", "", "", "", ""};

struct watched {
	struct access_world a;
	struct gw_question question;
	struct gw_access_watch *watch;
	const char *why; /* why access ended; NULL: the watch goes on */
};

static void
turned(void *ctx, const char *why)
{
	struct watched *w = ctx;

	assert_null(w->why);
	w->why = why;
	gw_access_watch_end(w->watch); /* a callback may end its own watch */
	w->watch = NULL;
}

static void
allowed(void *ctx, const struct gw_decision *decision)
{
	struct watched *w = ctx;

	assert_int_equal(decision->outcome, GW_ACCESS_ALLOWED);
	w->watch = gw_access_watch_begin(w->a.access, &w->question, decision->identity, decision->made_ms,
					 turned, w);
}

/* Add a watch with this token. */
static void
watch_by(struct watched *w, const char *authorization)
{
	w->question.authorization = authorization;
	(void)gw_access_ask(w->a.access, &w->question, allowed, w);
	review_server_answer(&w->a.server);
	assert_non_null(w->watch);
}

static int
set_up(void **state)
{
	static struct watched w;

	access_world_open(&w.a);
	w.a.server.tokens = tokens;
	w.a.server.grants = grants;
	w.question = (struct gw_question){.listener = w.a.tokens, .attributes = &pods};
	watch_by(&w, "Bearer t");
	*state = &w;
	return 0;
}

static void
close_watched(struct watched *w)
{
	gw_access_watch_end(w->watch);
	access_world_close(&w->a);
}

TEAR_DOWN(tear_down, close_watched)

/* Let time pass, then let the API server answer the reviews that are due. */
static void
pass(struct watched *w, uint64_t ms)
{
	virtual_clock_advance(&w->a.clock, ms);
	review_server_answer(&w->a.server);
}

static void
pass_seconds(struct watched *w, unsigned seconds)
{
	while (seconds-- > 0)
		pass(w, 1000);
}

#define TEST(name) TEST_CASE_OF(struct watched *w, set_up, tear_down, name)

/* Token and access are reviewed again before the decision expires. The watch goes on while it is allowed. */
TEST(a_watch_is_reviewed_before_its_decision_expires)
{
	w->a.clock.chance = 0; /* the last moment */
	for (unsigned i = 1; i <= 10; i++) {
		assert_true(virtual_clock_next(&w->a.clock) <= KEPT);
		pass(w, KEPT);
		assert_null(w->why);
		assert_int_equal(w->a.server.token_reviews, 1 + i);
		assert_int_equal(w->a.server.access_reviews, 1 + i);
	}
}

/* Each watch is reviewed at its own random time in the last quarter of the decision's life. */
TEST(the_time_of_a_review_is_random)
{
	gw_access_watch_end(w->watch);
	w->a.clock.chance = UINT32_MAX;
	(void)gw_access_ask(w->a.access, &w->question, allowed, w);
	assert_true(virtual_clock_next(&w->a.clock) >= KEPT * 3 / 4);
	assert_true(virtual_clock_next(&w->a.clock) <= KEPT * 3 / 4 + 1);
	virtual_clock_advance(&w->a.clock, KEPT * 3 / 4 + 1);
	assert_int_equal(review_server_waiting(&w->a.server), 1); /* the old decision is still valid */
}

/* 100 watches of one identity share the answers: two reviews a round. */
TEST(equal_watches_share_an_answer)
{
	struct gw_access_watch *others[100];

	w->a.clock.seed = 7;
	for (unsigned i = 0; i < 100; i++) {
		struct gw_access_watch *mine = w->watch;

		(void)gw_access_ask(w->a.access, &w->question, allowed, w);
		others[i] = w->watch;
		w->watch = mine;
	}
	pass_seconds(w, KEPT / 1000);
	assert_int_equal(w->a.server.token_reviews, 2);
	assert_int_equal(w->a.server.access_reviews, 2);
	for (unsigned i = 0; i < 100; i++)
		gw_access_watch_end(others[i]);
}

/* A watch ends when a review of its token or of its access refuses, with that review's reason. */
TEST(a_refused_review_ends_the_watch)
{
	w->a.server.grants = NULL;
	pass(w, KEPT);
	virtual_clock_advance(&w->a.clock, 0);
	assert_string_equal(w->why, "it is not allowed any more");
	w->why = NULL;
	w->a.server.grants = grants;
	pass(w, KEPT);
	watch_by(w, "Bearer t");
	w->a.server.tokens = NULL;
	pass(w, KEPT);
	virtual_clock_advance(&w->a.clock, 0);
	assert_string_equal(w->why, "its token is nobody's any more");
}

/* A watch ends when its token expires, even if the API server would still allow it. */
TEST(an_expired_token_ends_the_watch)
{
	gw_access_watch_end(w->watch);
	watch_by(w, "Bearer " ACCESS_WORLD_JWT);
	virtual_clock_advance(&w->a.clock, MINUTE - 1);
	assert_null(w->why);
	virtual_clock_advance(&w->a.clock, 2);
	assert_string_equal(w->why, "the proof of its identity has run out");
}

/* A watch outlives its last decision by five minutes while the API server is away, and no longer. */
TEST(an_absent_server_is_tolerated_for_five_minutes)
{
	w->a.server.code = -111;
	pass_seconds(w, 299);
	assert_null(w->why);
	pass_seconds(w, 3);
	assert_string_equal(w->why, "nobody could say whether it is still allowed");
}

/* A watch goes on when the API server answers again within those five minutes. */
TEST(an_api_server_that_comes_back_is_asked)
{
	w->a.server.code = -111;
	pass_seconds(w, 280);
	w->a.server.code = 0;
	pass_seconds(w, 200);
	assert_null(w->why);
}

/* A watch that a scope allowed is not reviewed again. */
TEST(a_scope_needs_no_review)
{
	struct gw_identity *identity = gw_identity_of_uid(7);
	struct gw_access_watch *watch;

	gw_access_watch_end(w->watch);
	w->watch = NULL;
	w->a.tokens->profile = GW_PROFILE_UNIX;
	watch = gw_access_watch_begin(w->a.access, &w->question, identity, 0, turned, w);
	assert_true(virtual_clock_next(&w->a.clock) == CLOCK_NEVER);
	gw_access_watch_end(watch);
	identity->expires_ms = w->a.clock.now + 1000; /* as a certificate's */
	w->watch = gw_access_watch_begin(w->a.access, &w->question, identity, 0, turned, w);
	virtual_clock_advance(&w->a.clock, 1001);
	assert_string_equal(w->why, "the proof of its identity has run out");
	gw_identity_unref(identity);
}
