/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews by the API server: what is remembered of the answers, and what bad answers do. */
#include "tests/tools/informer-gateway/access_world.h"
#include "tools/informer-gateway/access/asker.h"

/* ---- what is remembered ---- */

/* Equal questions wait for one answer. A later equal question is answered from memory. */
ACCESS_TEST(equal_questions_are_asked_once)
{
	struct gw_attributes a = access_world_pods("list", "web", "");

	for (int i = 0; i < 10; i++)
		assert_non_null(access_world_begin(w, w->tokens, "Bearer t-viewer", &a));
	assert_int_equal(review_server_waiting(&w->server), 1);
	review_server_answer(&w->server);
	assert_int_equal(w->decisions, 10);
	assert_int_equal(w->server.token_reviews, 1);
	assert_int_equal(w->server.access_reviews, 1);
	assert_null(access_world_begin(w, w->tokens, "Bearer t-viewer", &a));
	assert_int_equal(w->decisions, 11);
	a.name = "other";
	a.verb = "get";
	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-viewer", &a), GW_ACCESS_ALLOWED);
	assert_int_equal(w->server.token_reviews, 1);
	assert_int_equal(w->server.access_reviews, 2);
}

/* An allowed decision holds for its configured time. A refusal holds for its own, shorter time. */
ACCESS_TEST(decisions_expire)
{
	struct gw_attributes yes = access_world_pods("list", "web", ""),
			     no = access_world_pods("list", "", "");

	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-viewer", &yes), GW_ACCESS_ALLOWED);
	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-viewer", &no), GW_ACCESS_FORBIDDEN);
	w->server.grants = NULL; /* revoked */
	w->server.tokens = NULL;
	virtual_clock_advance(&w->clock, w->config.keep_refused_ms - 1);
	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-viewer", &no), GW_ACCESS_FORBIDDEN);
	assert_int_equal(w->server.access_reviews, 2);
	virtual_clock_advance(&w->clock, 1);
	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-viewer", &no), GW_ACCESS_FORBIDDEN);
	assert_int_equal(w->server.access_reviews, 3);
	virtual_clock_advance(&w->clock, w->config.keep_allowed_ms - w->config.keep_refused_ms - 1);
	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-viewer", &yes), GW_ACCESS_ALLOWED);
	virtual_clock_advance(&w->clock, 1);
	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-viewer", &yes), GW_ACCESS_UNAUTHENTICATED);
}

ACCESS_TEST(a_decision_ends_with_its_token)
{
	static const struct review_token own[] = {{ACCESS_WORLD_JWT, "viewer", NULL, NULL}, {0}};
	static const char header[] = "Bearer " ACCESS_WORLD_JWT;
	struct gw_attributes a = access_world_pods("list", "web", "");

	w->server.tokens = own;
	assert_int_equal(access_world_ask(w, w->tokens, header, &a), GW_ACCESS_ALLOWED);
	w->server.tokens = NULL;
	virtual_clock_advance(&w->clock, 59999);
	assert_int_equal(access_world_ask(w, w->tokens, header, &a), GW_ACCESS_ALLOWED);
	virtual_clock_advance(&w->clock, 1);
	assert_int_equal(access_world_ask(w, w->tokens, header, &a), GW_ACCESS_UNAUTHENTICATED);
}

/* A question of more than 10 kB is answered and not remembered. */
ACCESS_TEST(long_questions_are_not_remembered)
{
	struct gw_attributes a = access_world_pods("list", "web", "");
	char *selector = calloc(1, GW_QUESTION_MAX + 1);

	memset(selector, 'x', GW_QUESTION_MAX);
	a.label_selector = selector;
	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-admin", &a), GW_ACCESS_ALLOWED);
	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-admin", &a), GW_ACCESS_ALLOWED);
	assert_int_equal(w->server.token_reviews, 1);
	assert_int_equal(w->server.access_reviews, 2);
	assert_int_equal(gw_access_figures(w->access).decisions, 0);
	free(selector);
}

/* ---- what goes wrong ---- */

/* A bad answer about a token allows nothing, is not remembered, and is asked for again. */
ACCESS_TEST(a_bad_answer_about_a_token_allows_nothing)
{
	static const struct {
		int code;
		const char *body;
	} rows[] = {
		{403, "{\"kind\":\"Status\"}"},
		{500, "oops"},
		{-110, ""},
		{201, ""},
		{201, "{\"kind\":\"TokenReview\",\"status\":{\"authenticated\":true}}"},
		{201, "{\"kind\":\"TokenReview\",\"status\":{\"authenticated\":true,\"user\":{\"username\":"
		      "\"\"}}}"},
		{201,
		 "{\"kind\":\"Pod\",\"status\":{\"authenticated\":true,\"user\":{\"username\":\"admin\"}}}"},
		{302, "{\"kind\":\"TokenReview\",\"status\":{\"authenticated\":true,\"user\":{\"username\":"
		      "\"admin\"}}}"},
	};
	struct gw_attributes a = access_world_pods("list", "", "");

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		w->server.code = rows[i].code;
		w->server.body = rows[i].body;
		if (access_world_ask(w, w->tokens, "Bearer t-admin", &a) != GW_ACCESS_UNAVAILABLE)
			fail_msg("row %zu: %d", i, (int)w->got.outcome);
		assert_int_equal(w->server.token_reviews, i + 1);
	}
	w->server.code = 0;
	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-admin", &a), GW_ACCESS_ALLOWED);
}

/* A bad answer about access allows nothing. An answer of both allowed and denied is a denial. */
ACCESS_TEST(a_bad_answer_about_access_allows_nothing)
{
	static const struct {
		int code;
		const char *body;
		enum gw_outcome outcome;
	} rows[] = {
		{500, "", GW_ACCESS_UNAVAILABLE},
		{201, "{\"kind\":\"SubjectAccessReview\",\"status\":[]}", GW_ACCESS_UNAVAILABLE},
		{201, "{\"kind\":\"TokenReview\",\"status\":{\"allowed\":true}}", GW_ACCESS_UNAVAILABLE},
		{201, "{\"kind\":\"SubjectAccessReview\",\"status\":{\"allowed\":\"true\"}}",
		 GW_ACCESS_FORBIDDEN},
		{201, "{\"kind\":\"SubjectAccessReview\",\"status\":{\"allowed\":true,\"denied\":true}}",
		 GW_ACCESS_FORBIDDEN},
	};
	struct gw_attributes known = access_world_pods("list", "web", ""),
			     a = access_world_pods("list", "", "");

	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-admin", &known), GW_ACCESS_ALLOWED);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		virtual_clock_advance(&w->clock, w->config.keep_refused_ms);
		w->server.code = rows[i].code;
		w->server.body = rows[i].body;
		if (access_world_ask(w, w->tokens, "Bearer t-admin", &a) != rows[i].outcome)
			fail_msg("row %zu: %d", i, (int)w->got.outcome);
	}
}

/* A review that hangs ends at its timeout, and every question that waits for it is answered. */
ACCESS_TEST(a_review_that_hangs_ends)
{
	struct gw_attributes a = access_world_pods("list", "", "");

	assert_non_null(access_world_begin(w, w->tokens, "Bearer t-admin", &a));
	assert_non_null(access_world_begin(w, w->tokens, "Bearer t-admin", &a));
	virtual_clock_advance(&w->clock, w->config.review_timeout_ms + 1000);
	assert_int_equal(w->decisions, 2);
	assert_int_equal(w->got.outcome, GW_ACCESS_UNAVAILABLE);
	assert_int_equal(w->server.cancelled, 1);
	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-admin", &a), GW_ACCESS_ALLOWED);
}

/* A cancelled question gets no answer. The other questions for the same review get theirs. */
ACCESS_TEST(a_cancelled_question_is_not_answered)
{
	struct gw_attributes a = access_world_pods("list", "", "");
	struct gw_check *check;

	check = access_world_begin(w, w->tokens, "Bearer t-admin", &a);
	assert_non_null(access_world_begin(w, w->tokens, "Bearer t-admin", &a));
	gw_check_cancel(check);
	review_server_answer(&w->server);
	assert_int_equal(w->decisions, 1);
}

/* Ask about so many unknown tokens as one client. The API server does not answer. */
static void
flood(struct access_world *w, uint64_t client, unsigned count)
{
	struct gw_attributes a = access_world_pods("list", "", "");
	char header[48];

	w->client = client;
	for (unsigned i = 0; i < count; i++) {
		snprintf(header, sizeof(header), "Bearer guess-%u-%u", w->decisions, i);
		if (!access_world_begin(w, w->tokens, header, &a))
			assert_int_equal(w->got.outcome, GW_ACCESS_BUSY);
	}
}

/* A flood of tokens starts few reviews. Other questions are told to retry, and known decisions stay known. */
ACCESS_TEST(a_flood_of_tokens_is_bounded)
{
	struct gw_attributes a = access_world_pods("list", "", "");

	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-admin", &a), GW_ACCESS_ALLOWED);
	for (unsigned i = 0; i < 60; i++) {
		flood(w, 1 + i % 7, 500);
		assert_true(review_server_waiting(&w->server) <= w->config.reviews);
		review_server_answer(&w->server);
	}
	assert_true(gw_access_figures(w->access).tokens <= w->config.decisions / 2);
	assert_null(access_world_begin(w, w->tokens, "Bearer t-admin", &a)); /* not pushed out */
	assert_int_equal(w->got.outcome, GW_ACCESS_ALLOWED);
}

/* One client's flood takes a quarter of the reviews. Another client's questions are still asked. */
ACCESS_TEST(a_flood_leaves_room_for_other_clients)
{
	struct gw_attributes a = access_world_pods("list", "", "");

	flood(w, 1, 10000);
	assert_int_equal(review_server_waiting(&w->server), w->config.reviews / 4);
	w->client = 2;
	assert_non_null(access_world_begin(w, w->tokens, "Bearer t-admin", &a));
	assert_int_equal(review_server_waiting(&w->server), w->config.reviews / 4 + 1);
}

/* The floods of many clients leave a quarter of the reviews for running watches. */
ACCESS_TEST(floods_leave_room_for_watches)
{
	for (unsigned client = 1; client < 100; client++)
		flood(w, client, 100);
	assert_int_equal(review_server_waiting(&w->server), w->config.reviews * 3 / 4);
}

/* Running watches may take all reviews, and no more. */
ACCESS_TEST(watches_may_take_all_reviews)
{
	struct gw_attributes a = access_world_pods("watch", "", "");
	struct gw_question question = {.listener = w->tokens, .attributes = &a, .since_ms = 1};
	char header[48];

	question.authorization = header;
	for (unsigned i = 0; i < w->config.reviews + 10; i++) {
		snprintf(header, sizeof(header), "Bearer watch-%u", i);
		(void)gw_access_ask(w->access, &question, access_world_decided, w);
	}
	assert_int_equal(review_server_waiting(&w->server), w->config.reviews);
	assert_int_equal(w->decisions, 10);
	assert_int_equal(w->got.outcome, GW_ACCESS_BUSY);
}
