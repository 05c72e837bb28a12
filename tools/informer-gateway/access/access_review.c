/* SPDX-License-Identifier: Apache-2.0 */
/* May he? See access_review.h. */
#include "tools/informer-gateway/access/access_review.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "tools/informer-gateway/access/review_document.h"
#include "writer/base/message.h"

#define REASON_MAX 512 /* bytes of it that are told on */

/* ---- the question ---- */

/* Leave out what is empty, as upstream does. */
static bool
add_text(cJSON *object, const char *name, const char *text)
{
	return !*text || cJSON_AddStringToObject(object, name, text);
}

static bool
add_texts(cJSON *object, const char *name, const struct gw_texts *texts)
{
	cJSON *list = texts->count > 0 ? cJSON_AddArrayToObject(object, name) : NULL;

	if (texts->count > 0 && !list)
		return false;
	for (size_t i = 0; i < texts->count; i++)
		if (!cJSON_AddItemToArray(list, cJSON_CreateString(texts->items[i])))
			return false;
	return true;
}

static bool
add_selector(cJSON *object, const char *name, const char *selector)
{
	cJSON *of = *selector ? cJSON_AddObjectToObject(object, name) : NULL;

	return !*selector || (of && cJSON_AddStringToObject(of, "rawSelector", selector));
}

static bool
add_user(cJSON *spec, const struct gw_identity *identity)
{
	cJSON *extra;

	if (!cJSON_AddStringToObject(spec, "user", identity->user) || !add_text(spec, "uid", identity->uid) ||
	    !add_texts(spec, "groups", &identity->groups))
		return false;
	if (identity->extra_count == 0)
		return true;
	extra = cJSON_AddObjectToObject(spec, "extra");
	for (size_t i = 0; extra && i < identity->extra_count; i++)
		if (!add_texts(extra, identity->extra[i].name, &identity->extra[i].values))
			return false;
	return extra != NULL;
}

static bool
add_attributes(cJSON *spec, const struct gw_attributes *a)
{
	cJSON *of = cJSON_AddObjectToObject(spec, *a->path ? "nonResourceAttributes" : "resourceAttributes");

	if (!of)
		return false;
	if (*a->path)
		return add_text(of, "path", a->path) && add_text(of, "verb", a->verb);
	return add_text(of, "namespace", a->namespace_) && add_text(of, "verb", a->verb) &&
	       add_text(of, "group", a->group) && add_text(of, "version", a->version) &&
	       add_text(of, "resource", a->resource) && add_text(of, "subresource", a->subresource) &&
	       add_text(of, "name", a->name) && add_selector(of, "fieldSelector", a->field_selector) &&
	       add_selector(of, "labelSelector", a->label_selector);
}

char *
gw_access_review_document(const struct gw_identity *identity, const struct gw_attributes *attributes)
{
	cJSON *document = cJSON_CreateObject(), *spec;
	char *text = NULL;

	if (cJSON_AddStringToObject(document, "apiVersion", "authorization.k8s.io/v1") &&
	    cJSON_AddStringToObject(document, "kind", "SubjectAccessReview") &&
	    (spec = cJSON_AddObjectToObject(document, "spec")) && add_attributes(spec, attributes) &&
	    add_user(spec, identity))
		text = cJSON_PrintUnformatted(document);
	cJSON_Delete(document);
	return text;
}

/* ---- the answer ---- */

/* Cut where it is too long, at no letter's middle. */
static char *
one_line(const char *reason)
{
	size_t length = strnlen(reason, REASON_MAX);
	char *text;

	while (length > 0 && reason[length] && ((unsigned char)reason[length] & 0xc0) == 0x80)
		length--;
	text = strndup(reason, length);
	(void)message_one_line(&text, 0);
	return text;
}

int
gw_access_review_answer(const char *body, size_t length, bool *ret_allowed, char **ret_reason,
			char **ret_error)
{
	cJSON *document = gw_review_parse(body, length, "SubjectAccessReview"), *status;

	if (!document)
		return message_set(ret_error, -EBADMSG,
				   "the answer to a SubjectAccessReview is none with a status");
	status = cJSON_GetObjectItemCaseSensitive(document, "status");
	*ret_allowed = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(status, "allowed")) &&
		       !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(status, "denied"));
	*ret_reason = one_line(gw_review_text(status, "reason"));
	cJSON_Delete(document);
	return 0;
}
