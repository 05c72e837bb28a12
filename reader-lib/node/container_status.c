/* SPDX-License-Identifier: Apache-2.0 */
#include "reader-lib/node/container_status.h"

#include "reader-lib/read/find.h"
#include "reader-lib/read/known_text.h"

static struct known_field status_field = KNOWN_FIELD("status"), id_field = KNOWN_FIELD("containerID"),
			  last_field = KNOWN_FIELD("lastState"), terminated_field = KNOWN_FIELD("terminated");

enum { NAME, IMAGE, IMAGE_ID, STATE, RESTARTS, FIELDS };
static struct known_field fields[] = {
	[NAME] = KNOWN_FIELD("name"),
	[IMAGE] = KNOWN_FIELD("image"),
	[IMAGE_ID] = KNOWN_FIELD("imageID"),
	[STATE] = KNOWN_FIELD("state"),
	[RESTARTS] = KNOWN_FIELD("restartCount"),
};

enum { LISTS = INFORMER_CONTAINER_EPHEMERAL };
/* The list of a kind is lists[kind - 1]. */
static struct known_field lists[] = {
	[INFORMER_CONTAINER_REGULAR - 1] = KNOWN_FIELD("containerStatuses"),
	[INFORMER_CONTAINER_INIT - 1] = KNOWN_FIELD("initContainerStatuses"),
	[INFORMER_CONTAINER_EPHEMERAL - 1] = KNOWN_FIELD("ephemeralContainerStatuses"),
};

/* Whether a containerID, as "containerd://ID", has this ID. */
static bool
has_id(struct value object, const char *id)
{
	struct informer_text text = known_text(object, &id_field);
	size_t length = strlen(id), scheme = text.length - length;

	return text.length >= length && memcmp(text.data + scheme, id, length) == 0 &&
	       (scheme == 0 || text.data[scheme - 1] == '/');
}

/* Of the object "state" or "lastState": its one field is named like the state. */
static enum informer_container_state
state_of(struct value state)
{
	static struct known_field names[] = {
		[INFORMER_CONTAINER_WAITING] = KNOWN_FIELD("waiting"),
		[INFORMER_CONTAINER_RUNNING] = KNOWN_FIELD("running"),
		[INFORMER_CONTAINER_TERMINATED] = KNOWN_FIELD("terminated"),
	};
	enum informer_container_state i = INFORMER_CONTAINER_TERMINATED;

	while (i > INFORMER_CONTAINER_NO_STATE && !known_field(state, &names[i]).at)
		i--;
	return i;
}

/* The status of the container, or of the container whose last run it was. */
static bool
find_in(struct value statuses, const char *id, bool previous, struct value *ret_status)
{
	struct value_iter it = value_iterate(statuses);

	while (value_next(&it)) {
		struct value run = it.item;

		if (previous)
			run = known_field(known_field(run, &last_field), &terminated_field);
		if (has_id(run, id)) {
			*ret_status = it.item;
			return true;
		}
	}
	return false;
}

static void
fill(struct informer_container *c, struct value status)
{
	struct value v[FIELDS];
	uint64_t restarts = 0;

	known_fields(status, fields, FIELDS, v);
	value_uint(v[RESTARTS], &restarts);
	c->restart_count = restarts > UINT32_MAX ? UINT32_MAX : (uint32_t)restarts;
	c->state = state_of(c->previous ? known_field(status, &last_field) : v[STATE]);
	c->name = text_of(v[NAME]);
	c->image = text_of(v[IMAGE]);
	c->image_id = text_of(v[IMAGE_ID]);
}

void
container_status_find(struct value pod, struct informer_container *c)
{
	struct value status = known_field(pod, &status_field), found;

	c->kind = INFORMER_CONTAINER_UNKNOWN;
	c->previous = false;
	c->state = INFORMER_CONTAINER_NO_STATE;
	c->restart_count = 0;
	c->name = c->image = c->image_id = (struct informer_text){"", 0};
	for (unsigned i = 0; c->id[0] && i < 2 * LISTS; i++) {
		bool previous = i >= LISTS;

		if (find_in(known_field(status, &lists[i % LISTS]), c->id, previous, &found)) {
			c->kind = (enum informer_container_kind)(i % LISTS + 1);
			c->previous = previous;
			fill(c, found);
			return;
		}
	}
}

static void
add_id(struct container_ids *ids, const char *id, size_t length)
{
	if (length < ids->length || length > INFORMER_CONTAINER_ID_MAX ||
	    memcmp(id, ids->prefix, ids->length) != 0)
		return;
	for (unsigned i = 0; i < ids->count; i++)
		if (strlen(ids->ids[i]) == length && memcmp(ids->ids[i], id, length) == 0)
			return;
	if (ids->count < 2) {
		memcpy(ids->ids[ids->count], id, length);
		ids->ids[ids->count++][length] = '\0';
	}
}

void
container_status_collect(struct value pod, struct container_ids *ids)
{
	struct value status = known_field(pod, &status_field);

	for (unsigned i = 0; i < LISTS; i++) {
		struct value_iter it = value_iterate(known_field(status, &lists[i]));

		while (value_next(&it)) {
			struct informer_text id = known_text(it.item, &id_field);

			container_id_strip(&id.data, &id.length);
			add_id(ids, id.data, id.length);
		}
	}
}
