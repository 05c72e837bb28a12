/*
 * Freshness. Only the answer's status is of interest; a success is not read to its end.
 */
#include "writer/reflect/freshness.h"

#include <errno.h>
#include <stdlib.h>

struct freshness {
	struct feed feed;
	freshness_fn *on_answer;
	void *context;
	void *request;
	struct answer answer;
};

#define ENOUGH (-ECANCELED)

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct freshness *f = ctx;

	answer_begin(&f->answer, response);
	if (f->feed.on_contact)
		f->feed.on_contact(f->feed.context);
}

static int
on_data(void *ctx, const void *data, size_t length)
{
	struct freshness *f = ctx;

	return answer_is_success(&f->answer) ? ENOUGH : answer_append(&f->answer, data, length);
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct freshness *f = ctx;
	struct outcome outcome = { 0 };
	enum freshness_answer answer = FRESHNESS_KNOWN;

	f->request = NULL;
	if (!answer_is_success(&f->answer)) {
		answer_outcome(&f->answer, result, message, &outcome);
		/* A compacted RV is one that the server once had. */
		if (outcome.kind == OUTCOME_TOO_LARGE)
			answer = FRESHNESS_AHEAD;
		else if (outcome.kind != OUTCOME_EXPIRED)
			answer = FRESHNESS_UNKNOWN;
	}
	f->on_answer(f->context, answer, &outcome);
	outcome_done(&outcome);
}

int
freshness_start(const struct feed *feed, const char *version, freshness_fn *on_answer, void *context,
		struct freshness **ret_freshness)
{
	static const struct transport_callbacks callbacks = { on_response, on_data, on_done };
	struct list_params params = {
		.resource_version = version, .resource_version_match = "NotOlderThan", .limit = 1, .fresh_connection = true,
	};
	struct freshness *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->feed = *feed;
	f->on_answer = on_answer;
	f->context = context;
	r = feed->source->list(feed->source->context, &params, &callbacks, f, &f->request);
	if (r < 0) {
		free(f);
		return r;
	}
	*ret_freshness = f;
	return 0;
}

void
freshness_free(struct freshness *f)
{
	if (!f)
		return;
	if (f->request)
		f->feed.source->cancel(f->feed.source->context, f->request);
	answer_done(&f->answer);
	free(f);
}
