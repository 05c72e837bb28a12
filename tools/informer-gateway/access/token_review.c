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

#define REVIEW_GROUPS_MAX 1000
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

static int
take_groups(struct gw_identity *identity, const cJSON *groups)
{
	const cJSON *item;
	int r = 0;

	if (cJSON_GetArraySize(groups) > REVIEW_GROUPS_MAX)
		return -EBADMSG;
	cJSON_ArrayForEach(item, groups)
	{
		r = cJSON_IsString(item) ? gw_identity_add_group(identity, item->valuestring) : -EBADMSG;
		if (r < 0)
			break;
	}
	return r;
}

static int
take_extra(struct gw_identity *identity, const cJSON *extra)
{
	const cJSON *item, *value;
	int r = 0;

	if (cJSON_GetArraySize(extra) > REVIEW_EXTRA_MAX)
		return -EBADMSG;
	cJSON_ArrayForEach(item, extra)
	{
		if (!cJSON_IsArray(item) || !item->string)
			return -EBADMSG;
		cJSON_ArrayForEach(value, item)
		{
			r = cJSON_IsString(value)
				    ? gw_identity_add_extra(identity, item->string, value->valuestring)
				    : -EBADMSG;
			if (r < 0)
				return r;
		}
	}
	return r;
}

static int
take_user(const cJSON *user, struct gw_identity **ret_identity, char **ret_error)
{
	struct gw_identity *identity;
	int r;

	if (!*gw_review_text(user, "username"))
		return no_answer(ret_error, "accepts a token and names nobody");
	identity = gw_identity_new(GW_IDENTITY_TOKEN, gw_review_text(user, "username"),
				   gw_review_text(user, "uid"));
	if (!identity)
		return -ENOMEM;
	r = take_groups(identity, cJSON_GetObjectItemCaseSensitive(user, "groups"));
	if (r == 0)
		r = take_extra(identity, cJSON_GetObjectItemCaseSensitive(user, "extra"));
	if (r == 0)
		*ret_identity = identity;
	else
		gw_identity_unref(identity);
	return r == -EBADMSG ? no_answer(ret_error, "has groups or extra that are none") : r;
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
