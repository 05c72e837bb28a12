/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a Reflector's error from its beginning to its end, for cached_resource.c, and makes the messages for
 * readers.
 */
#include "writer/resource/reflector_error.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/clock.h"

static void
forget(struct reflector_error *t)
{
	free(t->reason);
	free(t->message);
	*t = (struct reflector_error){.any_published = t->any_published};
}

void
reflector_error_done(struct reflector_error *t)
{
	forget(t);
}

void
reflector_error_adopt(struct reflector_error *t)
{
	t->any_published = true;
}

static bool
same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b) == 0;
}

void
reflector_error_meet(struct reflector_error *t, int code, const char *reason, const char *message,
		     uint64_t now_wall_ns)
{
	/* An error after the end of another is a new one, even if readers were not told of that end. */
	uint64_t since = t->met && !t->over ? t->since_wall_ns : now_wall_ns,
		 count = t->met && !t->over ? t->count + 1 : 1;

	if (!t->met || t->over || t->code != code || !same(t->reason, reason) || !same(t->message, message)) {
		forget(t);
		t->code = code;
		t->reason = strdup(reason);
		t->message = strdup(message);
	}
	t->met = true;
	t->since_wall_ns = since;
	t->count = count;
}

void
reflector_error_end(struct reflector_error *t)
{
	if (t->met)
		t->over = true;
	else if (t->any_published)
		t->met = t->over = t->published = true;
}

char *
reflector_error_news(const struct reflector_error *t)
{
	bool recovered = t->met && t->over && t->published;
	char since[CLOCK_TEXT_SIZE], *json;
	cJSON *o;

	if (!t->met || (t->published && !t->over))
		return NULL;
	o = cJSON_CreateObject();
	cJSON_AddBoolToObject(o, "recovered", recovered);
	cJSON_AddNumberToObject(o, "code", recovered ? 0 : t->code);
	cJSON_AddStringToObject(o, "reason", recovered || !t->reason ? "" : t->reason);
	cJSON_AddStringToObject(o, "message", recovered || !t->message ? "" : t->message);
	cJSON_AddStringToObject(o, "since", clock_text(t->since_wall_ns, since));
	cJSON_AddNumberToObject(o, "count", (double)t->count);
	json = cJSON_PrintUnformatted(o);
	cJSON_Delete(o);
	return json;
}

void
reflector_error_published(struct reflector_error *t)
{
	if (t->over && t->published) {
		t->any_published = false;
		forget(t);
		return;
	}
	t->published = t->any_published = true;
}
