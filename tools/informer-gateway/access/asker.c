/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the API server, and what becomes of them; see asker.h. */
#include "tools/informer-gateway/access/asker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/informer-gateway/access/access_review.h"
#include "tools/informer-gateway/access/token_review.h"
#include "tools/serving/buf.h"
#include "writer/base/file.h"
#include "writer/base/log.h"
#include "writer/base/message.h"

#define EXPIRED_TOKEN_MS                                                                                     \
	10000 /* how long one holds that was accepted though its time is over, by our clock */
#define FOREVER_S UINT64_C(1000000000000000)
#define WARN_EVERY_MS 60000

/* A review under way; it outlives who asked first, for others may wait for it. */
struct asking {
	struct gw_asker *asker;
	struct gw_review_for what;
	struct gw_memo *memo;
	uint8_t digest[GW_DIGEST];
	char *token;                      /* whose owner is asked for; wiped */
	const struct gw_texts *audiences; /* that are asked for now; none: the API server's own */
	uint64_t expires_s;               /* what the token says of itself */
	bool keep;
};

static uint64_t
system_wall_s(void)
{
	return (uint64_t)time(NULL);
}

void
gw_asker_init(struct gw_asker *asker, const struct gw_access_config *config, const struct gw_review_way *way,
	      struct clock *clock, uint64_t (*wall_s)(void), const uint8_t *secret)
{
	*asker = (struct gw_asker){
		.clock = clock,
		.wall_s = wall_s ? wall_s : system_wall_s,
		.secret = secret,
		.keep_allowed_ms = config->keep_allowed_ms,
		.keep_refused_ms = config->keep_refused_ms,
	};
	gw_reviews_init(&asker->reviews, way, clock, config->review_timeout_ms, config->reviews);
}

void
gw_asker_done(struct gw_asker *asker)
{
	gw_reviews_done(&asker->reviews);
}

static uint64_t
now_of(const struct gw_asker *asker)
{
	return asker->clock->now_ms(asker->clock);
}

/* ---- settling ---- */

/* What was allowed is kept for longer than what was not, and nothing beyond a token's end. */
static uint64_t
keep_until(const struct asking *asking, const struct gw_verdict *verdict)
{
	uint64_t until = verdict->made_ms + (verdict->kind == GW_VERDICT_YES
						     ? asking->asker->keep_allowed_ms
						     : asking->asker->keep_refused_ms);

	if (!asking->keep)
		return 0;
	return verdict->identity && verdict->identity->expires_ms < until ? verdict->identity->expires_ms
									  : until;
}

static void
settle(struct asking *asking, struct gw_verdict *verdict)
{
	gw_memo_settle(asking->memo, asking->digest, verdict, keep_until(asking, verdict),
		       now_of(asking->asker));
	file_wipe(asking->token, asking->token ? strlen(asking->token) : 0);
	free(asking);
}

static void
warn(const char *what, int code, const char *why)
{
	if (code == 401 || code == 403)
		log_warning("%s: the API server answers %d: the gateway's own user there needs what the "
			    "ClusterRole "
			    "system:auth-delegator allows; until then requests are refused (503)",
			    what, code);
	else if (code > 0 && !*why)
		log_warning("%s: the API server answers %d; until it decides, requests are refused (503)",
			    what, code);
	else
		log_warning("%s: %s; until it decides, requests are refused (503)", what, why);
}

/* What was answered is no decision: say so, once a minute. */
static void
settle_unknown(struct asking *asking, const char *what, int code, const char *why)
{
	struct gw_asker *asker = asking->asker;
	uint64_t now = now_of(asker);

	asker->failed++;
	if (code != -ECANCELED && (asker->warned_ms == 0 || now - asker->warned_ms >= WARN_EVERY_MS)) {
		asker->warned_ms = now > 0 ? now : 1;
		warn(what, code, why);
	}
	settle(asking, gw_verdict_new(GW_VERDICT_UNKNOWN, NULL, NULL, now));
}

/* The document is wiped. */
static void
post(struct asking *asking, const char *path, char *document, gw_review_answer *answer)
{
	struct gw_asker *asker = asking->asker;
	int r = document ? gw_review_ask(&asker->reviews, asking->what, path, document, answer, asking)
			 : -ENOMEM;

	file_wipe(document, document ? strlen(document) : 0);
	if (r < 0)
		settle(asking, gw_verdict_new(GW_VERDICT_BUSY, NULL, NULL, now_of(asker)));
	else
		asker->asked++;
}

static bool
is_answer(int code)
{
	return code == 200 || code == 201;
}

/* ---- whose is it? ---- */

static void ask_for(struct asking *asking, const struct gw_texts *audiences);

/* By our clock, of what a token says by the world's; for a moment at least, as the API server has just taken
 * it. */
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
	settle(asking, gw_verdict_new(GW_VERDICT_YES, identity, NULL, now_of(asker)));
}

static void
token_answered(void *ctx, int code, const char *body, size_t length, const char *error)
{
	static const struct gw_texts own = {0};
	_cleanup_(message_freep) char *why = NULL;
	struct asking *asking = ctx;
	struct gw_identity *identity = NULL;
	int r = is_answer(code) ? gw_token_review_answer(body, length, asking->audiences, &identity, &why)
				: -EIO;

	if (r == 0)
		accept_token(asking, identity);
	else if (r == -EACCES && asking->audiences->count > 0)
		ask_for(asking, &own); /* it is not meant for us; perhaps for the API server */
	else if (r == -EACCES)
		settle(asking, gw_verdict_new(GW_VERDICT_NO, NULL, NULL, now_of(asking->asker)));
	else
		settle_unknown(asking, "TokenReview", code, why ? why : error);
}

static void
ask_for(struct asking *asking, const struct gw_texts *audiences)
{
	asking->audiences = audiences;
	post(asking, GW_TOKEN_REVIEW_PATH, gw_token_review_document(asking->token, audiences),
	     token_answered);
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

/* ---- may he? ---- */

static void
access_answered(void *ctx, int code, const char *body, size_t length, const char *error)
{
	_cleanup_(message_freep) char *why = NULL;
	_cleanup_(message_freep) char *reason = NULL;
	struct asking *asking = ctx;
	bool allowed = false;
	int r = is_answer(code) ? gw_access_review_answer(body, length, &allowed, &reason, &why) : -EIO;

	if (r < 0)
		settle_unknown(asking, "SubjectAccessReview", code, why ? why : error);
	else
		settle(asking, gw_verdict_new(allowed ? GW_VERDICT_YES : GW_VERDICT_NO, NULL, reason,
					      now_of(asking->asker)));
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
	post(asking, GW_ACCESS_REVIEW_PATH, gw_access_review_document(identity, attributes), access_answered);
}
