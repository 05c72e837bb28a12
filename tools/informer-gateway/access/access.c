/* SPDX-License-Identifier: Apache-2.0 */
/* Access by profile: identity, scope, reviews; see access.h. */
#include "tools/informer-gateway/access/access.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

#include "tools/informer-gateway/access/client_names.h"
#include "tools/informer-gateway/http/request_form.h"
#include "tools/serving/buf.h"

#define OUT_OF_SCOPE "it is not in the scope of this listener"

struct gw_access {
	struct clock *clock;
	struct gw_memo *tokens, *decisions;
	struct gw_asker asker;
	struct gw_identity *nobody;
	uint8_t secret[GW_DIGEST];
	struct gw_access_figures figures;
};

struct gw_check {
	struct gw_access *access;
	struct gw_question question;
	void (*done)(void *ctx, const struct gw_decision *decision);
	void *ctx;
	struct gw_waiter waiter;
	struct gw_identity *identity; /* the token's identity; NULL: not known yet */
	unsigned alternative; /* the one under review */
	uint64_t made_ms;
	bool *over; /* set when the check is freed within gw_access_ask() */
};

struct gw_access *
gw_access_new(const struct gw_access_options *options)
{
	struct gw_access *access = api_alloc(sizeof(*access));

	*access = (struct gw_access){
		.clock = options->clock,
		.tokens = gw_memo_new(options->config->decisions / 2),
		.decisions = gw_memo_new(options->config->decisions),
		.nobody = gw_identity_new(GW_IDENTITY_NOBODY, "system:anonymous", ""),
	};
	randombytes_buf(access->secret, sizeof(access->secret));
	gw_identity_seal(access->nobody, access->secret);
	gw_asker_init(&access->asker, options, access->secret);
	return access;
}

void
gw_access_free(struct gw_access *access)
{
	if (!access)
		return;
	gw_asker_done(&access->asker);
	gw_memo_free(access->tokens);
	gw_memo_free(access->decisions);
	gw_identity_unref(access->nobody);
	sodium_memzero(access->secret, sizeof(access->secret));
	free(access);
}

/* The cache key of a token: a keyed hash, from which nobody can recover the token. */
static void
token_digest(const struct gw_access *access, const struct gw_texts *audiences, const char *token,
	     size_t length, uint8_t digest[GW_DIGEST])
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, access->secret, GW_DIGEST, GW_DIGEST);
	crypto_generichash_update(&state, (const uint8_t *)token, length);
	for (size_t i = 0; i < audiences->count; i++) {
		crypto_generichash_update(&state, (const uint8_t *)"", 1);
		crypto_generichash_update(&state, (const uint8_t *)audiences->items[i],
					  strlen(audiences->items[i]));
	}
	crypto_generichash_final(&state, digest, GW_DIGEST);
	sodium_memzero(&state, sizeof(state));
}

void
gw_access_bearer_key(const struct gw_access *access, const char *authorization, uint8_t key[GW_DIGEST])
{
	static const struct gw_texts none;
	size_t length = 0;
	const char *token = gw_bearer_token(authorization, &length);

	token_digest(access, &none, token ? token : "", length, key);
}

/* ---- checks ---- */

static void
check_free(struct gw_check *check)
{
	if (check->over)
		*check->over = true;
	gw_waiter_leave(&check->waiter);
	gw_identity_unref(check->identity);
	free(check);
}

static void
finish(struct gw_check *check, enum gw_outcome outcome, struct gw_identity *identity, const char *reason)
{
	struct gw_decision decision = {
		.outcome = outcome, .identity = identity, .reason = reason, .made_ms = check->made_ms};

	check->access->figures.outcomes[outcome]++;
	check->done(check->ctx, &decision);
	check_free(check);
}

void
gw_check_cancel(struct gw_check *check)
{
	if (check)
		check_free(check);
}

static uint64_t
now_of(const struct gw_access *access)
{
	return access->clock->now_ms(access->clock);
}

static struct gw_review_for
review_for(const struct gw_question *question)
{
	return (struct gw_review_for){.client = question->client, .again = question->since_ms > 0};
}

/* Call told() with the stored decision, or wait for one. Returns whether to make the review. */
static bool
is_to_be_asked(struct gw_check *check, struct gw_memo *memo, const uint8_t digest[GW_DIGEST],
	       void (*told)(void *ctx, const struct gw_decision *decision))
{
	struct gw_decision *known = gw_memo_find(memo, digest, now_of(check->access),
						 check->question.since_ms);

	if (known) {
		gw_decision_ref(known); /* told() may begin another check, which may evict this decision */
		told(check, known);
		gw_decision_unref(known);
		return false;
	}
	check->waiter = (struct gw_waiter){.told = told, .ctx = check};
	return !gw_memo_wait(memo, digest, &check->waiter);
}

/* ---- decisions ---- */

static void ask_review(struct gw_check *check);

static void
decided(void *ctx, const struct gw_decision *decision)
{
	struct gw_check *check = ctx;

	if (decision->made_ms < check->made_ms)
		check->made_ms = decision->made_ms;
	if (decision->outcome == GW_ACCESS_FORBIDDEN &&
	    check->alternative + 1 < check->question.alternative_count) {
		check->alternative++;
		ask_review(check);
		return;
	}
	finish(check, decision->outcome, check->identity, decision->reason);
}

/* With reviews a listener needs no scope; without a scope, reviews decide on all but core secrets. */
static bool
is_in_scope(const struct gw_listener_config *listener, const struct gw_attributes *a)
{
	if (listener->scope.count > 0)
		return gw_scope_allows(&listener->scope, a);
	return *a->path || *a->group || strcmp(a->resource, "secrets") != 0;
}

static void
ask_review(struct gw_check *check)
{
	struct gw_access *access = check->access;
	const struct gw_question *q = &check->question;
	const struct gw_attributes *a = q->alternative_count ? &q->alternatives[check->alternative]
							     : q->attributes;
	uint8_t digest[GW_DIGEST];

	gw_attributes_digest(a, check->identity->key, GW_DIGEST, access->secret, digest);
	if (is_to_be_asked(check, access->decisions, digest, decided))
		gw_ask_decision(&access->asker, review_for(q), access->decisions, digest, check->identity, a);
}

static void
ask_decision(struct gw_check *check)
{
	const struct gw_question *q = &check->question;

	if (!q->past_scope && !is_in_scope(q->listener, q->attributes))
		finish(check, GW_ACCESS_FORBIDDEN, check->identity, OUT_OF_SCOPE);
	else
		ask_review(check);
}

/* ---- identities ---- */

static void
identified(void *ctx, const struct gw_decision *decision)
{
	struct gw_check *check = ctx;

	if (decision->outcome != GW_ACCESS_ALLOWED) {
		finish(check, decision->outcome, NULL, decision->reason);
		return;
	}
	check->identity = gw_identity_ref(decision->identity);
	check->made_ms = decision->made_ms;
	ask_decision(check);
}

static void
ask_identity(struct gw_check *check)
{
	struct gw_access *access = check->access;
	const struct gw_question *q = &check->question;
	uint8_t digest[GW_DIGEST];
	size_t length;
	const char *token = gw_bearer_token(q->authorization, &length);

	if (!token) {
		finish(check, GW_ACCESS_UNAUTHENTICATED, NULL, "");
		return;
	}
	token_digest(access, &q->listener->audiences, token, length, digest);
	if (is_to_be_asked(check, access->tokens, digest, identified))
		gw_ask_identity(&access->asker, review_for(q), access->tokens, digest, token, length,
				&q->listener->audiences);
}

/* ---- profiles ---- */

static bool
is_health(const char *path)
{
	return strcmp(path, "/livez") == 0 || strcmp(path, "/readyz") == 0 || strcmp(path, "/healthz") == 0;
}

/* Decide by the connection's identity and the scope. */
static void
ask_scope(struct gw_check *check, struct gw_identity *identity)
{
	if (!identity)
		finish(check, GW_ACCESS_UNAUTHENTICATED, NULL, "");
	else if (gw_scope_allows(&check->question.listener->scope, check->question.attributes))
		finish(check, GW_ACCESS_ALLOWED, identity, "");
	else
		finish(check, GW_ACCESS_FORBIDDEN, identity, OUT_OF_SCOPE);
}

static void
ask_profile(struct gw_check *check)
{
	const struct gw_question *q = &check->question;

	if (q->listener->open_health && is_health(q->attributes->path)) {
		finish(check, GW_ACCESS_ALLOWED, check->access->nobody, "");
		return;
	}
	switch (q->listener->profile) {
	case GW_PROFILE_TOKENS:
		ask_identity(check);
		return;
	case GW_PROFILE_UNIX:
	case GW_PROFILE_CERTIFICATES:
		ask_scope(check, q->peer);
		return;
	case GW_PROFILE_INSECURE:
		ask_scope(check, check->access->nobody);
		return;
	case GW_PROFILE_NONE:
		break;
	}
	finish(check, GW_ACCESS_FORBIDDEN, check->access->nobody, OUT_OF_SCOPE);
}

struct gw_check *
gw_access_ask(struct gw_access *access, const struct gw_question *question,
	      void (*done)(void *ctx, const struct gw_decision *decision), void *ctx)
{
	struct gw_check *check = api_alloc(sizeof(*check));
	bool over = false;

	*check = (struct gw_check){.access = access, .question = *question, .done = done, .ctx = ctx};
	check->made_ms = now_of(access);
	check->over = &over;
	ask_profile(check);
	if (over)
		return NULL;
	check->over = NULL;
	return check;
}

/* ---- queries ---- */

bool
gw_access_is_reviewed(const struct gw_listener_config *listener)
{
	return listener->profile == GW_PROFILE_TOKENS;
}

static bool
lets_in(const struct gw_listener_config *listener, const struct gw_peer *peer)
{
	if (account_has(&listener->uids, peer->uid) || account_has(&listener->gids, peer->gid))
		return true;
	for (size_t i = 0; i < peer->group_count; i++)
		if (account_has(&listener->gids, peer->groups[i]))
			return true;
	return false;
}

struct gw_identity *
gw_access_identity(const struct gw_access *access, const struct gw_listener_config *listener,
		   const struct gw_peer *peer)
{
	struct gw_identity *identity = NULL;
	const char *name;

	if (listener->profile == GW_PROFILE_UNIX && peer->has_credentials && lets_in(listener, peer)) {
		identity = gw_identity_of_uid(peer->uid);
	} else if (listener->profile == GW_PROFILE_CERTIFICATES &&
		   (name = gw_client_name(peer->certificate, &listener->client_names, time(NULL)))) {
		identity = gw_identity_new(GW_IDENTITY_CERTIFICATE, name, "");
		identity->expires_ms = gw_asker_expiry_ms(&access->asker,
							  (uint64_t)peer->certificate->expires_s);
	}
	if (identity)
		gw_identity_seal(identity, access->secret);
	return identity;
}

struct clock *
gw_access_clock(const struct gw_access *access)
{
	return access->clock;
}

uint64_t
gw_access_keep_ms(const struct gw_access *access)
{
	return access->asker.config.keep_allowed_ms;
}

struct gw_access_figures
gw_access_figures(const struct gw_access *access)
{
	struct gw_access_figures figures = access->figures;

	figures.tokens = gw_memo_count(access->tokens);
	figures.decisions = gw_memo_count(access->decisions);
	figures.reviews = access->asker.count;
	figures.asked = access->asker.asked;
	figures.failed = access->asker.failed;
	return figures;
}
