/* SPDX-License-Identifier: Apache-2.0 */
/* Sending reviews, and storing their answers; see asker.h. */
#include "tools/informer-gateway/access/asker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/informer-gateway/access/reviews.h"
#include "tools/serving/buf.h"
#include "writer/base/file.h"
#include "writer/base/log.h"
#include "writer/base/message.h"

#define EXPIRED_TOKEN_MS                                                                                     \
	10000 /* minimum lifetime of a token that the API server accepts, even if our clock says expired */
#define FOREVER_S UINT64_C(1000000000000000)
#define WARN_EVERY_MS 60000

/* A review in flight. Further checks may wait for its answer, also after the first one is cancelled. */
struct asking {
	LIST_ENTRY(asking) others;
	struct gw_asker *asker;
	struct gw_review_for what;
	void *call;
	struct clock_timer timer; /* the review's timeout */
	struct gw_memo *memo;
	uint8_t digest[GW_DIGEST];
	char *token; /* TokenReview: the token, wiped at the end; NULL: SubjectAccessReview */
	const struct gw_texts *audiences; /* requested audiences; none: the API server's own */
	uint64_t expires_s;               /* from the token's claims */
	bool keep;
};

static uint64_t
system_wall_s(void)
{
	return (uint64_t)time(NULL);
}

void
gw_asker_init(struct gw_asker *asker, const struct gw_access_options *options, const uint8_t *secret)
{
	*asker = (struct gw_asker){
		.way = options->way,
		.clock = options->clock,
		.wall_s = options->wall_s ? options->wall_s : system_wall_s,
		.config = *options->config,
		.secret = secret,
	};
}

static uint64_t
now_of(const struct gw_asker *asker)
{
	return asker->clock->now_ms(asker->clock);
}

/* ---- answers ---- */

/* Allowed decisions are kept longer than refusals; none is kept beyond the token's expiry. */
static uint64_t
keep_until(const struct asking *asking, const struct gw_decision *decision)
{
	const struct gw_access_config *config = &asking->asker->config;
	const struct gw_identity *identity = decision->identity;
	uint64_t until = decision->made_ms + (decision->outcome == GW_ACCESS_ALLOWED
						      ? config->keep_allowed_ms
						      : config->keep_refused_ms);

	if (!asking->keep)
		return 0;
	return identity && identity->expires_ms < until ? identity->expires_ms : until;
}

static void
answer(struct asking *asking, enum gw_outcome outcome, struct gw_identity *identity, const char *reason)
{
	uint64_t now = now_of(asking->asker);
	struct gw_decision *decision = gw_decision_new(outcome, identity, reason, now);

	gw_memo_answer(asking->memo, asking->digest, decision, keep_until(asking, decision), now);
	file_wipe(asking->token, asking->token ? strlen(asking->token) : 0);
	free(asking);
}

static void
warn(const char *what, int code, const char *why)
{
	if (code == 401 || code == 403)
		log_warning("%s: the API server answers %d; bind ClusterRole system:auth-delegator to the "
			    "gateway's user; until then requests are refused (503)",
			    what, code);
	else if (code > 0 && !*why)
		log_warning("%s: the API server answers %d; until it decides, requests are refused (503)",
			    what, code);
	else
		log_warning("%s: %s; until it decides, requests are refused (503)", what, why);
}

/* The review failed: log it, at most once a minute. */
static void
answer_unknown(struct asking *asking, int code, const char *why)
{
	struct gw_asker *asker = asking->asker;
	uint64_t now = now_of(asker);

	asker->failed++;
	if (code != -ECANCELED && (asker->warned_ms == 0 || now - asker->warned_ms >= WARN_EVERY_MS)) {
		asker->warned_ms = now > 0 ? now : 1;
		warn(asking->token ? "TokenReview" : "SubjectAccessReview", code, why);
	}
	answer(asking, GW_ACCESS_UNAVAILABLE, NULL, "");
}

/* ---- reviews ---- */

static unsigned
at_least_one(unsigned n)
{
	return n > 0 ? n : 1;
}

static bool
has_room(const struct gw_asker *asker, struct gw_review_for what)
{
	unsigned for_requests = at_least_one(asker->config.reviews * 3 / 4), of_client = 0;
	const struct asking *other;

	if (asker->count >= asker->config.reviews)
		return false;
	if (what.again)
		return true;
	LIST_FOREACH(other, &asker->under_way, others)
		of_client += !other->what.again && other->what.client == what.client;
	return asker->requests < for_requests && of_client < at_least_one(for_requests / 3);
}

static void token_answered(struct asking *asking, int code, const char *body, size_t length,
			   const char *error);
static void access_answered(struct asking *asking, int code, const char *body, size_t length,
			    const char *error);

static void
answered(void *ctx, int code, const char *body, size_t length, const char *error)
{
	struct asking *asking = ctx;
	struct gw_asker *asker = asking->asker;

	LIST_REMOVE(asking, others);
	asker->count--;
	asker->requests -= !asking->what.again;
	clock_clear(asker->clock, &asking->timer);
	if (asking->token)
		token_answered(asking, code, body, length, error);
	else
		access_answered(asking, code, body, length, error);
}

static void
cut(struct asking *asking, int code, const char *why)
{
	asking->asker->way.cancel(asking->call);
	answered(asking, code, "", 0, why);
}

static void
too_late(void *ctx)
{
	cut(ctx, -ETIMEDOUT, "there was no answer in time");
}

/* Send the document, then wipe it. */
static void
post(struct asking *asking, const char *path, char *document)
{
	struct gw_asker *asker = asking->asker;
	bool room = has_room(asker, asking->what);

	asking->call = room ? asker->way.post(asker->way.ctx, path, document, answered, asking) : NULL;
	file_wipe(document, strlen(document));
	if (!room) {
		answer(asking, GW_ACCESS_BUSY, NULL, "");
		return;
	}
	if (!asking->call) {
		answer_unknown(asking, -EINVAL, "this cannot be asked");
		return;
	}
	LIST_INSERT_HEAD(&asker->under_way, asking, others);
	asker->count++;
	asker->requests += !asking->what.again;
	asker->asked++;
	clock_set(asker->clock, &asking->timer, asker->config.review_timeout_ms, too_late, asking);
}

void
gw_asker_done(struct gw_asker *asker)
{
	while (!LIST_EMPTY(&asker->under_way))
		cut(LIST_FIRST(&asker->under_way), -ECANCELED, "the gateway ends");
}

static bool
is_answer(int code)
{
	return code == 200 || code == 201;
}

/* ---- tokens ---- */

/*
 * Convert an expiry in wall-clock time to our clock. The result is at least EXPIRED_TOKEN_MS ahead, because
 * the API server has just accepted the token.
 */
uint64_t
gw_asker_expiry_ms(const struct gw_asker *asker, uint64_t expires_s)
{
	uint64_t wall_s = asker->wall_s(), left_ms;

	if (expires_s >= FOREVER_S)
		return UINT64_MAX;
	left_ms = expires_s > wall_s ? (expires_s - wall_s) * 1000 : 0;
	return now_of(asker) + (left_ms > EXPIRED_TOKEN_MS ? left_ms : EXPIRED_TOKEN_MS);
}

static void
accept_token(struct asking *asking, struct gw_identity *identity)
{
	struct gw_asker *asker = asking->asker;

	identity->expires_ms = gw_asker_expiry_ms(asker, asking->expires_s);
	gw_identity_seal(identity, asker->secret);
	asking->keep = gw_identity_size(identity) <= GW_QUESTION_MAX;
	answer(asking, GW_ACCESS_ALLOWED, identity, "");
}

static void
ask_for(struct asking *asking, const struct gw_texts *audiences)
{
	asking->audiences = audiences;
	post(asking, GW_TOKEN_REVIEW_PATH, gw_token_review_document(asking->token, audiences));
}

static void
token_answered(struct asking *asking, int code, const char *body, size_t length, const char *error)
{
	static const struct gw_texts own = {0};
	_cleanup_(message_freep) char *why = NULL;
	struct gw_identity *identity = NULL;
	int r = is_answer(code) ? gw_token_review_answer(body, length, asking->audiences, &identity, &why)
				: -EIO;

	if (r == 0)
		accept_token(asking, identity);
	else if (r == -EACCES && asking->audiences->count > 0)
		ask_for(asking, &own); /* not for our audiences: review it for the API server's own */
	else if (r == -EACCES)
		answer(asking, GW_ACCESS_UNAUTHENTICATED, NULL, "");
	else
		answer_unknown(asking, code, why ? why : error);
}

void
gw_ask_identity(struct gw_asker *asker, struct gw_review_for what, struct gw_memo *memo,
		const uint8_t digest[GW_DIGEST], const char *token, size_t length,
		const struct gw_texts *audiences)
{
	struct asking *asking = api_alloc(sizeof(*asking));

	*asking = (struct asking){.asker = asker,
				  .what = what,
				  .memo = memo,
				  .token = api_strndup(token, length),
				  .expires_s = gw_token_expiry(token, length),
				  .keep = true};
	memcpy(asking->digest, digest, GW_DIGEST);
	ask_for(asking, audiences);
}

/* ---- access ---- */

static void
access_answered(struct asking *asking, int code, const char *body, size_t length, const char *error)
{
	_cleanup_(message_freep) char *why = NULL;
	_cleanup_(message_freep) char *reason = NULL;
	bool allowed = false;
	int r = is_answer(code) ? gw_access_review_answer(body, length, &allowed, &reason, &why) : -EIO;

	if (r < 0)
		answer_unknown(asking, code, why ? why : error);
	else
		answer(asking, allowed ? GW_ACCESS_ALLOWED : GW_ACCESS_FORBIDDEN, NULL, reason);
}

void
gw_ask_decision(struct gw_asker *asker, struct gw_review_for what, struct gw_memo *memo,
		const uint8_t digest[GW_DIGEST], const struct gw_identity *identity,
		const struct gw_attributes *attributes)
{
	struct asking *asking = api_alloc(sizeof(*asking));

	*asking = (struct asking){.asker = asker, .what = what, .memo = memo};
	asking->keep = gw_attributes_size(attributes) + gw_identity_size(identity) <= GW_QUESTION_MAX;
	memcpy(asking->digest, digest, GW_DIGEST);
	post(asking, GW_ACCESS_REVIEW_PATH, gw_access_review_document(identity, attributes));
}
