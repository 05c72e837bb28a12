/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeltaFIFO alone: pops are withheld for as long as a test likes, and processing fails where a test says so.
 * The known objects are a small table instead of an arena. Behaviours of client-go's delta_fifo_test.go carry
 * its names in brackets.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "shm-layout/fnv.h"
#include "shm-layout/root.h"
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
	char log[8192];			/* what was popped */
	const char *fail_key;		/* processing of this key fails … */
	size_t fail_after;		/* … after so many of its Deltas */
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

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct known_objects known = {w,          world_object, world_find,   world_look,
				      world_each, world_count,  world_discard};

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
 * Process as the store would: "ns/name: A9 U12 D D? R= S | " — type, version, '?' a tombstone, '=' unchanged.
 * What is known changes accordingly, and old blocks become unreadable at once.
 */
static int
apply(void *context, const struct deltas *d, size_t *ret_done)
{
	struct world *w = context;
	char key[128];
	size_t at = strlen(w->log);

	snprintf(key, sizeof(key), "%.*s%s%.*s", (int)d->ns_length, d->ns, d->ns_length ? "/" : "",
		 (int)d->name_length, d->name);
	at += (size_t)snprintf(w->log + at, sizeof(w->log) - at, "%s:", key);
	for (size_t i = 0; i < d->count; i++) {
		const struct delta *delta = &d->items[i];
		uint32_t known = world_find(w, d->key_hash, d->ns, d->ns_length, d->name, d->name_length);

		if (w->fail_key && strcmp(w->fail_key, key) == 0 && i == w->fail_after) {
			snprintf(w->log + at, sizeof(w->log) - at, " failed | ");
			return -ENOSPC;
		}
		at += (size_t)snprintf(w->log + at, sizeof(w->log) - at, " %c",
				       "AUDRS"[delta->type]);
		if (delta->unchanged || delta->type == DELTA_SYNC || (delta->tombstone && delta->ref != 0))
			assert_int_equal(delta->ref, known);
		if (delta->found != FOUND_UNASKED) {
			assert_int_equal(found_known(delta->found), known);
			if (known)
				assert_int_equal((delta->found & FOUND_NEW) != 0,
						 w->blocks[known - 1].uid != w->blocks[delta->ref - 1].uid);
		}
		if (delta->tombstone)
			at += (size_t)snprintf(w->log + at, sizeof(w->log) - at, "?");
		else if (delta->unchanged)
			at += (size_t)snprintf(w->log + at, sizeof(w->log) - at, "=");
		else if (delta->type != DELTA_SYNC)
			at += (size_t)snprintf(w->log + at, sizeof(w->log) - at, "%u",
					       w->blocks[delta->ref - 1].version);
		if (!delta->unchanged && delta->type != DELTA_SYNC) {
			if (known)
				w->blocks[known - 1].known = false;
			if (delta->type == DELTA_DELETED && !delta->tombstone)
				world_discard(w, delta->ref);
			if (delta->type != DELTA_DELETED) {
				assert_true(w->blocks[delta->ref - 1].draft);
				w->blocks[delta->ref - 1].draft = false;
				w->blocks[delta->ref - 1].known = true;
			}
		}
		*ret_done = i + 1;
	}
	snprintf(w->log + at, sizeof(w->log) - at, " | ");
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

/* ---- order and merging ----------------------------------------------------- */

/* Deltas of one key stand together, and keys come in the order of their first queueing. */
static void
keys_come_in_the_order_of_first_queueing(void **state)
{
	struct world *w = *state;

	ok(delta_fifo_add(FIFO(w), draft(w, "a/x", 1)));
	ok(delta_fifo_add(FIFO(w), draft(w, "a/y", 2)));
	ok(delta_fifo_update(FIFO(w), draft(w, "a/x", 3)));
	ok(delta_fifo_add(FIFO(w), draft(w, "node-1", 4)));
	ok(delta_fifo_delete(FIFO(w), draft(w, "a/y", 5)));
	assert_int_equal(delta_fifo_queued(FIFO(w)), 3);
	assert_string_equal(pop(w, 100), "a/x: A1 U3 | a/y: A2 D5 | node-1: A4 | ");
	assert_true(delta_fifo_is_empty(FIFO(w)));
}

/* A key that was popped and comes again is queued anew, at the end. */
static void
a_popped_key_is_queued_again_at_the_end(void **state)
{
	struct world *w = *state;

	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	ok(delta_fifo_add(FIFO(w), draft(w, "y", 2)));
	assert_string_equal(pop(w, 1), "x: A1 | ");
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 3)));
	assert_string_equal(pop(w, 100), "y: A2 | x: U3 | ");
}

/* Keys whose hashes are equal are different keys. */
static void
keys_with_equal_hashes_stay_apart(void **state)
{
	struct world *w = *state;

	w->same_hash = true;
	ok(delta_fifo_add(FIFO(w), draft(w, "a/bc", 1)));
	ok(delta_fifo_add(FIFO(w), draft(w, "ab/c", 2)));
	ok(delta_fifo_update(FIFO(w), draft(w, "a/bc", 3)));
	assert_string_equal(pop(w, 100), "a/bc: A1 U3 | ab/c: A2 | ");
}

/* A second DELETED adds nothing: the newer of two final states is kept. [DedupDeltas] */
static void
two_trailing_deletes_become_one(void **state)
{
	struct world *w = *state;

	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 2)));
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 3)));
	assert_string_equal(pop(w, 100), "x: A1 D3 | ");
}

/* A known final state is kept over an unknown one that a list finds later. [DedupDeltas] */
static void
a_tombstone_does_not_replace_a_final_state(void **state)
{
	struct world *w = *state;

	know(w, "x", 1);
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 2)));
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "x: D2 | ");
}

/* A known final state replaces the tombstone that a list left before it. [DedupDeltas] */
static void
a_final_state_replaces_a_tombstone(void **state)
{
	struct world *w = *state;

	know(w, "x", 1);
	replace(w, 0, NULL);
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 2)));
	assert_string_equal(pop(w, 100), "x: D2 | ");
}

/*
 * Only trailing deletes are merged: what lies between two of them, and repeated updates, stay.
 * [DedupDeltas]
 */
static void
nothing_else_is_merged(void **state)
{
	struct world *w = *state;

	know(w, "x", 1);
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 2)));
	ok(delta_fifo_add(FIFO(w), draft(w, "x", 3)));
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 4)));
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 5)));
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 6)));
	assert_string_equal(pop(w, 100), "x: D2 A3 U4 U5 D6 | ");
}

/* More Deltas of one key than the pop keeps on its stack are handed over in order, too. */
static void
a_key_may_have_many_deltas(void **state)
{
	struct world *w = *state;
	char expected[1024] = "x:";

	for (unsigned i = 1; i <= 100; i++) {
		ok(delta_fifo_update(FIFO(w), draft(w, "x", i)));
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), " U%u", i);
	}
	strcat(expected, " | ");
	assert_string_equal(pop(w, 1), expected);
}

/* A delete of a key that neither store nor queue has is ignored. */
static void
delete_of_an_unknown_key_is_ignored(void **state)
{
	struct world *w = *state;

	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 1)));
	assert_true(delta_fifo_is_empty(FIFO(w)));
	assert_int_equal(drafts_alive(w), 0);
}

/* A delete of a key that is only queued, or only known, is queued. */
static void
delete_of_a_queued_or_known_key_is_queued(void **state)
{
	struct world *w = *state;

	know(w, "x", 1);
	ok(delta_fifo_delete(FIFO(w), draft(w, "x", 2)));
	ok(delta_fifo_add(FIFO(w), draft(w, "y", 3)));
	ok(delta_fifo_delete(FIFO(w), draft(w, "y", 4)));
	assert_string_equal(pop(w, 100), "x: D2 | y: A3 D4 | ");
}

/* ---- unchanged -------------------------------------------------------------- */

/* A state with the UID and resourceVersion that is known takes no new body. */
static void
the_known_version_takes_no_new_body(void **state)
{
	struct world *w = *state;
	uint32_t same = 0;

	know(w, "x", 5);
	ok(delta_fifo_add(FIFO(w), same = draft(w, "x", 5)));
	assert_false(w->blocks[same - 1].draft);
	know(w, "y", 6);
	ok(delta_fifo_update(FIFO(w), draft_uid(w, "y", 6, 2)));
	assert_string_equal(pop(w, 100), "x: A= | y: U6 | ");
}

/* With something queued in between, the known version is no longer what it will be compared with. */
static void
a_version_behind_a_queued_one_is_never_unchanged(void **state)
{
	struct world *w = *state;

	know(w, "x", 5);
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 6)));
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 5)));
	assert_string_equal(pop(w, 100), "x: U6 U5 | ");
}

/* What a list repeats is discarded when it is staged, so that a relist needs no room for a second copy. */
static void
staging_discards_what_is_known(void **state)
{
	struct world *w = *state;
	struct delta_item items[3];

	know(w, "a", 1);
	know(w, "b", 2);
	items[0] = delta_fifo_stage(FIFO(w), draft(w, "a", 1));
	items[1] = delta_fifo_stage(FIFO(w), draft(w, "b", 3));
	items[2] = delta_fifo_stage(FIFO(w), draft(w, "c", 4));
	assert_int_equal(drafts_alive(w), 2);
	replace(w, 3, items);
	assert_string_equal(pop(w, 100), "a: R= | b: R3 | c: R4 | ");
}

/* A failed list is taken back without a trace. */
static void
unstaging_leaves_nothing(void **state)
{
	struct world *w = *state;
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
static void
staging_keeps_bodies_while_something_is_queued(void **state)
{
	struct world *w = *state;
	struct delta_item item;

	know(w, "a", 1);
	ok(delta_fifo_update(FIFO(w), draft(w, "a", 2)));
	item = delta_fifo_stage(FIFO(w), draft(w, "a", 1));
	assert_string_equal(pop(w, 100), "a: U2 | ");
	replace(w, 1, &item);
	assert_string_equal(pop(w, 100), "a: R1 | ");
}

/* ---- Replace and Resync ------------------------------------------------------ */

/*
 * A list makes every item a REPLACED, and every known key that it lacks a tombstone with the last known
 * state.
 */
static void
replace_buries_known_keys_that_are_missing(void **state)
{
	struct world *w = *state;
	struct delta_item items[2];

	know(w, "a", 1);
	know(w, "b", 2);
	items[0] = listed(w, "b", 3);
	items[1] = listed(w, "c", 4);
	replace(w, 2, items);
	assert_string_equal(pop(w, 100), "b: R3 | c: R4 | a: D? | ");
	assert_int_equal(world_count(w), 2);
}

/*
 * A key that is only queued and not in the list gets a tombstone behind what is queued.
 * [ReplaceMakesDeletionsForObjectsOnlyInQueue]
 */
static void
replace_buries_keys_that_are_only_queued(void **state)
{
	struct world *w = *state;
	struct delta_item item;

	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	item = listed(w, "y", 2);
	replace(w, 1, &item);
	assert_string_equal(pop(w, 100), "x: A1 D? | y: R2 | ");
	assert_int_equal(world_count(w), 1);
}

/*
 * A key that is known and queued is buried once, after its queued Deltas.
 * [ReplaceMakesDeletionsForObjectsInQueue]
 */
static void
replace_buries_a_key_that_is_known_and_queued_once(void **state)
{
	struct world *w = *state;

	know(w, "x", 1);
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 2)));
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "x: U2 D? | ");
	assert_int_equal(world_count(w), 0);
}

/* Items of a list whose keys are queued go behind what is queued, and keep the key's place. */
static void
replace_keeps_what_is_queued_before_it(void **state)
{
	struct world *w = *state;
	struct delta_item items[2];

	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	items[0] = listed(w, "y", 3);
	items[1] = listed(w, "x", 2);
	replace(w, 2, items);
	assert_string_equal(pop(w, 100), "x: A1 R2 | y: R3 | ");
}

/* A second list before the first was popped buries what only the first one had. */
static void
a_second_replace_buries_what_only_the_first_had(void **state)
{
	struct world *w = *state;
	struct delta_item items[2] = { listed(w, "x", 1), listed(w, "y", 1) };

	replace(w, 2, items);
	items[0] = listed(w, "y", 2);
	replace(w, 1, items);
	assert_string_equal(pop(w, 100), "x: R1 D? | y: R1 R2 | ");
}

/* A list with a ref that names no object changes nothing, and its items stay the caller's. */
static void
a_refused_replace_changes_nothing(void **state)
{
	struct world *w = *state;
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
static void
a_key_that_goes_is_buried_once(void **state)
{
	struct world *w = *state;
	struct delta_item item;

	/* deleted already */
	know(w, "deleted", 1);
	ok(delta_fifo_delete(FIFO(w), draft(w, "deleted", 2)));
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "deleted: D2 | ");
	/* waiting to be told again */
	know(w, "synced", 1);
	ok(delta_fifo_resync(FIFO(w)));
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "synced: S D? | ");
	/* in one list, and missing from the next two */
	item = listed(w, "listed", 1);
	replace(w, 1, &item);
	replace(w, 0, NULL);
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "listed: R1 D? | ");
	/* only added, and missing from two lists */
	ok(delta_fifo_add(FIFO(w), draft(w, "added", 1)));
	replace(w, 0, NULL);
	replace(w, 0, NULL);
	assert_string_equal(pop(w, 100), "added: A1 D? | ");
	assert_int_equal(world_count(w), 0);
}

/* Resync queues a SYNC for every known object but those that have something queued. */
static void
resync_skips_keys_with_something_queued(void **state)
{
	struct world *w = *state;

	know(w, "a", 1);
	know(w, "b", 1);
	ok(delta_fifo_update(FIFO(w), draft(w, "a", 2)));
	ok(delta_fifo_resync(FIFO(w)));
	ok(delta_fifo_resync(FIFO(w)));
	assert_string_equal(pop(w, 100), "a: U2 | b: S | ");
}

/* ---- listing ------------------------------------------------------------------ */

/* A list is under way from Replace until its last key was processed, whatever a watch adds behind it. */
static void
listing_lasts_until_the_last_key_of_the_list(void **state)
{
	struct world *w = *state;
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
static void
what_fails_goes_back_in_front(void **state)
{
	struct world *w = *state;
	size_t keys;

	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	ok(delta_fifo_add(FIFO(w), draft(w, "y", 2)));
	w->fail_key = "x";
	assert_int_equal(delta_fifo_pop(FIFO(w), 100, apply, w, &keys), -ENOSPC);
	assert_string_equal(w->log, "x: failed | y: A2 | ");
	assert_int_equal(keys, 1);
	assert_int_equal(delta_fifo_queued(FIFO(w)), 0);
	assert_int_equal(delta_fifo_waiting(FIFO(w)), 1);
	assert_false(delta_fifo_is_empty(FIFO(w)));

	w->fail_key = NULL;
	ok(delta_fifo_add(FIFO(w), draft(w, "z", 3)));
	delta_fifo_retry(FIFO(w));
	assert_string_equal(pop(w, 100), "x: A1 | z: A3 | ");
}

/* Newer Deltas of a key that waits are merged behind those that failed. */
static void
newer_deltas_merge_behind_those_that_failed(void **state)
{
	struct world *w = *state;

	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	w->fail_key = "x";
	pop(w, 100);
	w->fail_key = NULL;
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 2)));
	ok(delta_fifo_add(FIFO(w), draft(w, "y", 3)));
	assert_string_equal(pop(w, 100), "y: A3 | ");
	delta_fifo_retry(FIFO(w));
	assert_string_equal(pop(w, 100), "x: A1 U2 | ");
}

/* Deltas that were consumed before the failure do not come back. */
static void
only_what_was_not_consumed_is_put_back(void **state)
{
	struct world *w = *state;

	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 2)));
	ok(delta_fifo_update(FIFO(w), draft(w, "x", 3)));
	w->fail_key = "x";
	w->fail_after = 1;
	assert_string_equal(pop(w, 100), "x: A1 failed | ");
	w->fail_key = NULL;
	delta_fifo_retry(FIFO(w));
	assert_string_equal(pop(w, 100), "x: U2 U3 | ");
}

/* A tombstone that is put back refers to what is known by then, not to a block that is gone. */
static void
a_tombstone_put_back_refers_to_what_is_known_now(void **state)
{
	struct world *w = *state;
	uint32_t first = know(w, "x", 1);

	ok(delta_fifo_update(FIFO(w), draft(w, "x", 2)));
	replace(w, 0, NULL);
	w->fail_key = "x";
	w->fail_after = 1;
	assert_string_equal(pop(w, 100), "x: U2 failed | ");
	memset(object_of(w, first), 0xee, sizeof(struct object));
	w->fail_key = NULL;
	delta_fifo_retry(FIFO(w));
	assert_string_equal(pop(w, 100), "x: D? | ");
	assert_int_equal(world_count(w), 0);
}

/* Several failing keys keep their order. */
static void
failing_keys_keep_their_order(void **state)
{
	struct world *w = *state;
	struct delta_item items[3] = { listed(w, "a", 1), listed(w, "b", 1), listed(w, "c", 1) };

	replace(w, 3, items);
	w->fail_key = "a";
	pop(w, 1);
	w->fail_key = "b";
	pop(w, 1);
	w->fail_key = NULL;
	delta_fifo_retry(FIFO(w));
	assert_string_equal(pop(w, 100), "a: R1 | b: R1 | c: R1 | ");
}

/* Freeing a FIFO discards the drafts that are queued or wait (tear_down() counts them). */
static void
freeing_discards_what_is_queued(void **state)
{
	struct world *w = *state;

	know(w, "k", 1);
	ok(delta_fifo_add(FIFO(w), draft(w, "x", 1)));
	ok(delta_fifo_add(FIFO(w), draft(w, "y", 2)));
	ok(delta_fifo_add(FIFO(w), draft(w, "k", 1)));
	ok(delta_fifo_delete(FIFO(w), draft(w, "k", 2)));
	w->fail_key = "x";
	pop(w, 1);
	assert_int_equal(drafts_alive(w), 3);
}

/* ---- the version, and the cost --------------------------------------------------- */

/* The version is that of the last arrival, whatever of it is still queued. */
static void
the_version_is_that_of_the_last_arrival(void **state)
{
	struct world *w = *state;
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
static void
a_key_costs_at_most_64_bytes(void **state)
{
	struct world *w = *state;
	struct delta_fifo *big;
	struct known_objects known = {w,          world_object, world_find,   world_look,
				      world_each, world_count,  world_discard};
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

/* Ten thousand random operations on few keys do what a plain model of each key's Deltas does. */
static void
random_operations_match_a_plain_model(void **state)
{
	struct world *w = *state;
	char expected[32][256] = { "" };
	char key[8];
	unsigned order[32], order_count = 0;
	unsigned seed = (unsigned)time(NULL), version = 0;

	print_message("seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 10000; round++) {
		unsigned k = (unsigned)rand() % 32, what = (unsigned)rand() % 8;
		size_t length = strlen(expected[k]);

		/* begin a new world with what is known and queued: pop all first */
		if (w->used > BLOCKS_MAX - 40) {
			what = 7;
		}
		snprintf(key, sizeof(key), "k%u", k);
		if (what < 5 && length < 200) {
			if (length == 0)
				order[order_count++] = k;
			ok(delta_fifo_update(FIFO(w), draft(w, key, ++version)));
			snprintf(expected[k] + length, sizeof(expected[k]) - length, " U%u", version);
		} else if (what < 6 && length > 0 && length < 200) {
			ok(delta_fifo_delete(FIFO(w), draft(w, key, ++version)));
			if (strrchr(expected[k], 'D') && !strchr(strrchr(expected[k], 'D'), ' '))
				*strrchr(expected[k], ' ') = '\0';
			snprintf(expected[k] + strlen(expected[k]), 32, " D%u", version);
		} else if (what == 7) {
			char want[8192] = "";
			size_t max = w->used > BLOCKS_MAX - 40 ? 32 : (unsigned)rand() % 4;

			for (size_t i = 0; i < max && order_count > 0; i++) {
				snprintf(want + strlen(want), sizeof(want) - strlen(want), "k%u:%s | ",
					 order[0], expected[order[0]]);
				expected[order[0]][0] = '\0';
				memmove(order, order + 1, --order_count * sizeof(order[0]));
			}
			assert_string_equal(pop(w, max), want);
			/* nothing is queued, no draft is alive: forget the blocks of the past */
			if (max == 32) {
				memset(w->blocks, 0, sizeof(w->blocks));
				w->used = 0;
			}
		}
		assert_int_equal(delta_fifo_queued(FIFO(w)), order_count);
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(keys_come_in_the_order_of_first_queueing),
		T(a_popped_key_is_queued_again_at_the_end),
		T(keys_with_equal_hashes_stay_apart),
		T(two_trailing_deletes_become_one),
		T(a_tombstone_does_not_replace_a_final_state),
		T(a_final_state_replaces_a_tombstone),
		T(nothing_else_is_merged),
		T(a_key_may_have_many_deltas),
		T(delete_of_an_unknown_key_is_ignored),
		T(delete_of_a_queued_or_known_key_is_queued),
		T(the_known_version_takes_no_new_body),
		T(a_version_behind_a_queued_one_is_never_unchanged),
		T(staging_discards_what_is_known),
		T(unstaging_leaves_nothing),
		T(staging_keeps_bodies_while_something_is_queued),
		T(replace_buries_known_keys_that_are_missing),
		T(replace_buries_keys_that_are_only_queued),
		T(replace_buries_a_key_that_is_known_and_queued_once),
		T(replace_keeps_what_is_queued_before_it),
		T(a_second_replace_buries_what_only_the_first_had),
		T(a_refused_replace_changes_nothing),
		T(a_key_that_goes_is_buried_once),
		T(resync_skips_keys_with_something_queued),
		T(listing_lasts_until_the_last_key_of_the_list),
		T(what_fails_goes_back_in_front),
		T(newer_deltas_merge_behind_those_that_failed),
		T(only_what_was_not_consumed_is_put_back),
		T(a_tombstone_put_back_refers_to_what_is_known_now),
		T(failing_keys_keep_their_order),
		T(freeing_discards_what_is_queued),
		T(the_version_is_that_of_the_last_arrival),
		T(a_key_costs_at_most_64_bytes),
		T(random_operations_match_a_plain_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
