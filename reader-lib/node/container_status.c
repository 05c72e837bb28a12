/* SPDX-License-Identifier: Apache-2.0 */
#include "reader-lib/node/container_status.h"

#include <string.h>

#include "shm-layout/value_field.h"

static const struct {
	const char *field;
	enum informer_container_kind kind;
} lists[] = {
	{"containerStatuses", INFORMER_CONTAINER_REGULAR},
	{"initContainerStatuses", INFORMER_CONTAINER_INIT},
	{"ephemeralContainerStatuses", INFORMER_CONTAINER_EPHEMERAL},
};
#define LISTS (sizeof(lists) / sizeof(lists[0]))

static struct informer_text
text_at(struct value object, const char *name)
{
	struct informer_text text = {"", 0};

	value_string(value_at_name(object, name), &text.data, &text.length);
	return text;
}

/* Whether a containerID, as "containerd://ID", has this ID. */
static bool
has_id(struct value object, const char *id)
{
	struct informer_text text = text_at(object, "containerID");
	size_t length = strlen(id), scheme = text.length - length;

	return text.length >= length && memcmp(text.data + scheme, id, length) == 0 &&
	       (scheme == 0 || text.data[scheme - 1] == '/');
}

static enum informer_container_state
state_of(struct value state)
{
	static const char *const names[] = {
		[INFORMER_CONTAINER_WAITING] = "waiting",
		[INFORMER_CONTAINER_RUNNING] = "running",
		[INFORMER_CONTAINER_TERMINATED] = "terminated",
	};

	for (unsigned i = INFORMER_CONTAINER_WAITING; i <= INFORMER_CONTAINER_TERMINATED; i++)
		if (value_at_name(state, names[i]).at)
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
			run = value_at_name(value_at_name(run, "lastState"), "terminated");
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

	value_uint(value_at_name(status, "restartCount"), &restarts);
	c->restart_count = restarts > UINT32_MAX ? UINT32_MAX : (uint32_t)restarts;
	c->state = state_of(value_at_name(status, c->previous ? "lastState" : "state"));
	c->name = text_at(status, "name");
	c->image = text_at(status, "image");
	c->image_id = text_at(status, "imageID");
}

void
container_status_find(struct value pod, struct informer_container *c)
{
	struct value status = value_at_name(pod, "status"), found;

	c->kind = INFORMER_CONTAINER_UNKNOWN;
	c->previous = false;
	c->state = INFORMER_CONTAINER_NO_STATE;
	c->restart_count = 0;
	c->name = c->image = c->image_id = (struct informer_text){"", 0};
	for (size_t i = 0; c->id[0] && i < 2 * LISTS; i++) {
		bool previous = i >= LISTS;

		if (find_in(value_at_name(status, lists[i % LISTS].field), c->id, previous, &found)) {
			c->kind = lists[i % LISTS].kind;
			c->previous = previous;
			fill(c, found);
			return;
		}
	}
}
