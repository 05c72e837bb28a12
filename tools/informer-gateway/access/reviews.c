/* SPDX-License-Identifier: Apache-2.0 */
/* The API server's two reviews; see reviews.h. */
#include "tools/informer-gateway/access/reviews.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <sodium.h>

#include "tools/serving/buf.h"
#include "writer/base/message.h"

#define REVIEW_TEXTS_MAX 1000 /* groups, or values of one extra key */
#define REVIEW_EXTRA_MAX 100
#define REASON_MAX 512 /* bytes of a reason that are passed on */

/* ---- requests ---- */

/* Add a member behind another. Empty text is left out, as upstream does. */
static void
put_text(struct api_buf *out, const char *name, const char *text)
{
	if (!*text)
		return;
	api_buf_printf(out, ",\"%s\":", name);
	api_buf_json_str(out, text);
}

static void
put_list(struct api_buf *out, const struct gw_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		api_buf_puts(out, i ? "," : "[");
		api_buf_json_str(out, texts->items[i]);
	}
	api_buf_puts(out, texts->count ? "]" : "[]");
}

static void
put_selector(struct api_buf *out, const char *name, const char *selector)
{
	if (!*selector)
		return;
	api_buf_printf(out, ",\"%s\":{\"rawSelector\":", name);
	api_buf_json_str(out, selector);
	api_buf_puts(out, "}");
}

char *
gw_token_review_document(const char *token, const struct gw_texts *audiences)
{
	struct api_buf out = {0};

	api_buf_puts(&out,
		     "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\",\"spec\":{");
	if (audiences->count > 0) {
		api_buf_puts(&out, "\"audiences\":");
		put_list(&out, audiences);
		api_buf_puts(&out, ",");
	}
	api_buf_puts(&out, "\"token\":");
	/* reserve the whole length: reallocation would leave copies of the token in freed memory */
	out.cap = out.len + 6 * strlen(token) + 8;
	out.data = api_realloc(out.data, out.cap);
	api_buf_json_str(&out, token);
	api_buf_puts(&out, "}}");
	return api_buf_take(&out);
}

static void
put_attributes(struct api_buf *out, const struct gw_attributes *a)
{
	api_buf_printf(out, "\"%sesourceAttributes\":{\"verb\":\"%s\"", *a->path ? "nonR" : "r", a->verb);
	put_text(out, "path", a->path);
	put_text(out, "namespace", a->namespace_);
	put_text(out, "group", a->group);
	put_text(out, "version", a->version);
	put_text(out, "resource", a->resource);
	put_text(out, "subresource", a->subresource);
	put_text(out, "name", a->name);
	put_selector(out, "fieldSelector", a->field_selector);
	put_selector(out, "labelSelector", a->label_selector);
	api_buf_puts(out, "}");
}

char *
gw_access_review_document(const struct gw_identity *identity, const struct gw_attributes *attributes)
{
	struct api_buf out = {0};

	api_buf_puts(
		&out,
		"{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\",\"spec\":{");
	put_attributes(&out, attributes);
	put_text(&out, "user", identity->user);
	put_text(&out, "uid", identity->uid);
	if (identity->groups.count > 0) {
		api_buf_puts(&out, ",\"groups\":");
		put_list(&out, &identity->groups);
	}
	for (size_t i = 0; i < identity->extra_count; i++) {
		api_buf_puts(&out, i ? "," : ",\"extra\":{");
		api_buf_json_str(&out, identity->extra[i].name);
		api_buf_puts(&out, ":");
		put_list(&out, &identity->extra[i].values);
	}
	api_buf_puts(&out, identity->extra_count ? "}}}" : "}}");
	return api_buf_take(&out);
}

/* ---- answers ---- */

static const char *
text_of(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(item) ? item->valuestring : "";
}

/* Parse an answer; the caller frees it with forget(). NULL: not a JSON object of this kind with a status. */
static cJSON *
parse(const char *body, size_t length, const char *kind)
{
	static const char nul[] = "\\u0000";
	cJSON *document;

	if (length == 0 || length > GW_REVIEW_ANSWER_MAX || memchr(body, '\0', length) ||
	    memmem(body, length, nul, sizeof(nul) - 1))
		return NULL;
	document = cJSON_ParseWithLength(body, length);
	if (strcmp(text_of(document, "kind"), kind) == 0 &&
	    cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(document, "status")))
		return document;
	cJSON_Delete(document);
	return NULL;
}

/* Wipe the token, which the API server repeats in its answer, and free the tree. */
static void
forget(cJSON *document)
{
	cJSON *token = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(document, "spec"),
							"token");

	if (cJSON_IsString(token))
		sodium_memzero(token->valuestring, strlen(token->valuestring));
	cJSON_Delete(document);
}

static int
no_answer(char **ret_error, const char *why)
{
	return message_set(ret_error, -EBADMSG, "the answer to a TokenReview %s", why);
}

/*
 * Whether the token is valid for one of the audiences. A server that ignores audiences returns none, and has
 * reviewed the token for itself.
 */
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

/* Read a list of strings, or null. False: something else, or too long. */
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

	if (!*text_of(user, "username"))
		return no_answer(ret_error, "accepts a token and names nobody");
	identity = gw_identity_new(GW_IDENTITY_TOKEN, text_of(user, "username"), text_of(user, "uid"));
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
	cJSON *document = parse(body, length, "TokenReview");
	int r;

	if (!document)
		return no_answer(ret_error, "is no TokenReview with a status");
	r = answer(cJSON_GetObjectItemCaseSensitive(document, "status"), audiences, ret_identity, ret_error);
	forget(document);
	return r;
}

/* Cut the reason to REASON_MAX bytes, between UTF-8 characters, and put it on one line. */
static char *
one_line(const char *reason)
{
	size_t length = strnlen(reason, REASON_MAX);
	char *text;

	while (length > 0 && reason[length] && ((unsigned char)reason[length] & 0xc0) == 0x80)
		length--;
	text = api_strndup(reason, length);
	(void)message_one_line(&text, 0);
	return text;
}

int
gw_access_review_answer(const char *body, size_t length, bool *ret_allowed, char **ret_reason,
			char **ret_error)
{
	cJSON *document = parse(body, length, "SubjectAccessReview"), *status;

	if (!document)
		return message_set(ret_error, -EBADMSG,
				   "the answer to a SubjectAccessReview is none with a status");
	status = cJSON_GetObjectItemCaseSensitive(document, "status");
	*ret_allowed = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(status, "allowed")) &&
		       !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(status, "denied"));
	*ret_reason = one_line(text_of(status, "reason"));
	cJSON_Delete(document);
	return 0;
}

/* ---- claims ---- */

/*
 * Decode the claims of "HEADER.CLAIMS.SIGNATURE" into out, which has GW_TOKEN_MAX bytes. Returns the length;
 * 0: none.
 */
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
