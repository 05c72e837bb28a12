/* SPDX-License-Identifier: Apache-2.0 */
/* What an API server answers to a review; see review_document.h. */
#include "tools/informer-gateway/access/review_document.h"

#include <string.h>

const char *
gw_review_text(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(item) ? item->valuestring : "";
}

cJSON *
gw_review_parse(const char *body, size_t length, const char *kind)
{
	static const char nul[] = "\\u0000";
	cJSON *document;

	if (length == 0 || length > GW_REVIEW_ANSWER_MAX || memchr(body, '\0', length) ||
	    memmem(body, length, nul, sizeof(nul) - 1))
		return NULL;
	document = cJSON_ParseWithLength(body, length);
	if (strcmp(gw_review_text(document, "kind"), kind) == 0 &&
	    cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(document, "status")))
		return document;
	cJSON_Delete(document);
	return NULL;
}
