/* SPDX-License-Identifier: Apache-2.0 */
/* Access of a watch, asked again while it goes on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "tests/support/review_server.h"
#include "tests/support/virtual_clock.h"
#include "tools/informer-gateway/access_watch.h"

#define MINUTE 60000ul

/* {"exp":1700000060}: a minute from when the world begins */
#define JWT "h.eyJleHAiOjE3MDAwMDAwNjB9.s"

static const struct review_token tokens[] = {{"t", "u", NULL, NULL}, {JWT, "short", NULL, NULL}, {0}};
static const struct review_grant grants[] = {{"*", NULL, NULL, NULL, NULL, NULL, NULL, NULL}, {0}};
static const struct gw_attributes pods = {"watch", "", "v1", "pods", "", "", "", "", "", ""};

struct world {
	struct virtual_clock clock;
	struct review_server server;
	struct gw_listener_config listener;
	struct gw_config config;
	struct gw_access *access;
	struct gw_question question;
	struct gw_access_watch *watch;
	const char *why; /* it turned; NULL: it goes on */
};

static uint64_t
wall_s(void)
{
	return 1700000000;
}

static void
turned(void *ctx, const char *why)
{
	struct world *w = ctx;

	assert_null(w->why);
	w->why = why;
	gw_access_watch_end(w->watch); /* at once, as may be */
	w->watch = NULL;
}

static void
allowed(void *ctx, const struct gw_decision *decision)
{
	struct world *w = ctx;

	assert_int_equal(decision->outcome, GW_ACCESS_ALLOWED);
	w->watch = gw_access_watch_begin(w->access, &w->question, decision->identity, decision->made_ms,
					 turned, w);
}

static void
world_open(struct world *w, const char *authorization)
{
	struct gw_access_options options;

	*w = (struct world){.server = {.tokens = tokens, .grants = grants},
			    .listener = {.profile = GW_PROFILE_TOKENS},
			    .question = {.attributes = &pods, .authorization = authorization}};
	virtual_clock_init(&w->clock);
	gw_config_init(&w->config);
	w->config.access.keep_allowed_ms = 4 * MINUTE;
	w->question.listener = &w->listener;
	options = (struct gw_access_options){&w->config.access, review_server_way(&w->server),
					     &w->clock.clock, wall_s};
	w->access = gw_access_new(&options);
	(void)gw_access_ask(w->access, &w->question, allowed, w);
	review_server_answer(&w->server);
	assert_non_null(w->watch);
}

static void
world_close(struct world *w)
{
	gw_access_watch_end(w->watch);
	gw_access_free(w->access);
	review_server_done(&w->server);
	gw_config_done(&w->config);
}

/* It is asked again before the decision is old, token and access, and goes on while it is allowed. */
static void
it_is_asked_again_in_time(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, "Bearer t");
	w.clock.chance = 0; /* the last moment */
	for (unsigned i = 1; i <= 10; i++) {
		assert_true(virtual_clock_next(&w.clock) <= 4 * MINUTE);
		virtual_clock_advance(&w.clock, 4 * MINUTE);
		review_server_answer(&w.server);
		assert_null(w.why);
		assert_int_equal(w.server.token_reviews, 1 + i);
		assert_int_equal(w.server.access_reviews, 1 + i);
	}
	world_close(&w);
}

/* Each at a time of its own, in the last quarter. */
static void
the_time_is_drawn(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, "Bearer t");
	gw_access_watch_end(w.watch);
	w.clock.chance = UINT32_MAX;
	(void)gw_access_ask(w.access, &w.question, allowed, &w);
	assert_true(virtual_clock_next(&w.clock) >= 3 * MINUTE);
	assert_true(virtual_clock_next(&w.clock) <= 3 * MINUTE + 1);
	virtual_clock_advance(&w.clock, 3 * MINUTE + 1);
	assert_int_equal(review_server_waiting(&w.server), 1); /* though the old decision holds still */
	world_close(&w);
}

/* Who asks the same shares the answer: 100 watches of one identity cost two reviews a turn. */
static void
equal_watches_share_an_answer(void **state)
{
	struct gw_access_watch *others[100];
	struct world w;

	(void)state;
	world_open(&w, "Bearer t");
	w.clock.seed = 7;
	for (unsigned i = 0; i < 100; i++) {
		struct gw_access_watch *mine = w.watch;

		(void)gw_access_ask(w.access, &w.question, allowed, &w);
		others[i] = w.watch;
		w.watch = mine;
	}
	for (unsigned s = 0; s < 240; s++) {
		virtual_clock_advance(&w.clock, 1000);
		review_server_answer(&w.server);
	}
	assert_int_equal(w.server.token_reviews, 2);
	assert_int_equal(w.server.access_reviews, 2);
	for (unsigned i = 0; i < 100; i++)
		gw_access_watch_end(others[i]);
	world_close(&w);
}

/* When the decision turns it ends, by the word about the token or about the access. */
static void
it_ends_when_the_decision_turns(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, "Bearer t");
	w.server.grants = NULL;
	virtual_clock_advance(&w.clock, 4 * MINUTE);
	review_server_answer(&w.server);
	virtual_clock_advance(&w.clock, 0);
	assert_string_equal(w.why, "it is not allowed any more");
	world_close(&w);
	world_open(&w, "Bearer t");
	w.server.tokens = NULL;
	virtual_clock_advance(&w.clock, 4 * MINUTE);
	review_server_answer(&w.server);
	virtual_clock_advance(&w.clock, 0);
	assert_string_equal(w.why, "its token is nobody's any more");
	world_close(&w);
}

/* It ends with its token, whatever the API server would still say. */
static void
it_ends_with_its_token(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, "Bearer " JWT);
	virtual_clock_advance(&w.clock, MINUTE - 1);
	assert_null(w.why);
	virtual_clock_advance(&w.clock, 2);
	assert_string_equal(w.why, "the proof of its identity has run out");
	world_close(&w);
}

/* While the API server is away it goes on for five minutes behind its last decision, and no longer. */
static void
nobody_to_ask_is_borne_for_five_minutes(void **state)
{
	struct world w;
	unsigned s;

	(void)state;
	world_open(&w, "Bearer t");
	w.server.code = -111;
	for (s = 0; s < 299; s++) {
		virtual_clock_advance(&w.clock, 1000);
		review_server_answer(&w.server);
		assert_null(w.why);
	}
	for (; s < 302; s++) {
		virtual_clock_advance(&w.clock, 1000);
		review_server_answer(&w.server);
	}
	assert_string_equal(w.why, "nobody could say whether it is still allowed");
	world_close(&w);
}

/* It comes back before that: all is well. */
static void
an_api_server_that_comes_back_is_asked(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, "Bearer t");
	w.server.code = -111;
	for (unsigned s = 0; s < 280; s++) {
		virtual_clock_advance(&w.clock, 1000);
		review_server_answer(&w.server);
	}
	w.server.code = 0;
	for (unsigned s = 0; s < 200; s++) {
		virtual_clock_advance(&w.clock, 1000);
		review_server_answer(&w.server);
	}
	assert_null(w.why);
	world_close(&w);
}

/* What a scope lets be asked is asked nobody again. */
static void
a_scope_asks_nobody(void **state)
{
	struct gw_identity *identity = gw_identity_of_uid(7);
	struct gw_access_watch *watch;
	struct world w;

	(void)state;
	world_open(&w, "Bearer t");
	gw_access_watch_end(w.watch);
	w.watch = NULL;
	w.listener.profile = GW_PROFILE_UNIX;
	watch = gw_access_watch_begin(w.access, &w.question, identity, 0, turned, &w);
	assert_true(virtual_clock_next(&w.clock) == CLOCK_NEVER);
	gw_access_watch_end(watch);
	identity->expires_ms = w.clock.now + 1000; /* as a certificate does */
	w.watch = gw_access_watch_begin(w.access, &w.question, identity, 0, turned, &w);
	virtual_clock_advance(&w.clock, 1001);
	assert_string_equal(w.why, "the proof of its identity has run out");
	gw_identity_unref(identity);
	world_close(&w);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(it_is_asked_again_in_time),
	cmocka_unit_test(the_time_is_drawn),
	cmocka_unit_test(equal_watches_share_an_answer),
	cmocka_unit_test(it_ends_when_the_decision_turns),
	cmocka_unit_test(it_ends_with_its_token),
	cmocka_unit_test(nobody_to_ask_is_borne_for_five_minutes),
	cmocka_unit_test(an_api_server_that_comes_back_is_asked),
	cmocka_unit_test(a_scope_asks_nobody),
};
TEST_GROUP(tests, NULL, NULL);
