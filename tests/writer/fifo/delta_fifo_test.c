/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeltaFIFO alone: pops are withheld for as long as a test likes, and processing fails where a test says so.
 * The known objects are a small table instead of an arena. Behaviours of client-go's delta_fifo_test.go carry
 * its names in brackets.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shm-layout/fnv.h"
#include "shm-layout/root.h"
#include "tests/room.h"
#include "writer/fifo/delta_fifo.h"

/* ---- a world of objects ---------------------------------------------------- */

#define BLOCKS_MAX 600

struct block_of_test {
	_Alignas(8) char bytes[sizeof(struct object) + 64];
	unsigned uid, version;
	bool draft, known;
};

struct world {
	struct block_of_test blocks[BLOCKS_MAX]; /* ref - 1; never used twice, so that a stale ref shows */
	uint32_t used;
	bool same_hash;			/* all keys share one hash */
	struct delta_fifo *fifo;
	char log[16384];		/* what was popped */
	const char *fail_key;		/* processing of this key fails … */
	size_t fail_after;		/* … after so many of its Deltas were processed */
};

static struct object *
object_of(struct world *w, uint32_t ref)
{
	assert_in_range(ref, 1, w->used);
	return (struct object *)(void *)w->blocks[ref - 1].bytes;
}

static const struct object *
world_object(void *context, uint32_t ref)
{
	struct world *w = context;

	return ref >= 1 && ref <= w->used && (w->blocks[ref - 1].draft || w->blocks[ref - 1].known)
		       ? object_of(w, ref)
		       : NULL;
}

static uint32_t
world_find(void *context, uint64_t key_hash, const char *ns, size_t ns_length, const char *name,
	   size_t name_length)
{
	struct world *w = context;

	for (uint32_t ref = 1; ref <= w->used; ref++)
		if (w->blocks[ref - 1].known && object_of(w, ref)->key_hash == key_hash &&
		    object_has_key(object_of(w, ref), ns, ns_length, name, name_length))
			return ref;
	return 0;
}

static uint32_t
world_look(void *context, uint32_t draft, bool *ret_same)
{
	struct world *w = context;
	const struct object *o = object_of(w, draft);
	uint32_t known = world_find(w, o->key_hash, object_namespace(o), o->namespace_length, object_name(o),
				    o->name_length);
	bool same_uid = known && w->blocks[known - 1].uid == w->blocks[draft - 1].uid;

	*ret_same = same_uid && w->blocks[known - 1].version == w->blocks[draft - 1].version;
	return same_uid ? known : FOUND_NEW | known;
}

static void
world_each(void *context, void (*visit)(void *visitor, uint32_t ref), void *visitor)
{
	struct world *w = context;

	for (uint32_t ref = 1; ref <= w->used; ref++)
		if (w->blocks[ref - 1].known)
			visit(visitor, ref);
}

static uint64_t
world_count(void *context)
{
	struct world *w = context;
	uint64_t count = 0;

	for (uint32_t i = 0; i < w->used; i++)
		count += w->blocks[i].known;
	return count;
}

static bool
world_same_uid(void *context, uint32_t ref, uint32_t other)
{
	struct world *w = context;

	assert_non_null(world_object(w, ref));
	assert_non_null(world_object(w, other));
	return w->blocks[ref - 1].uid == w->blocks[other - 1].uid;
}

static void
world_discard(void *context, uint32_t draft)
{
	struct world *w = context;

	assert_in_range(draft, 1, w->used);
	assert_true(w->blocks[draft - 1].draft);
	w->blocks[draft - 1].draft = false;
}

/* A draft of "ns/name" or "name"; uid 1 unless the test says otherwise. */
static uint32_t
draft_uid(struct world *w, const char *key, unsigned version, unsigned uid)
{
	const char *slash = strchr(key, '/');
	size_t ns_length = slash ? (size_t)(slash - key) : 0;
	const char *name = slash ? slash + 1 : key;
	struct object *o;

	assert_true(w->used < BLOCKS_MAX);
	o = (struct object *)(void *)w->blocks[w->used++].bytes;
	o->key_hash = w->same_hash ? 7 : fnv64(FNV64_BEGIN, key, strlen(key));
	o->namespace_length = (uint8_t)ns_length;
	o->name_length = (uint16_t)strlen(name);
	memcpy(o->key, key, ns_length);
	memcpy(o->key + ns_length, name, strlen(name));
	w->blocks[w->used - 1].version = version;
	w->blocks[w->used - 1].uid = uid;
	w->blocks[w->used - 1].draft = true;
	return w->used;
}

static uint32_t
draft(struct world *w, const char *key, unsigned version)
{
	return draft_uid(w, key, version, 1);
}

/* An item of a list, which nobody has compared yet. */
static struct delta_item
listed(struct world *w, const char *key, unsigned version)
{
	return (struct delta_item){draft(w, key, version), FOUND_UNASKED};
}

static uint32_t
know(struct world *w, const char *key, unsigned version)
{
	uint32_t ref = draft(w, key, version);

	w->blocks[ref - 1].draft = false;
	w->blocks[ref - 1].known = true;
	return ref;
}

static size_t
drafts_alive(const struct world *w)
{
	size_t count = 0;

	for (uint32_t i = 0; i < w->used; i++)
		count += w->blocks[i].draft;
	return count;
}

static void
world_expect(void *context, uint32_t draft)
{
	(void)context;
	(void)draft;
}

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct known_objects known = {w,           world_object,   world_find,    world_look,  world_each,
				      world_count, world_same_uid, world_discard, world_expect};

	if (!w)
		return -1;
	w->fifo = delta_fifo_new(&known);
	*state = w;
	return w->fifo ? 0 : -1;
}

/* Every test ends with the proof that no draft leaked. */
static int
tear_down(void **state)
{
	struct world *w = *state;
	size_t alive;

	delta_fifo_free(w->fifo);
	alive = drafts_alive(w);
	free(w);
	return alive == 0 ? 0 : -1;
}

/*
 * Process as the store would: "ns/name A9, ns/name U12, name D?" — key, type, version, '?' a tombstone, '='
 * unchanged. What is known changes accordingly, and old blocks become unreadable at once.
 */
static int
apply(void *context, const struct delta *d)
{
	struct world *w = context;
	uint32_t known = world_find(w, d->key_hash, d->ns, d->ns_length, d->name, d->name_length);
	char key[128];
	size_t at = strlen(w->log);
	bool fails;

	snprintf(key, sizeof(key), "%.*s%s%.*s", (int)d->ns_length, d->ns, d->ns_length ? "/" : "",
		 (int)d->name_length, d->name);
	at += (size_t)snprintf(w->log + at, sizeof(w->log) - at, "%s%s ", at > 0 ? ", " : "", key);
	fails = w->fail_key && strcmp(w->fail_key, key) == 0;
	if (fails && w->fail_after-- == 0) {
		w->fail_after = 0;
		snprintf(w->log + at, sizeof(w->log) - at, "failed");
		return -ENOSPC;
	}
	at += (size_t)snprintf(w->log + at, sizeof(w->log) - at, "%c", "AUDRS"[d->type]);
	if (d->unchanged || d->type == DELTA_SYNC || d->tombstone)
		assert_int_equal(d->ref, known);
	if (d->found != FOUND_UNASKED) {
		assert_int_equal(found_known(d->found), known);
		if (known)
			assert_int_equal((d->found & FOUND_NEW) != 0,
					 w->blocks[known - 1].uid != w->blocks[d->ref - 1].uid);
	}
	if (d->tombstone)
		snprintf(w->log + at, sizeof(w->log) - at, "?");
	else if (d->unchanged)
		snprintf(w->log + at, sizeof(w->log) - at, "=");
	else if (d->type != DELTA_SYNC)
		snprintf(w->log + at, sizeof(w->log) - at, "%u", w->blocks[d->ref - 1].version);
	if (d->unchanged || d->type == DELTA_SYNC)
		return 0;
	if (known)
		w->blocks[known - 1].known = false;
	if (d->type == DELTA_DELETED && !d->tombstone)
		world_discard(w, d->ref);
	if (d->type != DELTA_DELETED) {
		assert_true(w->blocks[d->ref - 1].draft);
		w->blocks[d->ref - 1].draft = false;
		w->blocks[d->ref - 1].known = true;
	}
	return 0;
}

static const char *
pop(struct world *w, size_t max)
{
	w->log[0] = '\0';
	delta_fifo_pop(w->fifo, max, apply, w, NULL);
	return w->log;
}

#define FIFO(w) ((w)->fifo)
#define ok(expression) assert_int_equal((expression), 0)

static void
replace(struct world *w, size_t count, const struct delta_item *items)
{
	ok(delta_fifo_replace(FIFO(w), items, count));
}

/* ---- order ------------------------------------------------------------------ */

#define T(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* Deltas come in the order of their arrival, whatever their keys: the RVs told never go back. */
T(deltas_come_in_the_order_of_their_arrival)
{
	ok(delta_fifo_add(FIFO(w), draft(w, "a/x", 1)));
	ok(delta_fifo_add(FIFO(w), draft(w, "a/y", 2)));
	ok(delta_fifo_update(FIFO(w), draft(w, "a/x", 3)));
	ok(delta_fifo_add(FIFO(w), draft(w, "node-1", 4)));
	ok(delta_fifo_delete(FIFO(w), draft(w, "a/y", 5)));
	ok(delta_fifo_update(FIFO(w), draft(w, "a/x", 6)));
	assert_int_equal(delta_fifo_queued(FIFO(w)), 6);
	assert_string_equal(pop(w, 100), "a/x A1, a/y A2, a/x U3, node-1 A4, a/y D5, a/x U6");
	assert_true(delta_fifo_is_empty(FIFO(w)));
}

/* So they do when they are popped in portions, with others coming in between. */
T(portions_keep_the_order)
{
	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	ok(delta_fifo_add(FIFO(w), draft(w, "y", 2)));
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 3)));
	assert_string_equal(pop(w, 1), "x A1");
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 4)));
	ok(delta_fifo_update(FIFO(w), draft(w, "y", 5)));
	assert_string_equal(pop(w, 2), "y A2, x U3");
	assert_string_equal(pop(w, 100), "x U4, y U5");
}

/* Keys whose hashes are equal are different keys. */
T(keys_with_equal_hashes_stay_apart)
{
	w->same_hash = true;
	ok(delta_fifo_add(FIFO(w), draft(w, "a/bc", 1)));
	ok(delta_fifo_add(FIFO(w), draft(w, "ab/c", 2)));
	ok(delta_fifo_update(FIFO(w), draft(w, "a/bc", 3)));
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "a/bc A1, ab/c A2, a/bc U3, a/bc D?, ab/c D?");
}

/* Nothing is merged: what a watch said is processed, repeated updates and deletes, too. */
T(nothing_is_merged)
{
	know(w, "x", 1);
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 2)));
	ok(delta_fifo_add(FIFO(w), draft(w, "x", 3)));
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 4)));
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 5)));
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 6)));
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 7)));
	assert_string_equal(pop(w, 100), "x D2, x A3, x U4, x U5, x D6, x D7");
}

/* A key that a list lacks and whose end is queued already is not buried as well. [DedupDeltas] */
T(a_seen_end_is_not_buried)
{
	know(w, "x", 1);
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 2)));
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "x D2");
}

/* A delete of a key that neither store nor queue has is ignored. */
T(delete_of_an_unknown_key_is_ignored)
{
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 1)));
	assert_true(delta_fifo_is_empty(FIFO(w)));
	assert_int_equal(drafts_alive(w), 0);
}

/* A delete of a key that is only queued, or only known, is queued. */
T(delete_of_a_queued_or_known_key_is_queued)
{
	know(w, "x", 1);
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 2)));
	ok(delta_fifo_add(FIFO(w), draft(w, "y", 3)));
	ok(delta_fifo_delete(FIFO(w), draft(w, "y", 4)));
	assert_string_equal(pop(w, 100), "x D2, y A3, y D4");
}

/* ---- unchanged -------------------------------------------------------------- */

/* A state with the UID and resourceVersion that is known takes no new body. */
T(the_known_version_takes_no_new_body)
{
	uint32_t same = 0;

	know(w, "x", 5);
	ok(delta_fifo_add(FIFO(w), same = draft(w, "x", 5)));
	assert_false(w->blocks[same - 1].draft);
	know(w, "y", 6);
	ok(delta_fifo_update(FIFO(w), draft_uid(w, "y", 6, 2)));
	assert_string_equal(pop(w, 100), "x A=, y U6");
}

/* With something queued in between, the known version is no longer what it will be compared with. */
T(a_version_behind_a_queued_one_is_never_unchanged)
{
	know(w, "x", 5);
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 6)));
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 5)));
	assert_string_equal(pop(w, 100), "x U6, x U5");
}

/* What a list repeats is discarded when it is staged, so that a relist needs no room for a second copy. */
T(staging_discards_what_is_known)
{
	struct delta_item items[3];

	know(w, "a", 1);
	know(w, "b", 2);
	items[0] = delta_fifo_stage(FIFO(w), draft(w, "a", 1));
	items[1] = delta_fifo_stage(FIFO(w), draft(w, "b", 3));
	items[2] = delta_fifo_stage(FIFO(w), draft(w, "c", 4));
	assert_int_equal(drafts_alive(w), 2);
	replace(w, 3, items);
	assert_string_equal(pop(w, 100), "a R=, b R3, c R4");
}

/* A failed list is taken back without a trace. */
T(unstaging_leaves_nothing)
{
	struct delta_item items[2];

	know(w, "a", 1);
	items[0] = delta_fifo_stage(FIFO(w), draft(w, "a", 1));
	items[1] = delta_fifo_stage(FIFO(w), draft(w, "b", 2));
	delta_fifo_unstage(FIFO(w), items[0]);
	delta_fifo_unstage(FIFO(w), items[1]);
	assert_int_equal(drafts_alive(w), 0);
	assert_true(delta_fifo_is_empty(FIFO(w)));
	assert_int_equal(world_count(w), 1);
}

/*
 * While something of a watch is still queued, staging keeps the body: what is known may change before the
 * list is whole.
 */
T(staging_keeps_bodies_while_something_is_queued)
{
	struct delta_item item;

	know(w, "a", 1);
	ok(delta_fifo_update(FIFO(w), draft(w, "a", 2)));
	item = delta_fifo_stage(FIFO(w), draft(w, "a", 1));
	assert_string_equal(pop(w, 100), "a U2");
	replace(w, 1, &item);
	assert_string_equal(pop(w, 100), "a R1");
}

/* ---- Replace and Resync ------------------------------------------------------ */

/*
 * A list makes every item a REPLACED, and every known key that it lacks a tombstone with the last known
 * state. The deletions come first. [ReplaceMakesDeletions]
 */
T(replace_buries_known_keys_that_are_missing)
{
	struct delta_item items[2];

	know(w, "a", 1);
	know(w, "b", 2);
	know(w, "z", 3);
	items[0] = listed(w, "b", 4);
	items[1] = listed(w, "c", 5);
	replace(w, 2, items);
	assert_string_equal(pop(w, 100), "a D?, z D?, b R4, c R5");
	assert_int_equal(world_count(w), 2);
}

/*
 * An object whose name the list gives to another UID is deleted, too: in front, with the others, so that
 * nobody who took over what it had is told of before its end.
 */
T(replace_buries_what_lost_its_name)
{
	struct delta_item items[3];

	know(w, "a", 1);
	know(w, "b", 2);
	know(w, "c", 3);
	items[0] = listed(w, "a", 4);
	items[1] = (struct delta_item){draft_uid(w, "b", 5, 2), FOUND_UNASKED};
	items[2] = delta_fifo_stage(FIFO(w), draft_uid(w, "c", 6, 2));
	replace(w, 3, items);
	assert_string_equal(pop(w, 100), "b D?, c D?, a R4, b R5, c R6");
	assert_int_equal(world_count(w), 3);
}

/* The same when what lost its name is only queued, and not when that is deleted already. */
T(replace_buries_what_lost_its_name_in_the_queue)
{
	struct delta_item items[4];

	know(w, "x", 1);
	know(w, "y", 2);
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 3)));
	ok(delta_fifo_delete(FIFO(w), draft(w, "y", 4)));
	ok(delta_fifo_add(FIFO(w), draft_uid(w, "z", 5, 2)));
	items[0] = listed(w, "a", 6);
	items[1] = (struct delta_item){draft_uid(w, "x", 7, 2), FOUND_UNASKED};
	items[2] = (struct delta_item){draft_uid(w, "y", 8, 2), FOUND_UNASKED};
	items[3] = (struct delta_item){draft_uid(w, "z", 9, 2), FOUND_UNASKED};
	replace(w, 4, items);
	assert_string_equal(pop(w, 100), "x U3, y D4, z A5, x D?, a R6, x R7, y R8, z R9");
}

/* A list that has a key many times, each with another UID, says nothing that could be told in front. */
T(a_list_may_have_a_key_many_times)
{
	struct delta_item items[4];

	know(w, "x", 1);
	for (unsigned i = 0; i < 4; i++)
		items[i] = (struct delta_item){draft_uid(w, "x", i + 2, i + 2), FOUND_UNASKED};
	replace(w, 4, items);
	assert_string_equal(pop(w, 100), "x D?, x R2, x R3, x R4, x R5");
	assert_true(delta_fifo_is_empty(FIFO(w)));
	items[0] = delta_fifo_stage(FIFO(w), draft_uid(w, "x", 5, 5));
	items[1] = delta_fifo_stage(FIFO(w), draft_uid(w, "x", 5, 5));
	items[2] = delta_fifo_stage(FIFO(w), draft_uid(w, "x", 6, 5));
	items[3] = delta_fifo_stage(FIFO(w), draft_uid(w, "x", 5, 5));
	replace(w, 4, items);
	assert_string_equal(pop(w, 100), "x R=, x R6");
	assert_int_equal(world_count(w), 1);
}

/*
 * A key that is only queued and not in the list gets a tombstone behind what is queued.
 * [ReplaceMakesDeletionsForObjectsOnlyInQueue]
 */
T(replace_buries_keys_that_are_only_queued)
{
	struct delta_item item;

	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	item = listed(w, "y", 2);
	replace(w, 1, &item);
	assert_string_equal(pop(w, 100), "x A1, x D?, y R2");
	assert_int_equal(world_count(w), 1);
}

/* So does one that waits, which an earlier list brought, or a watch. */
T(replace_buries_keys_that_wait)
{
	struct delta_item item;

	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	w->fail_key = "x";
	pop(w, 100);
	w->fail_key = NULL;
	item = listed(w, "y", 2);
	replace(w, 1, &item);
	delta_fifo_retry(FIFO(w));
	assert_string_equal(pop(w, 100), "x A1, x D?, y R2");
	assert_int_equal(world_count(w), 1);
}

/*
 * A key that is known and queued is buried once, after its queued Deltas.
 * [ReplaceMakesDeletionsForObjectsInQueue]
 */
T(replace_buries_a_key_that_is_known_and_queued_once)
{
	know(w, "x", 1);
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 2)));
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 3)));
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "x U2, x U3, x D?");
	assert_int_equal(world_count(w), 0);
}

/* Items of a list go behind what is queued, and keep the list's order. */
T(replace_keeps_what_is_queued_before_it)
{
	struct delta_item items[2];

	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	items[0] = listed(w, "y", 3);
	items[1] = listed(w, "x", 2);
	replace(w, 2, items);
	assert_string_equal(pop(w, 100), "x A1, y R3, x R2");
}

/* A second list before the first was popped buries what only the first one had. */
T(a_second_replace_buries_what_only_the_first_had)
{
	struct delta_item items[2] = { listed(w, "x", 1), listed(w, "y", 1) };

	replace(w, 2, items);
	items[0] = listed(w, "y", 2);
	replace(w, 1, items);
	assert_string_equal(pop(w, 100), "x R1, y R1, x D?, y R2");
}

/* A list with a ref that names no object changes nothing, and its items stay the caller's. */
T(a_refused_replace_changes_nothing)
{
	struct delta_item items[2] = { listed(w, "x", 1), { 4711, FOUND_UNASKED } };

	know(w, "y", 1);
	assert_int_equal(delta_fifo_replace(FIFO(w), items, 2), -EBADMSG);
	assert_true(delta_fifo_is_empty(FIFO(w)));
	assert_int_equal(drafts_alive(w), 1);
	delta_fifo_unstage(FIFO(w), items[0]);
}

/*
 * Whatever is queued for a key that a list lacks, one burial stands at its end, however many lists lack it.
 * [ReplaceMakesDeletionsForObjectsInQueue]
 */
T(a_key_that_goes_is_buried_once)
{
	struct delta_item item;

	/* deleted already */
	know(w, "deleted", 1);
	ok(delta_fifo_delete(FIFO(w), draft(w, "deleted", 2)));
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "deleted D2");
	/* waiting to be told again */
	know(w, "synced", 1);
	ok(delta_fifo_resync(FIFO(w)));
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "synced S, synced D?");
	/* in one list, and missing from the next two */
	item = listed(w, "listed", 1);
	replace(w, 1, &item);
	replace(w, 0, NULL);
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "listed R1, listed D?");
	/* only added, and missing from two lists */
	ok(delta_fifo_add(FIFO(w), draft(w, "added", 1)));
	replace(w, 0, NULL);
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "added A1, added D?");
	assert_int_equal(world_count(w), 0);
}

/* Resync queues a SYNC for every known object but those that have something queued. */
T(resync_skips_keys_with_something_queued)
{
	know(w, "a", 1);
	know(w, "b", 1);
	ok(delta_fifo_update(FIFO(w), draft(w, "a", 2)));
	ok(delta_fifo_resync(FIFO(w)));
	ok(delta_fifo_resync(FIFO(w)));
	assert_string_equal(pop(w, 100), "a U2, b S");
}

/* ---- listing ------------------------------------------------------------------ */

/* A list is under way from Replace until its last key was processed, whatever a watch adds behind it. */
T(listing_lasts_until_the_last_key_of_the_list)
{
	struct delta_item items[2] = { listed(w, "x", 1), listed(w, "y", 1) };

	replace(w, 2, items);
	ok(delta_fifo_add(FIFO(w), draft(w, "z", 2)));
	assert_true(delta_fifo_is_listing(FIFO(w)));
	pop(w, 1);
	assert_true(delta_fifo_is_listing(FIFO(w)));
	pop(w, 1);
	assert_false(delta_fifo_is_listing(FIFO(w)));
	assert_int_equal(delta_fifo_queued(FIFO(w)), 1);
}

/* ---- failures, close ------------------------------------------------------------ */

/* What fails goes back in front; the keys behind it have their turn meanwhile. [RequeueOnPop] */
T(what_fails_goes_back_in_front)
{
	size_t done;

	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	ok(delta_fifo_add(FIFO(w), draft(w, "y", 2)));
	w->fail_key = "x";
	assert_int_equal(delta_fifo_pop(FIFO(w), 100, apply, w, &done), -ENOSPC);
	assert_string_equal(w->log, "x failed, y A2");
	assert_int_equal(done, 1);
	assert_int_equal(delta_fifo_queued(FIFO(w)), 0);
	assert_int_equal(delta_fifo_waiting(FIFO(w)), 1);
	assert_false(delta_fifo_is_empty(FIFO(w)));

	w->fail_key = NULL;
	ok(delta_fifo_add(FIFO(w), draft(w, "z", 3)));
	delta_fifo_retry(FIFO(w));
	assert_string_equal(pop(w, 100), "x A1, z A3");
}

/* Newer Deltas of a key that waits go behind those that failed, and let other keys pass. */
T(newer_deltas_wait_behind_those_that_failed)
{
	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	w->fail_key = "x";
	pop(w, 100);
	w->fail_key = NULL;
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 2)));
	ok(delta_fifo_add(FIFO(w), draft(w, "y", 3)));
	assert_string_equal(pop(w, 100), "y A3");
	assert_int_equal(delta_fifo_queued(FIFO(w)), 0);
	assert_int_equal(delta_fifo_waiting(FIFO(w)), 2);
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 4)));
	ok(delta_fifo_update(FIFO(w), draft(w, "y", 5)));
	delta_fifo_retry(FIFO(w));
	assert_string_equal(pop(w, 100), "x A1, x U2, x U4, y U5");
}

/* Deltas that were consumed before the failure do not come back. */
T(only_what_was_not_consumed_is_put_back)
{
	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 2)));
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 3)));
	w->fail_key = "x";
	w->fail_after = 1;
	assert_string_equal(pop(w, 100), "x A1, x failed");
	w->fail_key = NULL;
	delta_fifo_retry(FIFO(w));
	assert_string_equal(pop(w, 100), "x U2, x U3");
}

/* A tombstone that is put back refers to what is known by then, not to a block that is gone. */
T(a_tombstone_put_back_refers_to_what_is_known_now)
{
	uint32_t first = know(w, "x", 1);

	ok(delta_fifo_update(FIFO(w), draft(w, "x", 2)));
	replace(w, 0, NULL);
	w->fail_key = "x";
	w->fail_after = 1;
	assert_string_equal(pop(w, 100), "x U2, x failed");
	memset(object_of(w, first), 0xee, sizeof(struct object));
	w->fail_key = NULL;
	delta_fifo_retry(FIFO(w));
	assert_string_equal(pop(w, 100), "x D?");
	assert_int_equal(world_count(w), 0);
}

/* What borrows a known object that is gone meanwhile says nothing, and does not stay. */
T(what_nothing_is_known_of_any_more_is_dropped)
{
	uint32_t known = know(w, "x", 1);

	replace(w, 0, NULL);
	w->fail_key = "x";
	assert_string_equal(pop(w, 100), "x failed");
	assert_int_equal(delta_fifo_waiting(FIFO(w)), 1);
	w->blocks[known - 1].draft = true; /* still readable, and known no more */
	w->blocks[known - 1].known = false;
	delta_fifo_retry(FIFO(w));
	assert_string_equal(pop(w, 100), "x failed");
	assert_true(delta_fifo_is_empty(FIFO(w)));
	world_discard(w, known);
}

/* Several failing keys keep their order. */
T(failing_keys_keep_their_order)
{
	struct delta_item items[3] = { listed(w, "a", 1), listed(w, "b", 1), listed(w, "c", 1) };

	replace(w, 3, items);
	w->fail_key = "a";
	pop(w, 1);
	w->fail_key = "b";
	pop(w, 1);
	w->fail_key = NULL;
	delta_fifo_retry(FIFO(w));
	assert_string_equal(pop(w, 100), "a R1, b R1, c R1");
}

/* Freeing a FIFO discards the drafts that are queued or wait (tear_down() counts them). */
T(freeing_discards_what_is_queued)
{
	know(w, "k", 1);
	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	ok(delta_fifo_add(FIFO(w), draft(w, "y", 2)));
	ok(delta_fifo_add(FIFO(w), draft(w, "k", 1)));
	ok(delta_fifo_delete(FIFO(w), draft(w, "k", 2)));
	w->fail_key = "x";
	pop(w, 1);
	assert_int_equal(drafts_alive(w), 3);
}

/* What only borrows a known object discards nothing: world_discard() takes no object that is known. */
T(freeing_discards_nothing_that_is_known)
{
	know(w, "x", 1);
	ok(delta_fifo_resync(FIFO(w)));
	know(w, "y", 1);
	ok(delta_fifo_update(FIFO(w), draft(w, "y", 1)));
	assert_int_equal(delta_fifo_queued(FIFO(w)), 2);
	assert_int_equal(drafts_alive(w), 0);
}

/* ---- the version, and the cost --------------------------------------------------- */

/* The version is that of the last arrival, whatever of it is still queued. */
T(the_version_is_that_of_the_last_arrival)
{
	char long_version[RESOURCE_VERSION_MAX + 1];
	size_t length;

	delta_fifo_version(FIFO(w), &length);
	assert_int_equal(length, 0);
	ok(delta_fifo_set_version(FIFO(w), "9", 1));
	ok(delta_fifo_set_version(FIFO(w), "12", 2));
	assert_memory_equal(delta_fifo_version(FIFO(w), &length), "12", 2);
	assert_int_equal(length, 2);
	memset(long_version, '1', sizeof(long_version));
	assert_int_equal(delta_fifo_set_version(FIFO(w), long_version, sizeof(long_version)), -E2BIG);
	assert_memory_equal(delta_fifo_version(FIFO(w), &length), "12", 2);
}

/* A queued key costs at most 64 private bytes, and a queue that has run empty gives its pools back. */
T(a_key_costs_at_most_64_bytes)
{
	struct delta_fifo *big;
	struct known_objects known = {w,           world_object,   world_find,    world_look,  world_each,
				      world_count, world_same_uid, world_discard, world_expect};
	static struct delta_item items[512];
	size_t empty = delta_fifo_bytes(FIFO(w)), full;
	char key[16];

	for (unsigned i = 0; i < 512; i++) {
		snprintf(key, sizeof(key), "ns/%u", i);
		items[i] = listed(w, key, 1);
	}
	big = delta_fifo_new(&known);
	ok(delta_fifo_replace(big, items, 512));
	full = delta_fifo_bytes(big);
	assert_in_range(full - empty, 1, 512 * 64);
	delta_fifo_free(big);
}

/* ---- the model ---------------------------------------------------------------- */

#define MODEL_KEYS 12u
#define MODEL_MAX  600u

/* What the FIFO ought to hold: Deltas in one row, as client-go's RealFIFO has them; and what is known. */
struct model {
	struct modelled {
		unsigned key, version;
		char type;		/* A U D R, or ? for a burial */
	} row[MODEL_MAX];
	size_t count;
	bool known[MODEL_KEYS];
	unsigned version;
};

static void
model_queue(struct model *m, char type, unsigned key, unsigned version)
{
	assert_true(m->count < MODEL_MAX);
	m->row[m->count++] = (struct modelled){key, version, type};
}

static char
model_last(const struct model *m, unsigned key)
{
	for (size_t i = m->count; i > 0; i--)
		if (m->row[i - 1].key == key)
			return m->row[i - 1].type;
	return 0;
}

static bool
is_end(char type)
{
	return type == 'D' || type == '?';
}

/* A list of every key whose bit is set: first those that are only queued, then those that are only known. */
static void
model_replace(struct world *w, struct model *m, unsigned keys)
{
	struct delta_item items[MODEL_KEYS];
	bool queued[MODEL_KEYS] = { false };
	size_t count = 0, before = m->count;
	char key[8];

	for (size_t i = 0; i < before; i++) {
		unsigned k = m->row[i].key;

		if (!queued[k] && !(keys & 1u << k) && !is_end(model_last(m, k)))
			model_queue(m, '?', k, 0);
		queued[k] = true;
	}
	for (uint32_t ref = 1; ref <= w->used; ref++) { /* in the order in which the world shows them */
		unsigned k;

		if (!w->blocks[ref - 1].known)
			continue;
		k = (unsigned)atoi(object_name(object_of(w, ref)) + 1);
		if (!queued[k] && !(keys & 1u << k))
			model_queue(m, '?', k, 0);
	}
	for (unsigned k = 0; k < MODEL_KEYS; k++) {
		if (!(keys & 1u << k))
			continue;
		snprintf(key, sizeof(key), "k%02u", k);
		items[count++] = listed(w, key, ++m->version);
		model_queue(m, 'R', k, m->version);
	}
	replace(w, count, items);
}

static void
model_pop(struct world *w, struct model *m, size_t max)
{
	char want[16384] = "";
	size_t done = max < m->count ? max : m->count;

	for (size_t i = 0; i < done; i++) {
		const struct modelled *d = &m->row[i];
		size_t at = strlen(want);

		m->known[d->key] = !is_end(d->type);
		if (d->type == '?')
			snprintf(want + at, sizeof(want) - at, "%sk%02u D?", i ? ", " : "", d->key);
		else
			snprintf(want + at, sizeof(want) - at, "%sk%02u %c%u", i ? ", " : "", d->key, d->type,
				 d->version);
	}
	assert_string_equal(pop(w, max), want);
	memmove(m->row, m->row + done, (m->count - done) * sizeof(m->row[0]));
	m->count -= done;
}

/* Random operations on few keys, lists among them, come out as a plain row of Deltas does. */
T(random_operations_match_a_plain_model)
{
	struct model m = { .count = 0 };
	unsigned seed = (unsigned)test_seed(1);
	char key[8];

	print_message("seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 20000; round++) {
		unsigned k = (unsigned)rand() % MODEL_KEYS, what = (unsigned)rand() % 10;

		snprintf(key, sizeof(key), "k%02u", k);
		if (w->used > BLOCKS_MAX - 40) { /* a new world, with the same objects */
			model_pop(w, &m, MODEL_MAX);
			memset(w->blocks, 0, sizeof(w->blocks));
			w->used = 0;
			for (unsigned i = 0; i < MODEL_KEYS; i++) {
				snprintf(key, sizeof(key), "k%02u", i);
				if (m.known[i])
					know(w, key, ++m.version);
			}
		} else if (what < 4) {
			ok(delta_fifo_update(FIFO(w), draft(w, key, ++m.version)));
			model_queue(&m, 'U', k, m.version);
		} else if (what < 6) {
			ok(delta_fifo_delete(FIFO(w), draft(w, key, ++m.version)));
			if (model_last(&m, k) || m.known[k])
				model_queue(&m, 'D', k, m.version);
		} else if (what < 7) {
			model_replace(w, &m, (unsigned)rand());
		} else {
			model_pop(w, &m, m.count > MODEL_MAX / 2 ? m.count : (unsigned)rand() % 8);
		}
		assert_true(m.count < MODEL_MAX);
		assert_int_equal(delta_fifo_queued(FIFO(w)), m.count);
	}
}
