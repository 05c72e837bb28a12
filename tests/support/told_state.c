/* SPDX-License-Identifier: Apache-2.0 */
/* Describes an object in event_model.h's words, for programs that record what readers see. */
#include "tests/support/told_state.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/event_model.h"

static uint64_t
hash_of(const struct informer_object *object)
{
	static _Thread_local char buffer[1 << 16];
	uint64_t hash = 0;
	size_t length;
	cJSON *json;

	if (informer_object_json(object, buffer, sizeof(buffer), &length) == 0 && length < sizeof(buffer)) {
		json = cJSON_ParseWithLength(buffer, length);
		if (json)
			hash = event_model_hash(json);
		cJSON_Delete(json);
	}
	return hash;
}

static void
copy_text(int result, const char *data, size_t length, char *buffer, size_t size)
{
	if (result < 0 || length == 0)
		snprintf(buffer, size, "-");
	else
		snprintf(buffer, size, "%.*s", (int)length, data);
}

void
told_state_of(const struct informer_object *object, struct told_state *s)
{
	const char *data = NULL;
	size_t length = 0;
	int r;

	if (informer_object_key(object, s->key, sizeof(s->key), NULL) < 0)
		snprintf(s->key, sizeof(s->key), "?");
	r = informer_object_uid(object, &data, &length);
	copy_text(r, data, length, s->uid, sizeof(s->uid));
	length = 0;
	r = informer_object_resource_version(object, &data, &length);
	copy_text(r, data, length, s->rv, sizeof(s->rv));
	s->hash = strcmp(s->rv, "-") == 0 ? 0 : hash_of(object);
	s->seq = informer_object_seq(object);
	s->expired = informer_object_key(object, NULL, 0, NULL) == INFORMER_E_EXPIRED;
}
