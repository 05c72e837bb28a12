/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeltaFIFO beside a store. A test chooses when Deltas are popped and which fail. Names in brackets are those
 * of client-go's delta_fifo_test.go.
 */
#include "shm-layout/object.h"
#include "shm-layout/root.h"
#include "tests/room.h"
#include "tests/support/steps.h"
#include "tests/support/store_fixture.h"
#include "writer/fifo/delta_fifo_replace.h"

/* ---- the world ------------------------------------------------------------- */

struct world {
	struct store_fixture *fx;
	struct decoder *decoder;
	struct draft draft; /* the decoder's last */
	bool same_hash;     /* all keys share one hash */
	struct delta_fifo *fifo;
	int drafts;                  /* neither stored nor discarded yet */
	char log[16384];             /* popped Deltas, and the answers of `state` */
	struct delta_item items[16]; /* of a list */
	size_t item_count;
	uint64_t hashes[16]; /* of the keys of a list */
	size_t hash_count;
	char fail_key[16];      /* processing of this key fails … */
	unsigned fail_after;    /* … after so many of its Deltas */
	size_t applied, failed; /* by a pop */
};

static struct object *
object_of(const struct world *w, uint32_t ref)
{
	return (struct object *)(uintptr_t)object_at(&w->fx->arena->view, ref);
}

static int
take_draft(void *context, const char *type, size_t type_length, struct draft d)
{
	struct world *w = context;

	(void)type;
	(void)type_length;
	w->draft = d;
	return 0;
}

/* A draft of "ns/name" or "name", with uid 1 unless the test sets another. */
static uint32_t
draft_uid(struct world *w, const char *key, unsigned version, unsigned uid)
{
	const char *slash = strchr(key, '/');
	char text[256];
	int length = snprintf(
		text, sizeof(text),
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"namespace\":\"%.*s\",\"name\":\"%s\","
		"\"uid\":\"%u\",\"resourceVersion\":\"%u\"}}}",
		slash ? (int)(slash - key) : 0, key, slash ? slash + 1 : key, uid, version);

	assert_int_equal(decoder_feed(w->decoder, text, (size_t)length), 0);
	if (w->same_hash)
		object_of(w, w->draft.ref)->key_hash = 7;
	w->drafts++;
	return w->draft.ref;
}

/* Count the drafts that the FIFO discarded, by the blocks that went. */
static uint64_t
blocks(const struct world *w)
{
	struct arena_stats stats;

	arena_stats(w->fx->arena, &stats);
	return stats.blocks;
}

static void
know(struct world *w, const char *key, unsigned version)
{
	uint32_t draft = draft_uid(w, key, version, 1);
	bool same;

	assert_int_equal(store_put(w->fx->store, w->fx->pods, (struct draft){draft},
				   store_look(w->fx->store, w->fx->pods, draft, &same)),
			 0);
	w->drafts--;
}

static int
set_up(void **state)
{
	static const struct decoder_events events = {.on_object = take_draft};
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	w->fx = store_fixture_new(0);
	w->decoder = decoder_new(DECODE_WATCH, w->fx->arena, store_intern(w->fx->store), w->fx->schema,
				 &events, w, 0);
	w->fifo = delta_fifo_new(w->fx->store, w->fx->pods);
	*state = w;
	return w->fifo && w->decoder ? 0 : -1;
}

/* Every test ends with the proof that no draft leaked. */
static int
tear_down(void **state)
{
	struct world *w = *state;
	uint64_t before = blocks(w);
	int left;

	delta_fifo_free(w->fifo);
	left = w->drafts - (int)(before - blocks(w));
	decoder_free(w->decoder);
	store_fixture_free(w->fx);
	free(w);
	return left == 0 ? 0 : -1;
}

/*
 * Apply a Delta to the store, and log "ns/name C9", "ns/name R12" or "name D?": key, type, version. A '?'
 * marks a deletion that was not seen. The key of a replaced object becomes unreadable at once.
 */
static int
apply(void *context, const struct delta *d)
{
	struct world *w = context;
	const struct object *o = object_of(w, d->ref ? d->ref : d->found);
	uint32_t known = store_find(w->fx->store, w->fx->pods, o->key_hash, object_namespace(o),
				    o->namespace_length, object_name(o), o->name_length);
	struct object *was = known ? object_of(w, known) : NULL;
	char key[128];
	size_t at = strlen(w->log);

	snprintf(key, sizeof(key), "%.*s%s%.*s", o->namespace_length, object_namespace(o),
		 o->namespace_length ? "/" : "", o->name_length, object_name(o));
	at += (size_t)snprintf(w->log + at, sizeof(w->log) - at, "%s%s ",
			       w->applied + w->failed > 0 ? ", " : "", key);
	if (strcmp(w->fail_key, key) == 0 && w->fail_after-- == 0) {
		w->fail_after = 0;
		w->failed++;
		snprintf(w->log + at, sizeof(w->log) - at, "failed");
		return -ENOSPC;
	}
	w->applied++;
	at += (size_t)snprintf(w->log + at, sizeof(w->log) - at, "%c", "CDR"[d->type]);
	assert_int_equal(found_known(d->found), known);
	if (d->type == DELTA_DELETED)
		assert_int_equal(d->found, known);
	else
		assert_int_equal((d->found & FOUND_NEW) != 0, !was || !object_has_uid_of(was, o));
	if (d->ref)
		snprintf(w->log + at, sizeof(w->log) - at, "%.*s", o->version_length, object_version(o));
	else
		snprintf(w->log + at, sizeof(w->log) - at, "?");
	w->drafts -= d->ref != 0;
	if (d->type == DELTA_DELETED)
		return store_delete(w->fx->store, w->fx->pods, d->found, d->ref != 0, (struct draft){d->ref});
	assert_int_equal(store_put(w->fx->store, w->fx->pods, (struct draft){d->ref}, d->found), 0);
	if (was)
		memset(was->key, 0xee, (size_t)was->namespace_length + was->name_length);
	return 0;
}

static void
pop(struct world *w, size_t max)
{
	int r;

	w->applied = w->failed = 0;
	r = delta_fifo_pop(w->fifo, max, apply, w);
	assert_int_equal(r, w->failed > 0 ? -ENOSPC : 0);
}

#define ok(expression) assert_int_equal((expression), 0)

/* ---- a test is two texts: steps, and the log of pops -------------------------------- */

static void
tell_state(const struct world *w, char *text, size_t size)
{
	snprintf(text, size, "%zu queued, %zu waiting, %d drafts%s", delta_fifo_queued(w->fifo),
		 delta_fifo_waiting(w->fifo), w->drafts, delta_fifo_is_listing(w->fifo) ? ", listing" : "");
}

/* "add a/x 3" is a draft of the key a/x, version 3 and UID 1; "add a/x 3#2" has UID 2. */
static void
act(void *context, const char *step)
{
	struct world *w = context;
	char verb[16] = "", key[16] = "";
	unsigned version = 0, uid = 1;
	uint32_t draft = 0;
	uint64_t before;

	if (w->log[0] && (strstr(step, "pop") || strstr(step, "state")))
		strcat(w->log, "; ");
	sscanf(step, "%15s %15s %u#%u", verb, key, &version, &uid);
	if (strcmp(verb, "know") == 0) {
		know(w, key, version);
		return;
	}
	if (strcmp(verb, "dropped") == 0) { /* drafts discarded by the last pop */
		w->drafts -= atoi(key);
		return;
	}
	if (version > 0 && strcmp(verb, "fail") != 0)
		draft = draft_uid(w, key, version, uid);
	before = blocks(w);
	if (strcmp(verb, "pop") == 0) {
		pop(w, key[0] ? (size_t)atoi(key) : 100);
		return;
	}
	if (strcmp(verb, "put") == 0) {
		ok(delta_fifo_put(w->fifo, draft));
	} else if (strcmp(verb, "delete") == 0) {
		ok(delta_fifo_delete(w->fifo, draft));
	} else if (strcmp(verb, "list") == 0) { /* an item not compared with known objects yet */
		w->items[w->item_count++] = (struct delta_item){draft, FOUND_UNASKED};
	} else if (strcmp(verb, "stage") == 0) {
		w->items[w->item_count++] = delta_fifo_stage(w->fifo, draft);
	} else if (strcmp(verb, "unstage") == 0) {
		delta_fifo_unstage(w->fifo, w->items[--w->item_count]);
	} else if (strcmp(verb, "replace") == 0) {
		ok(delta_fifo_replace(w->fifo, w->items, w->item_count));
		w->item_count = 0;
	} else if (strcmp(verb, "key") == 0) {
		w->hashes[w->hash_count++] = object_of(w, draft)->key_hash;
		delta_fifo_discard(w->fifo, draft);
	} else if (strcmp(verb, "others") == 0) {
		size_t count;

		ok(delta_fifo_bury_others(w->fifo, w->hashes, w->hash_count, &count));
		snprintf(w->log + strlen(w->log), sizeof(w->log) - strlen(w->log), "%zu buried; ", count);
		w->hash_count = 0;
	} else if (strcmp(verb, "retry") == 0) {
		delta_fifo_retry(w->fifo);
	} else if (strcmp(verb, "fail") == 0) { /* without a key: nothing fails any more */
		strcpy(w->fail_key, key);
		w->fail_after = version;
	} else {
		assert_string_equal(verb, "state");
		tell_state(w, w->log + strlen(w->log), sizeof(w->log) - strlen(w->log));
	}
	w->drafts -= (int)(before - blocks(w));
	assert_true(w->item_count < 16);
}

/* Do the steps, as "add x 1, pop". The log must be `told`, as "x A1; 0 queued, …". */
static void
play(struct world *w, const char *steps, const char *told)
{
	w->log[0] = '\0';
	each_step(w, steps, act);
	assert_string_equal(w->log, told);
}

#define T(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* A test that plays one text. */
#define PLAY(name, steps, told)                                                                              \
	T(name)                                                                                              \
	{                                                                                                    \
		play(w, steps, told);                                                                        \
	}                                                                                                    \
	struct world

/* ---- order ------------------------------------------------------------------ */

/* Deltas are popped in order of arrival, whatever their keys: RVs never go back. */
PLAY(deltas_come_in_the_order_of_their_arrival,
     "put a/x 1, put a/y 2, put a/x 3, put node-1 4, delete a/y 5, put a/x 6, state, pop, state",
     "6 queued, 0 waiting, 6 drafts; a/x C1, a/y C2, a/x C3, node-1 C4, a/y D5, a/x C6; "
     "0 queued, 0 waiting, 0 drafts");

T(keys_with_equal_hashes_stay_apart)
{
	w->same_hash = true;
	play(w, "put a/bc 1, put ab/c 2, put a/bc 3, replace, pop",
	     "a/bc C1, ab/c C2, a/bc C3, a/bc D?, ab/c D?");
}

/* Repeated updates of a key stay separate Deltas. A delete of an unknown key is discarded. */
PLAY(nothing_is_merged,
     "know x 1, delete x 2, put x 3, put x 4, put x 5, delete x 6, delete x 7, pop, dropped 1",
     "x D2, x C3, x C4, x C5, x D6");

/* ---- unchanged -------------------------------------------------------------- */

/* A state with the known UID and resourceVersion discards its body. */
PLAY(the_known_version_takes_no_new_body, "know x 5, put x 5, state, know y 6, put y 6#2, pop",
     "0 queued, 0 waiting, 0 drafts; y C6");

/* A version behind a queued Delta of the key is not compared with the known version. */
PLAY(a_version_behind_a_queued_one_is_compared_with_that,
     "know x 5, put x 6, put x 5, put x 5, pop, dropped 1, state",
     "x C6, x C5; 0 queued, 0 waiting, 0 drafts");

/* Staging discards an item of a list that equals the known object. So a relist needs no room for a copy. */
PLAY(staging_discards_known_objects,
     "know a 1, know b 2, stage a 1, stage b 3, stage c 4, state, replace, pop",
     "0 queued, 0 waiting, 2 drafts; b R3, c R4");

PLAY(unstaging_leaves_nothing, "know a 1, stage a 1, stage b 2, unstage, unstage, state, pop",
     "0 queued, 0 waiting, 0 drafts; ");

/* Staging keeps bodies while an event is queued: the known object may change before the list ends. */
PLAY(staging_keeps_bodies_while_something_is_queued, "know a 1, put a 2, stage a 1, pop, replace, pop",
     "a C2; a R1");

/* ---- Replace ----------------------------------------------------------------- */

/*
 * A list makes every item a REPLACED. Each known key that the list lacks becomes a tombstone with its last
 * state. The deletions come first. [ReplaceMakesDeletions]
 */
PLAY(replace_buries_known_keys_that_are_missing,
     "know a 1, know b 2, know z 3, list b 4, list c 5, replace, pop", "a D?, z D?, b R4, c R5");

/* A known object whose name has another UID in the list is deleted, too, in front. */
PLAY(replace_buries_objects_of_another_uid,
     "know a 1, know b 2, know c 3, list a 4, list b 5#2, stage c 6#2, replace, pop",
     "b D?, c D?, a R4, b R5, c R6");

/* So is an object that is only queued, unless its delete is queued, too. */
PLAY(replace_buries_queued_objects_of_another_uid,
     "know x 1, know y 2, put x 3, delete y 4, put z 5#2, "
     "list a 6, list x 7#2, list y 8#2, list z 9#2, replace, pop",
     "x C3, y D4, z C5, x D?, a R6, x R7, y R8, z R9");

/* A list of keys buries known objects that it lacks, except keys with queued Deltas. */
PLAY(keys_bury_known_objects_that_are_missing,
     "know a 1, know b 2, know c 3, know d 4, put c 5, key d 9, key b 8#2, key e 7, others, pop, state",
     "1 buried; ; c C5, a D?; 0 queued, 0 waiting, 0 drafts");

/* A list with a key many times, each with another UID, makes no deletions in front. */
PLAY(a_list_may_have_a_key_many_times,
     "know x 1, list x 2#2, list x 3#3, list x 4#4, list x 5#5, replace, pop, state, "
     "stage x 5#5, stage x 5#5, stage x 6#5, stage x 5#5, replace, pop",
     "x D?, x R2, x R3, x R4, x R5; 0 queued, 0 waiting, 0 drafts; x R6");

/* [ReplaceMakesDeletionsForObjectsOnlyInQueue] */
PLAY(replace_buries_keys_that_are_only_queued, "put x 1, list y 2, replace, pop", "x C1, x D?, y R2");

/* Keys whose Deltas failed and wait are buried, too, from an earlier list or from a watch. */
PLAY(replace_buries_keys_that_wait, "put x 1, fail x, pop, fail, list y 2, replace, retry, pop",
     "x failed; x C1, x D?, y R2");

/* A key that a list lacks is buried once, at the list's end. [ReplaceMakesDeletionsForObjectsInQueue] */
PLAY(a_key_that_is_known_and_queued_is_buried_once, "know x 1, put x 2, put x 3, replace, pop",
     "x C2, x C3, x D?");
/* LISTING lasts from Replace to the last key of the list, whatever a watch adds behind it. */
PLAY(listing_lasts_until_the_last_key_of_the_list,
     "list x 1, list y 1, replace, put z 2, state, pop 1, state, pop 1, state",
     "3 queued, 0 waiting, 3 drafts, listing; x R1; 2 queued, 0 waiting, 2 drafts, listing; y R1; "
     "1 queued, 0 waiting, 1 drafts");

/* ---- failures, close ------------------------------------------------------------ */

/* A failed Delta goes back in front. Keys behind it have their turn meanwhile. [RequeueOnPop] */
PLAY(failed_deltas_go_back_in_front, "put x 1, put y 2, fail x, pop, state, fail, put z 3, retry, pop",
     "x failed, y C2; 0 queued, 1 waiting, 1 drafts; x C1, z C3");

/* Newer Deltas of a waiting key go behind its failed Deltas, and let other keys pass. */
PLAY(newer_deltas_wait_behind_those_that_failed,
     "put x 1, fail x, pop, fail, put x 2, put y 3, pop, state, put x 4, put y 5, retry, pop",
     "x failed; y C3; 0 queued, 2 waiting, 2 drafts; x C1, x C2, x C4, y C5");

/* Deltas processed before the failure do not come back. */
PLAY(only_unprocessed_deltas_are_put_back, "put x 1, put x 2, put x 3, fail x 1, pop, fail, retry, pop",
     "x C1, x failed; x C2, x C3");

/* A tombstone that is put back refers to the object known then, not to a freed block. */
PLAY(a_tombstone_put_back_refers_to_the_known_object,
     "know x 1, put x 2, replace, fail x 1, pop, fail, retry, pop", "x C2, x failed; x D?");

PLAY(failing_keys_keep_their_order,
     "list a 1, list b 1, list c 1, replace, fail a, pop 1, fail b, pop 1, fail, retry, pop",
     "a failed; b failed; a R1, b R1, c R1");

/* Drafts that are queued or wait are discarded (tear_down() counts them). */
PLAY(freeing_discards_queued_drafts, "know k 1, put x 1, put y 2, put k 1, delete k 2, fail x, pop 1, state",
     "x failed; 2 queued, 1 waiting, 3 drafts");

/* Freeing discards no known object that a Delta borrows (world_discard() checks). */
PLAY(freeing_discards_no_known_object, "know x 1, replace, know y 1, put y 1, state",
     "1 queued, 0 waiting, 0 drafts, listing");

/* The version is that of the last arrival, though its Delta is still queued. */
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

/* ---- the model ---------------------------------------------------------------- */

#define MODEL_KEYS 12u
#define MODEL_MAX 600u

/* The model: Deltas in one row, as in client-go's RealFIFO, and the known objects. */
struct model {
	struct modelled {
		unsigned key, version;
		char type; /* C D R, or ? for a burial */
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

/* Replace by the keys of the mask: first keys that are only queued, then keys that are only known. */
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
	for (uint32_t i = 0; i < store_resource(w->fx->store, w->fx->pods)->next_ordinal; i++) {
		uint32_t ref = store_by_ordinal(w->fx->store, w->fx->pods, i);
		unsigned k = 0;

		if (!ref)
			continue;
		sscanf(object_name(object_of(w, ref)), "k%2u", &k);
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

		if (d->type == 'D' && !m->known[d->key]) {
			w->drafts--;
			continue;
		}
		m->known[d->key] = !is_end(d->type);
		if (d->type == '?')
			snprintf(want + at, sizeof(want) - at, "%sk%02u D?", at ? ", " : "", d->key);
		else
			snprintf(want + at, sizeof(want) - at, "%sk%02u %c%u", at ? ", " : "", d->key,
				 d->type, d->version);
	}
	w->log[0] = '\0';
	pop(w, max);
	assert_string_equal(w->log, want);
	memmove(m->row, m->row + done, (m->count - done) * sizeof(m->row[0]));
	m->count -= done;
}

/* Random operations on few keys, lists among them, give the Deltas of a plain row. */
T(random_operations_match_a_plain_model)
{
	struct model m = {.count = 0};
	unsigned seed = (unsigned)test_seed(1);
	char key[8];

	print_message("seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 20000; round++) {
		unsigned k = (unsigned)rand() % MODEL_KEYS, what = (unsigned)rand() % 10;

		snprintf(key, sizeof(key), "k%02u", k);
		if (what < 4) {
			ok(delta_fifo_put(w->fifo, draft_uid(w, key, ++m.version, 1)));
			model_queue(&m, 'C', k, m.version);
		} else if (what < 6) {
			ok(delta_fifo_delete(w->fifo, draft_uid(w, key, ++m.version, 1)));
			if (model_last(&m, k) || m.known[k])
				model_queue(&m, 'D', k, m.version);
			else
				w->drafts--;
		} else if (what < 7) {
			model_replace(w, &m, (unsigned)rand());
		} else {
			model_pop(w, &m, m.count > MODEL_MAX / 2 ? m.count : (unsigned)rand() % 8);
		}
		assert_true(m.count < MODEL_MAX);
		assert_int_equal(delta_fifo_queued(w->fifo), m.count);
	}
}
