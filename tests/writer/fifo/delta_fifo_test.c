/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeltaFIFO alone: pops are withheld for as long as a test likes, and processing fails where a test says so.
 * The known objects are a small table instead of an arena. Behaviours of client-go's delta_fifo_test.go carry
 * its names in brackets.
 */
#include <time.h>

#include "shm-layout/fnv.h"
#include "shm-layout/root.h"
#include "tests/room.h"
#include "tests/support/steps.h"
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
	char log[16384];             /* what was popped, or is told by `state` */
	struct delta_item items[16]; /* of a list */
	size_t item_count;
	char fail_key[16];      /* processing of this key fails … */
	unsigned fail_after;    /* … after so many of its Deltas were processed */
	size_t applied, failed; /* by a pop */
	size_t dropped;         /* what fails in the next pop is said to be done with */
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
know(struct world *w, const char *key, unsigned version)
{
	uint32_t ref = draft_uid(w, key, version, 1);

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

	snprintf(key, sizeof(key), "%.*s%s%.*s", (int)d->ns_length, d->ns, d->ns_length ? "/" : "",
		 (int)d->name_length, d->name);
	at += (size_t)snprintf(w->log + at, sizeof(w->log) - at, "%s%s ",
			       w->applied + w->failed > 0 ? ", " : "", key);
	if (strcmp(w->fail_key, key) == 0 && w->fail_after-- == 0) {
		w->fail_after = 0;
		w->failed++;
		snprintf(w->log + at, sizeof(w->log) - at, "failed");
		return -ENOSPC;
	}
	w->applied++;
	at += (size_t)snprintf(w->log + at, sizeof(w->log) - at, "%c", "AUDR"[d->type]);
	if (d->unchanged || d->tombstone)
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
	else
		snprintf(w->log + at, sizeof(w->log) - at, "%u", w->blocks[d->ref - 1].version);
	if (d->unchanged)
		return 0;
	if (known) {
		w->blocks[known - 1].known = false;
		memset(object_of(w, known), 0xee, sizeof(struct object));
	}
	if (d->type == DELTA_DELETED && !d->tombstone)
		world_discard(w, d->ref);
	if (d->type != DELTA_DELETED) {
		assert_true(w->blocks[d->ref - 1].draft);
		w->blocks[d->ref - 1].draft = false;
		w->blocks[d->ref - 1].known = true;
	}
	return 0;
}

static void
pop(struct world *w, size_t max)
{
	size_t done;
	int r;

	w->applied = w->failed = 0;
	r = delta_fifo_pop(w->fifo, max, apply, w, &done);
	assert_int_equal(r, w->failed > 0 ? -ENOSPC : 0);
	assert_int_equal(done, w->applied + w->dropped);
}

#define ok(expression) assert_int_equal((expression), 0)

/* ---- a test as two texts: what is done, and what is popped --------------------- */

static void
tell_state(const struct world *w, char *text, size_t size)
{
	snprintf(text, size, "%zu queued, %zu waiting, %zu drafts%s", delta_fifo_queued(w->fifo),
		 delta_fifo_waiting(w->fifo), drafts_alive(w),
		 delta_fifo_is_listing(w->fifo) ? ", listing" : "");
}

/* "add a/x 3" is a draft of the key a/x, version 3 and UID 1; "add a/x 3#2" has UID 2. */
static void
act(void *context, const char *step)
{
	struct world *w = context;
	char verb[16] = "", key[16] = "";
	unsigned version = 0, uid = 1;

	if (w->log[0] && (strstr(step, "pop") || strstr(step, "state")))
		strcat(w->log, "; ");
	sscanf(step, "%15s %15s %u#%u", verb, key, &version, &uid);
	if (strcmp(verb, "know") == 0) {
		know(w, key, version);
	} else if (strcmp(verb, "add") == 0) {
		ok(delta_fifo_add(w->fifo, draft_uid(w, key, version, uid)));
	} else if (strcmp(verb, "update") == 0) {
		ok(delta_fifo_update(w->fifo, draft_uid(w, key, version, uid)));
	} else if (strcmp(verb, "delete") == 0) {
		ok(delta_fifo_delete(w->fifo, draft_uid(w, key, version, uid)));
	} else if (strcmp(verb, "list") == 0) { /* an item that nobody has compared yet */
		w->items[w->item_count++] = (struct delta_item){draft_uid(w, key, version, uid),
								FOUND_UNASKED};
	} else if (strcmp(verb, "stage") == 0) {
		w->items[w->item_count++] = delta_fifo_stage(w->fifo, draft_uid(w, key, version, uid));
	} else if (strcmp(verb, "unstage") == 0) {
		delta_fifo_unstage(w->fifo, w->items[--w->item_count]);
	} else if (strcmp(verb, "replace") == 0) {
		ok(delta_fifo_replace(w->fifo, w->items, w->item_count));
		w->item_count = 0;
	} else if (strcmp(verb, "retry") == 0) {
		delta_fifo_retry(w->fifo);
	} else if (strcmp(verb, "fail") == 0) { /* without a key: nothing fails any more */
		strcpy(w->fail_key, key);
		w->fail_after = version;
	} else if (strcmp(verb, "pop") == 0) {
		pop(w, key[0] ? (size_t)atoi(key) : 100);
	} else {
		assert_string_equal(verb, "state");
		tell_state(w, w->log + strlen(w->log), sizeof(w->log) - strlen(w->log));
	}
	assert_true(w->item_count < 16);
}

/* Do what `steps` says, "add x 1, pop"; what was popped, and each state, are as told: "x A1; 0 queued, …". */
static void
play(struct world *w, const char *steps, const char *told)
{
	w->log[0] = '\0';
	each_step(w, steps, act);
	assert_string_equal(w->log, told);
}

#define T(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* A test of its own that plays one text. */
#define PLAY(name, steps, told)                                                                              \
	T(name)                                                                                              \
	{                                                                                                    \
		play(w, steps, told);                                                                        \
	}                                                                                                    \
	struct world

/* ---- order ------------------------------------------------------------------ */

/* Deltas come in the order of their arrival, whatever their keys: the RVs told never go back. */
PLAY(deltas_come_in_the_order_of_their_arrival,
     "add a/x 1, add a/y 2, update a/x 3, add node-1 4, delete a/y 5, update a/x 6, state, pop, state",
     "6 queued, 0 waiting, 6 drafts; a/x A1, a/y A2, a/x U3, node-1 A4, a/y D5, a/x U6; "
     "0 queued, 0 waiting, 0 drafts");

/* So they do when they are popped in portions, with others coming in between. */
PLAY(portions_keep_the_order, "add x 1, add y 2, update x 3, pop 1, update x 4, update y 5, pop 2, pop",
     "x A1; y A2, x U3; x U4, y U5");

/* Keys whose hashes are equal are different keys. */
T(keys_with_equal_hashes_stay_apart)
{
	w->same_hash = true;
	play(w, "add a/bc 1, add ab/c 2, update a/bc 3, replace, pop",
	     "a/bc A1, ab/c A2, a/bc U3, a/bc D?, ab/c D?");
}

/* Nothing is merged: what a watch said is processed, repeated updates and deletes, too. */
PLAY(nothing_is_merged, "know x 1, delete x 2, add x 3, update x 4, update x 5, delete x 6, delete x 7, pop",
     "x D2, x A3, x U4, x U5, x D6, x D7");

/* A delete of a key that neither store nor queue has is ignored. */
PLAY(delete_of_an_unknown_key_is_ignored, "delete x 1, state", "0 queued, 0 waiting, 0 drafts");

/* A delete of a key that is only queued, or only known, is queued. */
PLAY(delete_of_a_queued_or_known_key_is_queued, "know x 1, delete x 2, add y 3, delete y 4, pop",
     "x D2, y A3, y D4");

/* ---- unchanged -------------------------------------------------------------- */

/* A state with the UID and resourceVersion that is known takes no new body. */
PLAY(the_known_version_takes_no_new_body, "know x 5, add x 5, state, know y 6, update y 6#2, pop",
     "1 queued, 0 waiting, 0 drafts; x A=, y U6");

/* With something queued in between, the known version is no longer what it will be compared with. */
PLAY(a_version_behind_a_queued_one_is_never_unchanged, "know x 5, update x 6, update x 5, pop", "x U6, x U5");

/* What a list repeats is discarded when it is staged, so that a relist needs no room for a second copy. */
PLAY(staging_discards_what_is_known,
     "know a 1, know b 2, stage a 1, stage b 3, stage c 4, state, replace, pop",
     "0 queued, 0 waiting, 2 drafts; a R=, b R3, c R4");

/* A failed list is taken back without a trace. */
PLAY(unstaging_leaves_nothing, "know a 1, stage a 1, stage b 2, unstage, unstage, state, pop",
     "0 queued, 0 waiting, 0 drafts; ");

/*
 * While something of a watch is still queued, staging keeps the body: what is known may change before the
 * list is whole.
 */
PLAY(staging_keeps_bodies_while_something_is_queued, "know a 1, update a 2, stage a 1, pop, replace, pop",
     "a U2; a R1");

/* ---- Replace ----------------------------------------------------------------- */

/*
 * A list makes every item a REPLACED, and every known key that it lacks a tombstone with the last known
 * state. The deletions come first. [ReplaceMakesDeletions]
 */
PLAY(replace_buries_known_keys_that_are_missing,
     "know a 1, know b 2, know z 3, list b 4, list c 5, replace, pop", "a D?, z D?, b R4, c R5");

/*
 * An object whose name the list gives to another UID is deleted, too: in front, with the others, so that
 * nobody who took over what it had is told of before its end.
 */
PLAY(replace_buries_what_lost_its_name,
     "know a 1, know b 2, know c 3, list a 4, list b 5#2, stage c 6#2, replace, pop",
     "b D?, c D?, a R4, b R5, c R6");

/* The same when what lost its name is only queued, and not when that is deleted already. */
PLAY(replace_buries_what_lost_its_name_in_the_queue,
     "know x 1, know y 2, update x 3, delete y 4, add z 5#2, "
     "list a 6, list x 7#2, list y 8#2, list z 9#2, replace, pop",
     "x U3, y D4, z A5, x D?, a R6, x R7, y R8, z R9");

/* A list that has a key many times, each with another UID, says nothing that could be told in front. */
PLAY(a_list_may_have_a_key_many_times,
     "know x 1, list x 2#2, list x 3#3, list x 4#4, list x 5#5, replace, pop, state, "
     "stage x 5#5, stage x 5#5, stage x 6#5, stage x 5#5, replace, pop",
     "x D?, x R2, x R3, x R4, x R5; 0 queued, 0 waiting, 0 drafts; x R=, x R6");

/*
 * A key that is only queued and not in the list gets a tombstone behind what is queued.
 * [ReplaceMakesDeletionsForObjectsOnlyInQueue]
 */
PLAY(replace_buries_keys_that_are_only_queued, "add x 1, list y 2, replace, pop", "x A1, x D?, y R2");

/* So does one that waits, which an earlier list brought, or a watch. */
PLAY(replace_buries_keys_that_wait, "add x 1, fail x, pop, fail, list y 2, replace, retry, pop",
     "x failed; x A1, x D?, y R2");

/* Items of a list go behind what is queued, and keep the list's order. */
PLAY(replace_keeps_what_is_queued_before_it, "add x 1, list y 3, list x 2, replace, pop", "x A1, y R3, x R2");

/* A second list before the first was popped buries what only the first one had. */
PLAY(a_second_replace_buries_what_only_the_first_had, "list x 1, list y 1, replace, list y 2, replace, pop",
     "x R1, y R1, x D?, y R2");

/* A list with a ref that names no object changes nothing, and its items stay the caller's. */
T(a_refused_replace_changes_nothing)
{
	play(w, "list x 1, know y 1", "");
	w->items[1] = (struct delta_item){4711, FOUND_UNASKED};
	assert_int_equal(delta_fifo_replace(w->fifo, w->items, 2), -EBADMSG);
	play(w, "state, unstage", "0 queued, 0 waiting, 1 drafts");
}

/*
 * Whatever is queued for a key that a list lacks, one burial stands at its end, however many lists lack it.
 * [ReplaceMakesDeletionsForObjectsInQueue]
 */
PLAY(a_key_that_is_known_and_queued_is_buried_once, "know x 1, update x 2, update x 3, replace, pop",
     "x U2, x U3, x D?");
PLAY(a_key_that_is_deleted_already_is_not_buried, "know x 1, delete x 2, replace, pop", "x D2");
PLAY(a_key_of_one_list_that_the_next_two_lack_is_buried_once, "list x 1, replace, replace, replace, pop",
     "x R1, x D?");
PLAY(an_added_key_that_two_lists_lack_is_buried_once, "add x 1, replace, replace, pop", "x A1, x D?");

/* A list is under way from Replace until its last key was processed, whatever a watch adds behind it. */
PLAY(listing_lasts_until_the_last_key_of_the_list,
     "list x 1, list y 1, replace, add z 2, state, pop 1, state, pop 1, state",
     "3 queued, 0 waiting, 3 drafts, listing; x R1; 2 queued, 0 waiting, 2 drafts, listing; y R1; "
     "1 queued, 0 waiting, 1 drafts");

/* ---- failures, close ------------------------------------------------------------ */

/* What fails goes back in front; the keys behind it have their turn meanwhile. [RequeueOnPop] */
PLAY(what_fails_goes_back_in_front, "add x 1, add y 2, fail x, pop, state, fail, add z 3, retry, pop",
     "x failed, y A2; 0 queued, 1 waiting, 1 drafts; x A1, z A3");

/* Newer Deltas of a key that waits go behind those that failed, and let other keys pass. */
PLAY(newer_deltas_wait_behind_those_that_failed,
     "add x 1, fail x, pop, fail, update x 2, add y 3, pop, state, update x 4, update y 5, retry, pop",
     "x failed; y A3; 0 queued, 2 waiting, 2 drafts; x A1, x U2, x U4, y U5");

/* Deltas that were consumed before the failure do not come back. */
PLAY(only_what_was_not_consumed_is_put_back,
     "add x 1, update x 2, update x 3, fail x 1, pop, fail, retry, pop", "x A1, x failed; x U2, x U3");

/* A tombstone that is put back refers to what is known by then, not to a block that is gone. */
PLAY(a_tombstone_put_back_refers_to_what_is_known_now,
     "know x 1, update x 2, replace, fail x 1, pop, fail, retry, pop", "x U2, x failed; x D?");

/* What borrows a known object that is gone meanwhile says nothing, and does not stay. */
T(what_nothing_is_known_of_any_more_is_dropped)
{
	uint32_t known = know(w, "x", 1);

	play(w, "replace, fail x, pop, state", "x failed; 0 queued, 1 waiting, 0 drafts, listing");
	w->blocks[known - 1].draft = true; /* still readable, and known no more */
	w->blocks[known - 1].known = false;
	w->dropped = 1;
	play(w, "retry, pop, state", "x failed; 0 queued, 0 waiting, 1 drafts");
	world_discard(w, known);
}

/* Several failing keys keep their order. */
PLAY(failing_keys_keep_their_order,
     "list a 1, list b 1, list c 1, replace, fail a, pop 1, fail b, pop 1, fail, retry, pop",
     "a failed; b failed; a R1, b R1, c R1");

/* Freeing a FIFO discards the drafts that are queued or wait (tear_down() counts them). */
PLAY(freeing_discards_what_is_queued, "know k 1, add x 1, add y 2, add k 1, delete k 2, fail x, pop 1, state",
     "x failed; 3 queued, 1 waiting, 3 drafts");

/* What only borrows a known object discards nothing: world_discard() takes no object that is known. */
PLAY(freeing_discards_nothing_that_is_known, "know x 1, replace, know y 1, update y 1, state",
     "2 queued, 0 waiting, 0 drafts, listing");

/* ---- the version, and the cost --------------------------------------------------- */

/* The version is that of the last arrival, whatever of it is still queued. */
T(the_version_is_that_of_the_last_arrival)
{
	char long_version[RESOURCE_VERSION_MAX + 1];
	size_t length;

	delta_fifo_version(w->fifo, &length);
	assert_int_equal(length, 0);
	ok(delta_fifo_set_version(w->fifo, "9", 1));
	ok(delta_fifo_set_version(w->fifo, "12", 2));
	assert_memory_equal(delta_fifo_version(w->fifo, &length), "12", 2);
	assert_int_equal(length, 2);
	memset(long_version, '1', sizeof(long_version));
	assert_int_equal(delta_fifo_set_version(w->fifo, long_version, sizeof(long_version)), -E2BIG);
	assert_memory_equal(delta_fifo_version(w->fifo, &length), "12", 2);
}

/* A queued key costs at most 64 private bytes. */
T(a_key_costs_at_most_64_bytes)
{
	static struct delta_item items[512];
	size_t empty = delta_fifo_bytes(w->fifo);
	char key[16];

	for (unsigned i = 0; i < 512; i++) {
		snprintf(key, sizeof(key), "ns/%u", i);
		items[i] = (struct delta_item){draft_uid(w, key, 1, 1), FOUND_UNASKED};
	}
	ok(delta_fifo_replace(w->fifo, items, 512));
	assert_in_range(delta_fifo_bytes(w->fifo) - empty, 1, 512 * 64);
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
	bool queued[MODEL_KEYS] = {false};
	size_t before = m->count;
	char step[16];

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
		snprintf(step, sizeof(step), "list k%02u %u", k, ++m->version);
		act(w, step);
		model_queue(m, 'R', k, m->version);
	}
	act(w, "replace");
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
	w->log[0] = '\0';
	pop(w, max);
	assert_string_equal(w->log, want);
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
			ok(delta_fifo_update(w->fifo, draft_uid(w, key, ++m.version, 1)));
			model_queue(&m, 'U', k, m.version);
		} else if (what < 6) {
			ok(delta_fifo_delete(w->fifo, draft_uid(w, key, ++m.version, 1)));
			if (model_last(&m, k) || m.known[k])
				model_queue(&m, 'D', k, m.version);
		} else if (what < 7) {
			model_replace(w, &m, (unsigned)rand());
		} else {
			model_pop(w, &m, m.count > MODEL_MAX / 2 ? m.count : (unsigned)rand() % 8);
		}
		assert_true(m.count < MODEL_MAX);
		assert_int_equal(delta_fifo_queued(w->fifo), m.count);
	}
}
