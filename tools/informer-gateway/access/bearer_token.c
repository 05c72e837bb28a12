/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens as clients bring them; see token_review.h. */
#include <string.h>
#include <strings.h>

#include <cjson/cJSON.h>
#include <sodium.h>

#include "tools/informer-gateway/access/token_review.h"

/* The letters of RFC 6750's b64token. */
static const char token_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=";

const char *
gw_bearer_token(const char *authorization, size_t *ret_length)
{
	const char *token;
	size_t length;

	if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
		return NULL;
	token = authorization + 7;
	token += strspn(token, " ");
	length = strspn(token, token_letters);
	if (length == 0 || length > GW_TOKEN_MAX || token[length + strspn(token + length, " ")])
		return NULL;
	*ret_length = length;
	return token;
}

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
