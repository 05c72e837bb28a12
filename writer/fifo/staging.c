/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Staging. Deletions and changes are rare here (an object that goes, or changes, while a WatchList still
 * sends the state before that), so they are only noted with their place among the items, and applied all
 * together at the end, in one pass over the items.
 */
#include "writer/fifo/staging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 512u

/* Items of this key in front of `before` do not count any more. */
struct staged_deletion {
	uint64_t key_hash;
	uint32_t draft;		/* has the key */
	size_t before;
	bool change;		/* the draft is an item, the newer state; else it is nobody else's */
};

void
staging_init(struct staging *s, struct delta_fifo *fifo)
{
	*s = (struct staging){ .fifo = fifo, .known = *delta_fifo_known(fifo) };
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
			s->known.discard(s->known.context, s->deletions[i].draft);
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

static int
reserve(struct staging *s)
{
	size_t capacity = s->capacity ? s->capacity * 2 : FIRST_CAPACITY;
	struct delta_item *grown;

	if (s->count < s->capacity)
		return 0;
	grown = realloc(s->items, capacity * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->items = grown;
	s->capacity = capacity;
	return 0;
}

int
staging_add(struct staging *s, uint32_t draft)
{
	int r = reserve(s);

	if (r == 0)
		s->items[s->count++] = delta_fifo_stage(s->fifo, draft);
	return r;
}

static int
note_deletion(struct staging *s, uint32_t draft, bool change)
{
	const struct object *o = s->known.object(s->known.context, draft);

	if (!o)
		return -EBADMSG;
	if (s->deletion_count == s->deletion_capacity) {
		size_t capacity = s->deletion_capacity ? s->deletion_capacity * 2 : 16;
		struct staged_deletion *grown = realloc(s->deletions, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->deletions = grown;
		s->deletion_capacity = capacity;
	}
	s->deletions[s->deletion_count++] = (struct staged_deletion){ o->key_hash, draft, s->count, change };
	return 0;
}

/* Not compared with what is known: it may have been so before the item that it replaces. */
int
staging_change(struct staging *s, uint32_t draft)
{
	int r = reserve(s);

	if (r == 0)
		r = note_deletion(s, draft, true);
	if (r == 0)
		s->items[s->count++] = (struct delta_item){draft, FOUND_UNASKED};
	return r;
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
same_key(const struct object *a, const struct object *b)
{
	return a->namespace_length == b->namespace_length && a->name_length == b->name_length &&
	       memcmp(object_namespace(a), object_namespace(b), a->namespace_length) == 0 &&
	       memcmp(object_name(a), object_name(b), a->name_length) == 0;
}

static bool
is_gone(const struct staging *s, size_t position)
{
	const struct object *o = s->known.object(s->known.context, s->items[position].ref);
	size_t low = 0, high = s->deletion_count;

	if (!o)
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->deletions[middle].key_hash < o->key_hash)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->deletion_count && s->deletions[low].key_hash == o->key_hash; low++) {
		const struct object *deleted = s->known.object(s->known.context, s->deletions[low].draft);

		if (position < s->deletions[low].before && deleted && same_key(o, deleted))
			return true;
	}
	return false;
}

int
staging_settle(struct staging *s)
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
staging_replace(struct staging *s, const char *version)
{
	int r = staging_settle(s);

	if (r == 0)
		r = delta_fifo_replace(s->fifo, s->items, s->count);
	if (r < 0)
		return r;
	s->count = 0; /* the FIFO's now */
	free(s->items);
	s->items = NULL;
	s->capacity = 0;
	return delta_fifo_set_version(s->fifo, version, strlen(version));
}
