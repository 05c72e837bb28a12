/* SPDX-License-Identifier: Apache-2.0 */
/* Whose token is it? See token_review.h. */
#include "tools/informer-gateway/access/token_review.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <sodium.h>

#include "tools/informer-gateway/access/review_document.h"
#include "writer/base/message.h"

#define REVIEW_TEXTS_MAX 1000 /* groups, or values of one name */
#define REVIEW_EXTRA_MAX 100

/* ---- the question ---- */

/* Overwrite the token before the tree is freed. */
static void
forget(cJSON *document)
{
	cJSON *token = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(document, "spec"),
							"token");

	if (cJSON_IsString(token))
		sodium_memzero(token->valuestring, strlen(token->valuestring));
	cJSON_Delete(document);
}

char *
gw_token_review_document(const char *token, const struct gw_texts *audiences)
{
	cJSON *document = cJSON_CreateObject(), *spec, *list;
	char *text = NULL;
	bool whole;

	whole = cJSON_AddStringToObject(document, "apiVersion", "authentication.k8s.io/v1") &&
		cJSON_AddStringToObject(document, "kind", "TokenReview") &&
		(spec = cJSON_AddObjectToObject(document, "spec")) &&
		cJSON_AddStringToObject(spec, "token", token);
	if (whole && audiences->count > 0) {
		list = cJSON_AddArrayToObject(spec, "audiences");
		for (size_t i = 0; i < audiences->count && whole; i++)
			whole = cJSON_AddItemToArray(list, cJSON_CreateString(audiences->items[i]));
	}
	/* of its whole length at once, so that no growing leaves a copy of the token behind */
	if (whole && (text = malloc(6 * strlen(token) + 65536)) &&
	    !cJSON_PrintPreallocated(document, text, (int)(6 * strlen(token) + 65536), false)) {
		free(text);
		text = NULL;
	}
	forget(document);
	return text;
}

/* ---- the answer ---- */

static int
no_answer(char **ret_error, const char *why)
{
	return message_set(ret_error, -EBADMSG, "the answer to a TokenReview %s", why);
}

/* A server that does not know of audiences answers none, and has taken the token for its own. */
static bool
is_for_us(const cJSON *status, const struct gw_texts *audiences)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(status, "audiences"), *item;

	if (audiences->count == 0)
		return true;
	cJSON_ArrayForEach(item, list) if (cJSON_IsString(item) &&
					   gw_texts_have(audiences, item->valuestring)) return true;
	return false;
}

/* A list of texts, or null; false: it is none, or too long. */
static bool
take_texts(struct gw_texts *texts, const cJSON *list)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item) || texts->count == REVIEW_TEXTS_MAX)
			return false;
		gw_texts_add(texts, item->valuestring);
	}
	return !list || cJSON_IsArray(list) || cJSON_IsNull(list);
}

static bool
take_extra(struct gw_identity *identity, const cJSON *extra)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, extra)
	{
		if (!item->string || identity->extra_count == REVIEW_EXTRA_MAX ||
		    !take_texts(gw_identity_extra(identity, item->string), item))
			return false;
	}
	return true;
}

static int
take_user(const cJSON *user, struct gw_identity **ret_identity, char **ret_error)
{
	struct gw_identity *identity;

	if (!*gw_review_text(user, "username"))
		return no_answer(ret_error, "accepts a token and names nobody");
	identity = gw_identity_new(GW_IDENTITY_TOKEN, gw_review_text(user, "username"),
				   gw_review_text(user, "uid"));
	if (!take_texts(&identity->groups, cJSON_GetObjectItemCaseSensitive(user, "groups")) ||
	    !take_extra(identity, cJSON_GetObjectItemCaseSensitive(user, "extra"))) {
		gw_identity_unref(identity);
		return no_answer(ret_error, "has groups or extra that are none");
	}
	*ret_identity = identity;
	return 0;
}

static int
answer(const cJSON *status, const struct gw_texts *audiences, struct gw_identity **ret_identity,
       char **ret_error)
{
	if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(status, "authenticated")) ||
	    !is_for_us(status, audiences))
		return -EACCES;
	return take_user(cJSON_GetObjectItemCaseSensitive(status, "user"), ret_identity, ret_error);
}

int
gw_token_review_answer(const char *body, size_t length, const struct gw_texts *audiences,
		       struct gw_identity **ret_identity, char **ret_error)
{
	cJSON *document = gw_review_parse(body, length, "TokenReview");
	int r;

	if (!document)
		return no_answer(ret_error, "is no TokenReview with a status");
	r = answer(cJSON_GetObjectItemCaseSensitive(document, "status"), audiences, ret_identity, ret_error);
	forget(document); /* an API server answers with the whole question */
	return r;
}

/* ---- what a token says itself ---- */

/* The claims of "HEADER.CLAIMS.SIGNATURE", decoded into room for GW_TOKEN_MAX bytes; 0: there are none. */
static size_t
claims_of(const char *token, size_t length, char *out)
{
	const char *first = memchr(token, '.', length), *second;
	size_t decoded;

	if (!first)
		return 0;
	first++;
	second = memchr(first, '.', length - (size_t)(first - token));
	if (!second || sodium_base642bin((unsigned char *)out, GW_TOKEN_MAX, first, (size_t)(second - first),
					 NULL, &decoded, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0)
		return 0;
	return decoded;
}

uint64_t
gw_token_expiry(const char *token, size_t length)
{
	char claims[GW_TOKEN_MAX];
	const cJSON *expiry;
	uint64_t seconds = UINT64_MAX;
	cJSON *document;
	size_t decoded = claims_of(token, length, claims);

	document = decoded > 0 ? cJSON_ParseWithLength(claims, decoded) : NULL;
	expiry = cJSON_GetObjectItemCaseSensitive(document, "exp");
	if (cJSON_IsNumber(expiry) && expiry->valuedouble >= 0 && expiry->valuedouble < 1e15)
		seconds = (uint64_t)expiry->valuedouble;
	cJSON_Delete(document);
	sodium_memzero(claims, decoded);
	return seconds;
}
