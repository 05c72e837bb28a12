/* SPDX-License-Identifier: Apache-2.0 */
#include "reader-lib/node/container_status.h"

#include "reader-lib/read/find.h"
#include "reader-lib/read/known_text.h"

static struct known_field status_field = KNOWN_FIELD("status"), id_field = KNOWN_FIELD("containerID"),
			  name_field = KNOWN_FIELD("name"), image_field = KNOWN_FIELD("image"),
			  image_id_field = KNOWN_FIELD("imageID"), state_field = KNOWN_FIELD("state"),
			  restarts_field = KNOWN_FIELD("restartCount"), last_field = KNOWN_FIELD("lastState"),
			  terminated_field = KNOWN_FIELD("terminated");

static struct {
	struct known_field field;
	enum informer_container_kind kind;
} lists[] = {
	{KNOWN_FIELD("containerStatuses"), INFORMER_CONTAINER_REGULAR},
	{KNOWN_FIELD("initContainerStatuses"), INFORMER_CONTAINER_INIT},
	{KNOWN_FIELD("ephemeralContainerStatuses"), INFORMER_CONTAINER_EPHEMERAL},
};
#define LISTS (sizeof(lists) / sizeof(lists[0]))

/* Whether a containerID, as "containerd://ID", has this ID. */
static bool
has_id(struct value object, const char *id)
{
	struct informer_text text = known_text(object, &id_field);
	size_t length = strlen(id), scheme = text.length - length;

	return text.length >= length && memcmp(text.data + scheme, id, length) == 0 &&
	       (scheme == 0 || text.data[scheme - 1] == '/');
}

static enum informer_container_state
state_of(struct value state)
{
	static struct known_field names[] = {
		[INFORMER_CONTAINER_WAITING] = KNOWN_FIELD("waiting"),
		[INFORMER_CONTAINER_RUNNING] = KNOWN_FIELD("running"),
		[INFORMER_CONTAINER_TERMINATED] = KNOWN_FIELD("terminated"),
	};

	for (unsigned i = INFORMER_CONTAINER_WAITING; i <= INFORMER_CONTAINER_TERMINATED; i++)
		if (known_field(state, &names[i]).at)
			return (enum informer_container_state)i;
	return INFORMER_CONTAINER_NO_STATE;
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
	uint64_t restarts = 0;

	value_uint(known_field(status, &restarts_field), &restarts);
	c->restart_count = restarts > UINT32_MAX ? UINT32_MAX : (uint32_t)restarts;
	c->state = state_of(known_field(status, c->previous ? &last_field : &state_field));
	c->name = known_text(status, &name_field);
	c->image = known_text(status, &image_field);
	c->image_id = known_text(status, &image_id_field);
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
	for (size_t i = 0; c->id[0] && i < 2 * LISTS; i++) {
		bool previous = i >= LISTS;

		if (find_in(known_field(status, &lists[i % LISTS].field), c->id, previous, &found)) {
			c->kind = lists[i % LISTS].kind;
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

	for (size_t i = 0; i < LISTS; i++) {
		struct value_iter it = value_iterate(known_field(status, &lists[i].field));

		while (value_next(&it)) {
			struct informer_text id = known_text(it.item, &id_field);

			container_id_strip(&id.data, &id.length);
			add_id(ids, id.data, id.length);
		}
	}
}
