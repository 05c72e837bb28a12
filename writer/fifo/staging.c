/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages items in the order of their arrival. Deletions and changes are rare (they occur while a WatchList
 * still sends the state). They are noted with their place among the items, and applied in one pass at the
 * end.
 */
#include "writer/fifo/staging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u

/* Items of this key before position `before` no longer count. */
struct staged_deletion {
	uint64_t key_hash;
	uint32_t draft;		/* has the key */
	size_t before;
	bool change;		/* the draft is also an item, the newer state */
};

void
staging_init(struct staging *s, struct delta_fifo *fifo)
{
	*s = (struct staging){.fifo = fifo};
}

void
staging_done(struct staging *s)
{
	if (!s->fifo)
		return;
	staging_discard(s);
	free(s->items);
	free(s->deletions);
	*s = (struct staging){ 0 };
}

static void
forget_deletions(struct staging *s)
{
	for (size_t i = 0; i < s->deletion_count; i++)
		if (!s->deletions[i].change)
			delta_fifo_discard(s->fifo, s->deletions[i].draft);
	s->deletion_count = 0;
}

void
staging_discard(struct staging *s)
{
	forget_deletions(s);
	for (size_t i = 0; i < s->count; i++)
		delta_fifo_unstage(s->fifo, s->items[i]);
	s->count = 0;
}

/* Make room for one more element of `size` bytes. Returns the array, moved or not; NULL: no memory. */
static void *
reserve(void *at, size_t count, size_t *capacity, size_t size)
{
	size_t wanted = *capacity ? *capacity * 2 : FIRST_CAPACITY;

	if (count < *capacity)
		return at;
	at = realloc(at, wanted * size);
	if (at)
		*capacity = wanted;
	return at;
}

static int
add(struct staging *s, struct delta_item item)
{
	struct delta_item *items = reserve(s->items, s->count, &s->capacity, sizeof(*items));

	if (!items) {
		delta_fifo_unstage(s->fifo, item);
		return -ENOMEM;
	}
	s->items = items;
	s->items[s->count++] = item;
	return 0;
}

int
staging_add(struct staging *s, uint32_t draft)
{
	return add(s, delta_fifo_stage(s->fifo, draft));
}

static int
note_deletion(struct staging *s, uint32_t draft, bool change)
{
	uint64_t key_hash = delta_fifo_object(s->fifo, draft)->key_hash;
	struct staged_deletion *deletions = reserve(s->deletions, s->deletion_count, &s->deletion_capacity,
						    sizeof(*deletions));

	if (!deletions) {
		if (!change)
			delta_fifo_discard(s->fifo, draft);
		return -ENOMEM;
	}
	s->deletions = deletions;
	s->deletions[s->deletion_count++] = (struct staged_deletion){key_hash, draft,
								     s->count - (change ? 1 : 0), change};
	return 0;
}

/* Not compared with the known object: it may equal that object and still replace a different staged item. */
int
staging_change(struct staging *s, uint32_t draft)
{
	int r = add(s, (struct delta_item){draft, FOUND_UNASKED});

	return r < 0 ? r : note_deletion(s, draft, true);
}

int
staging_delete(struct staging *s, uint32_t draft)
{
	return note_deletion(s, draft, false);
}

static int
compare(const void *a, const void *b)
{
	uint64_t left = ((const struct staged_deletion *)a)->key_hash,
		 right = ((const struct staged_deletion *)b)->key_hash;

	return left < right ? -1 : left > right;
}

static bool
is_gone(const struct staging *s, size_t position)
{
	const struct object *o = delta_fifo_object(s->fifo, s->items[position].ref);
	size_t low = 0, high = s->deletion_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->deletions[middle].key_hash < o->key_hash)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->deletion_count && s->deletions[low].key_hash == o->key_hash; low++) {
		if (position < s->deletions[low].before &&
		    object_has_key(delta_fifo_object(s->fifo, s->deletions[low].draft), object_namespace(o),
				   o->namespace_length, object_name(o), o->name_length))
			return true;
	}
	return false;
}

/* Drop the items that no longer count. */
static int
drop_deleted(struct staging *s)
{
	bool *gone = s->deletion_count > 0 ? calloc(s->count + 1, sizeof(*gone)) : NULL;
	size_t kept = 0;

	if (s->deletion_count == 0)
		return 0;
	if (!gone)
		return -ENOMEM;
	qsort(s->deletions, s->deletion_count, sizeof(s->deletions[0]), compare);
	for (size_t i = 0; i < s->count; i++)
		gone[i] = is_gone(s, i);
	forget_deletions(s);
	for (size_t i = 0; i < s->count; i++) {
		if (gone[i])
			delta_fifo_unstage(s->fifo, s->items[i]);
		else
			s->items[kept++] = s->items[i];
	}
	s->count = kept;
	free(gone);
	return 0;
}

int
staging_replace(struct staging *s, const char *version, uint64_t *ret_count)
{
	int r = drop_deleted(s);

	*ret_count = s->count;
	if (r == 0)
		r = delta_fifo_replace(s->fifo, s->items, s->count);
	if (r < 0)
		return r;
	s->count = 0; /* the FIFO has them now */
	free(s->items);
	s->items = NULL;
	s->capacity = 0;
	return delta_fifo_set_version(s->fifo, version, strlen(version));
}
