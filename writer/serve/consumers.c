/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the named consumers for the broker, in an unordered table of a few hundred at most. It polls and
 * clamps acknowledgements, hands them to the store, and forgets names that have been absent too long.
 */
#include "writer/serve/consumers.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/time_ns.h"
#include "writer/base/clock.h"

/* Hand all ages to the store at least this often: a daemon that is killed hands over nothing more. */
#define RENEW_NS (3600ull * 1000000000u)
#define STEP_NS  (60ull * 1000000000u)

/*
 * kept    the consumer has acknowledged something, in this life or before: the arena keeps it
 * cursor  of the attached reader; NULL: none
 */
struct consumer_seat {
	struct consumers *consumers;
	struct consumer consumer;
	bool kept;
	const struct queue_cursor *cursor;
};

struct consumers {
	struct store *store;
	struct consumers_limits limits;
	struct consumer_seat **records; /* room for limits.total, or for all adopted ones if they are more */
	size_t count;
	uint8_t lineage[16];
	bool changed;			/* since the last tell_store() */
	uint64_t wall_ns, lived_ns;	/* at the last poll */
	uint64_t untold_ns;		/* run time, and time moved over, since the last tell_store() */
};

/* ---- records ---- */

static struct consumer_seat *
find(const struct consumers *c, uid_t uid, const char *name, size_t length)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct consumer *k = &c->records[i]->consumer;

		if (k->uid == uid && k->name_length == length && memcmp(k->name, name, length) == 0)
			return c->records[i];
	}
	return NULL;
}

static void
forget(struct consumers *c, struct consumer_seat *record)
{
	size_t i = 0;

	while (c->records[i] != record)
		i++;
	c->records[i] = c->records[--c->count];
	c->changed |= record->kept;
	free(record);
}

/* Make room for one more name of this user; names of other users stay. */
static int
make_room(struct consumers *c, uid_t uid)
{
	struct consumer_seat *oldest = NULL;
	uint32_t of_user = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct consumer_seat *r = c->records[i];

		if (r->consumer.uid != uid)
			continue;
		of_user++;
		if (!r->cursor &&
		    (!oldest || r->consumer.last_seen_wall_ns < oldest->consumer.last_seen_wall_ns))
			oldest = r;
	}
	if (of_user < c->limits.per_uid && c->count < c->limits.total)
		return 0;
	if (!oldest)
		return -EUSERS;
	forget(c, oldest);
	return 0;
}

static struct consumer_seat *
add(struct consumers *c, const struct consumer *consumer, bool kept)
{
	struct consumer_seat *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->consumers = c;
	r->consumer = *consumer;
	r->kept = kept;
	c->records[c->count++] = r;
	return r;
}

/* ---- time ---- */

/* Wall time passed in which no daemon ran, or the clock was set: shift all last_seen_wall_ns. */
static void
move_over(struct consumers *c, uint64_t ns)
{
	for (size_t i = 0; i < c->count; i++)
		c->records[i]->consumer.last_seen_wall_ns += ns;
	c->untold_ns += (int64_t)ns < 0 ? 0 - ns : ns;
}

static void
take_time(struct consumers *c, uint64_t wall_ns, uint64_t lived_ns)
{
	uint64_t lived = lived_ns > c->lived_ns ? lived_ns - c->lived_ns : 0;

	if (lived > STEP_NS)
		lived = STEP_NS;
	move_over(c, wall_ns - c->wall_ns - lived);
	c->untold_ns += lived;
	c->wall_ns = wall_ns;
	c->lived_ns = lived_ns;
}

static uint64_t
age_of(const struct consumers *c, const struct consumer_seat *r)
{
	uint64_t age = c->wall_ns - r->consumer.last_seen_wall_ns;

	return (int64_t)age < 0 ? 0 : age;
}

/* ---- acknowledgements ---- */

static void
take_acknowledgement(struct consumers *c, struct consumer_seat *r, uint64_t published)
{
	/*
	 * Meets the release stores in acknowledge() (reader-lib/events/handler.c) and informer_acknowledge():
	 * the reader did the work before it acknowledged. Without it the cursor could be ahead of the
	 * reader's work. Read once: another process may change it.
	 */
	uint64_t seq = atomic_load_explicit(&((struct queue_cursor *)(uintptr_t)r->cursor)->acknowledged,
					    memory_order_acquire);
	bool same_lineage = r->kept && memcmp(r->consumer.lineage, c->lineage, sizeof(c->lineage)) == 0;

	if (seq == 0 || seq > published || (same_lineage && seq <= r->consumer.seq))
		return;
	memcpy(r->consumer.lineage, c->lineage, sizeof(c->lineage));
	r->consumer.seq = seq;
	r->kept = true;
	c->changed = true;
}

static void
tell_store(struct consumers *c)
{
	struct consumer *list = calloc(c->count ? c->count : 1, sizeof(*list));
	size_t n = 0;

	if (!list)
		return;
	for (size_t i = 0; i < c->count; i++)
		if (c->records[i]->kept)
			list[n++] = c->records[i]->consumer;
	/* If there is no room, the next poll tries again. */
	if (store_set_consumers(c->store, list, n) == 0) {
		c->changed = false;
		c->untold_ns = 0;
	}
	free(list);
}

bool
consumers_poll(struct consumers *c, uint64_t now_wall_ns, uint64_t lived_ns)
{
	uint64_t published = arena_published_seq(store_arena(c->store));
	bool renew;

	take_time(c, now_wall_ns, lived_ns);
	renew = c->untold_ns > RENEW_NS;
	for (size_t i = 0; i < c->count;) {
		struct consumer_seat *r = c->records[i];

		if (r->cursor) {
			take_acknowledgement(c, r, published);
			r->consumer.last_seen_wall_ns = now_wall_ns;
		} else if (age_of(c, r) > c->limits.age_ns) {
			forget(c, r);
			continue;
		}
		c->changed |= renew && r->kept;
		i++;
	}
	if (!c->changed)
		return false;
	tell_store(c);
	return !c->changed;
}

/* ---- seats ---- */

int
consumers_sit(struct consumers *c, uid_t uid, const char *name, size_t length,
	      const struct queue_cursor *cursor, struct consumer_seat **ret_seat, uint8_t ret_lineage[16],
	      uint64_t *ret_seq)
{
	struct consumer_seat *r = find(c, uid, name, length);
	struct consumer fresh = {.uid = uid, .name_length = (uint8_t)length};
	int error;

	if (length == 0 || length > CONSUMER_NAME_MAX)
		return -EINVAL;
	if (r && r->cursor)
		return -EBUSY;
	if (!r) {
		memcpy(fresh.name, name, length);
		error = make_room(c, uid);
		r = error == 0 ? add(c, &fresh, false) : NULL;
		if (!r)
			return error < 0 ? error : -ENOMEM;
	}
	r->consumer.last_seen_wall_ns = c->wall_ns;
	c->changed |= r->kept;
	r->cursor = cursor;
	*ret_seat = r;
	memcpy(ret_lineage, r->consumer.lineage, sizeof(r->consumer.lineage));
	*ret_seq = r->consumer.seq;
	return r->kept;
}

void
consumers_leave(struct consumer_seat *r)
{
	struct consumers *c;

	if (!r)
		return;
	c = r->consumers;
	take_acknowledgement(c, r, arena_published_seq(store_arena(c->store)));
	r->consumer.last_seen_wall_ns = c->wall_ns;
	r->cursor = NULL;
	if (r->kept)
		c->changed = true;
	else
		forget(c, r);
}

/* ---- the report ---- */

static bool
add_to_report(cJSON *array, const struct consumers *c, const struct consumer_seat *r, uint64_t published)
{
	bool known = r->kept && memcmp(r->consumer.lineage, c->lineage, sizeof(c->lineage)) == 0;
	char seen[CLOCK_TEXT_SIZE], name[CONSUMER_NAME_MAX + 1];
	cJSON *o = cJSON_CreateObject();

	if (!o || !cJSON_AddItemToArray(array, o)) {
		cJSON_Delete(o);
		return false;
	}
	memcpy(name, r->consumer.name, r->consumer.name_length);
	name[r->consumer.name_length] = '\0';
	return cJSON_AddStringToObject(o, "name", name) &&
	       cJSON_AddNumberToObject(o, "uid", r->consumer.uid) &&
	       cJSON_AddNumberToObject(o, "seq", (double)r->consumer.seq) &&
	       cJSON_AddNumberToObject(o, "lag",
				       known && published > r->consumer.seq
					       ? (double)(published - r->consumer.seq)
				       : known ? 0
					       : -1) &&
	       cJSON_AddBoolToObject(o, "attached", r->cursor != NULL) &&
	       cJSON_AddStringToObject(o, "lastSeen", clock_text(r->consumer.last_seen_wall_ns, seen));
}

cJSON *
consumers_json(struct consumers *c)
{
	cJSON *array = cJSON_CreateArray();
	uint64_t published = arena_published_seq(store_arena(c->store));

	for (size_t i = 0; array && i < c->count; i++) {
		if (add_to_report(array, c, c->records[i], published))
			continue;
		cJSON_Delete(array);
		array = NULL;
	}
	return array;
}

/* ---- creating and freeing ---- */

/* Adopted consumers are input: names that are invalid or stand there twice are left out. */
static int
take_over(struct consumers *c, const struct consumer *known, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct consumer k = known[i];
		size_t length = k.name_length;

		if (length == 0 || length > CONSUMER_NAME_MAX || find(c, k.uid, k.name, length))
			continue;
		memset(k.name + length, 0, sizeof(k.name) - length);
		if (!add(c, &k, true))
			return -ENOMEM;
	}
	return 0;
}

int
consumers_new(struct store *store, struct consumers_limits limits, struct consumers **ret_consumers)
{
	struct consumers *c = calloc(1, sizeof(*c));
	const struct consumer *known;
	size_t count;

	if (!c)
		return -ENOMEM;
	known = store_consumers(store, &count);
	c->store = store;
	c->limits = limits;
	c->records = calloc((count > limits.total ? count : limits.total) + 1, sizeof(c->records[0]));
	if (!c->records || take_over(c, known, count) < 0) {
		consumers_free(c);
		return -ENOMEM;
	}
	store_lineage(store, c->lineage);
	c->wall_ns = time_ns(CLOCK_REALTIME);
	c->lived_ns = time_ns(CLOCK_MONOTONIC);
	if (store_adopted_wall_ns(store))
		move_over(c, c->wall_ns - store_adopted_wall_ns(store));
	tell_store(c); /* so that the first commit shows the moved times beside its own */
	*ret_consumers = c;
	return 0;
}

void
consumers_free(struct consumers *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->records && i < c->count; i++)
		free(c->records[i]);
	free(c->records);
	free(c);
}
