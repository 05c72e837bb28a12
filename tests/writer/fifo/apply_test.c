/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline from DeltaFIFO to a real store: content and RV of each commit, and commits that fail. */
#include "shm-layout/queue.h"
#include "tests/room.h"
#include "tests/support/source_fixture.h"
#include "writer/fifo/delta_fifo_replace.h"
#include "writer/reflect/reflector.h"

struct test {
	struct source_fixture *fx;
	struct reflector *reflector;
};

static int
set_up_with(void **state, uint64_t max_bytes)
{
	struct test *t = calloc(1, sizeof(*t));

	t->fx = source_fixture_new(max_bytes);
	t->reflector = reflector_new(&(struct reflector_options){.source = &t->fx->source});
	*state = t;
	return 0;
}

static int
set_up(void **state)
{
	return set_up_with(state, 0);
}

/* A small arena that is soon full. */
static int
set_up_small(void **state)
{
	return set_up_with(state, 4u << 20);
}

static void
end_world(struct test *t)
{
	reflector_free(t->reflector);
	source_fixture_free(t->fx);
	free(t);
}
TEAR_DOWN(tear_down, end_world)

static void
begin(struct test *t)
{
	reflector_start(t->reflector, "8", 1);
	server_open(t->fx);
	applier_run(t->fx->applier);
}

/* True if queued Deltas can be applied now. */
static bool
turn(struct test *t)
{
	return applier_run(t->fx->applier);
}

/* Apply until nothing more can be applied. Returns the number of turns. */
static unsigned
turns(struct test *t)
{
	unsigned count = 1;

	while (turn(t))
		count++;
	return count;
}

static void
advance(struct test *t, uint64_t ms)
{
	virtual_clock_advance(&t->fx->clock, ms);
}

#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":%s}\n", object

#define S(name) TEST_CASE_OF(struct test *t, set_up_small, tear_down, name)
#define T(name) TEST_CASE_OF(struct test *t, set_up, tear_down, name)

/* Deltas read in one turn of the loop are one commit. A turn without Deltas is none. */
T(a_turn_is_one_commit)
{
	uint64_t epoch;

	begin(t);
	epoch = store_epoch(t->fx->store->store);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 9)));
	server_send(t->fx, EVENT("ADDED", pod("a/y", 10)));
	assert_string_equal(published(t->fx), "[8] ");
	for (int i = 0; i < 4; i++)
		assert_false(turn(t));
	assert_string_equal(published(t->fx), "[10] a/x@9 a/y@10 ");
	assert_int_equal(store_epoch(t->fx->store->store), epoch + 1);
}

/* Whichever allocation fails once, in a change or in its commit, the retry publishes everything. */
T(a_failed_change_is_published_by_the_retry)
{
	struct arena *arena = t->fx->store->arena;
	unsigned version = 9, failures = 0;
	char expected[64];
	bool failed = true;

	begin(t);
	for (unsigned room = 0; failed && room < 1000; room++, version++) {
		server_send(t->fx,
			    "{\"type\":\"%s\",\"object\":{\"metadata\":{\"name\":\"x\",\"namespace\":\"a\","
			    "\"uid\":\"u\",\"resourceVersion\":\"%u\"}}}\n",
			    version == 9 ? "ADDED" : "MODIFIED", version);
		arena_fail_after(arena, room);
		turn(t);
		failed = applier_trouble(t->fx->applier)[0] != '\0';
		failures += failed;
		arena_fail_after(arena, UINT64_MAX);
		if (failed) {
			advance(t, virtual_clock_next(&t->fx->clock));
			turn(t);
		}
		snprintf(expected, sizeof(expected), "[%u] a/x@%u ", version, version);
		assert_string_equal(published(t->fx), expected);
		assert_string_equal(applier_trouble(t->fx->applier), "");
	}
	assert_false(failed);
	assert_true(failures > 1);
}

/* Whatever the backoff, a change that waits for room is applied in the first turn with room. */
T(waiting_changes_are_applied_when_there_is_room)
{
	struct arena *arena = t->fx->store->arena;

	begin(t);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 9)));
	arena_fail_after(arena, 0);
	for (int i = 0; i < 6; i++) {
		turn(t);
		advance(t, virtual_clock_next(&t->fx->clock));
	}
	turn(t);
	assert_true(virtual_clock_next(&t->fx->clock) > 5000);
	arena_fail_after(arena, UINT64_MAX);
	turn(t);
	assert_string_equal(published(t->fx), "[8] ");
	applier_retry(t->fx->applier);
	turn(t);
	assert_string_equal(published(t->fx), "[9] a/x@9 ");
	assert_string_equal(applier_trouble(t->fx->applier), "");
}

/* Makes pops fail for keys of a test, in place of the store's errors. */
struct failing {
	const char *name;
	struct test *t;
};

static int
apply_but(void *context, const struct delta *d)
{
	struct failing *f = context;
	struct store_fixture *fx = f->t->fx->store;
	const struct object *o = object_at(&fx->arena->view, d->ref);

	if (o->name_length == strlen(f->name) && memcmp(object_name(o), f->name, o->name_length) == 0)
		return -ENOSPC;
	return store_put(fx->store, fx->pods, (struct draft){d->ref}, d->found);
}

/*
 * RV 12 is not committed while RV 10 waits. A writer that dies here resumes from 8 and receives 10 again. A
 * bookmark behind it does not move the RV either.
 */
T(a_delta_that_waits_holds_the_version_back)
{
	struct failing failing = { "y", t };

	begin(t);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 9)));
	server_send(t->fx, EVENT("ADDED", pod("a/y", 10)));
	server_send(t->fx, EVENT("MODIFIED", pod("a/x", 12)));
	assert_int_equal(delta_fifo_pop(t->fx->fifo, 100, apply_but, &failing), -ENOSPC);
	server_send(t->fx, EVENT("ADDED", pod("a/z", 13)));
	turn(t);
	assert_string_equal(published(t->fx), "[8] a/x@12 a/z@13 ");
	server_send(t->fx,
		    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"50\"}}}\n");
	turn(t);
	assert_string_equal(published(t->fx), "[8] a/x@12 a/z@13 ");

	delta_fifo_retry(t->fx->fifo);
	turn(t);
	assert_string_equal(published(t->fx), "[50] a/x@12 a/y@10 a/z@13 ");
}

/* Answer a LIST with pods [from, to), each with `padding` bytes that no two pods share. */
static void
answer_list(struct test *t, const char *version, unsigned from, unsigned to, int padding)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	fprintf(out, "{\"metadata\":{\"resourceVersion\":\"%s\"},\"items\":[", version);
	for (unsigned i = from; i < to; i++)
		fprintf(out,
			"%s{\"metadata\":{\"name\":\"p%05u\",\"namespace\":\"a\",\"uid\":\"u%u\","
			"\"resourceVersion\":\"%u\"},\"data\":\"%0*u\"}",
			i == from ? "" : ",", i, i, i, padding, i);
	fputs("]}", out);
	fclose(out);
	server_answer(t->fx, 200, text);
	free(text);
}

static void
list(struct test *t, unsigned from, unsigned to)
{
	reflector_start(t->reflector, "", 0);
	answer_list(t, "5000", from, to, 0);
}

/* The watch's history is gone. The same pods are listed again, as of 9000. */
static void
relist(struct test *t, unsigned from, unsigned to)
{
	server_answer(t->fx, 410, "");
	advance(t, 2000);
	answer_list(t, "9000", from, to, 0);
}

static const struct resource *
published_of(struct test *t, unsigned id)
{
	const struct arena_view *view = &t->fx->store->arena->view;

	return root_resource(view, root_at(view, t->fx->store->arena->header->root), id);
}

static const struct resource *
published_resource(struct test *t)
{
	return published_of(t, t->fx->store->pods);
}

/* The published state is SYNCED, at this version, with so many objects. */
static void
assert_synced(struct test *t, const char *version, uint64_t count)
{
	const struct resource *r = published_resource(t);

	assert_int_equal(r->state, RESOURCE_SYNCED);
	assert_int_equal(r->version_length, strlen(version));
	assert_memory_equal(r->version, version, strlen(version));
	assert_int_equal(r->object_count, count);
}

static bool
somebody_hears(void *context, unsigned resource)
{
	(void)context;
	(void)resource;
	return true;
}

/* A long list with a reader is published in portions as LISTING. Its RV comes with its last Delta. */
T(a_long_list_is_listing_until_its_last_delta)
{
	unsigned portions = 1;

	store_heard_by(t->fx->store->store, somebody_hears, NULL);
	list(t, 1, 3001);
	for (; turn(t); portions++) {
		assert_int_equal(published_resource(t)->state, RESOURCE_LISTING);
		assert_in_range(published_resource(t)->object_count, 1, 2999);
	}
	assert_int_equal(portions, 3);
	assert_synced(t, "5000", 3000);
}

/* Without a reader several portions of a first list share a commit. All of it is there at its end. */
T(portions_without_a_reader_share_a_commit)
{
	struct store_stats before, after;
	unsigned portions = 1, shown = 0;

	store_stats(t->fx->store->store, &before);
	reflector_start(t->reflector, "", 0);
	answer_list(t, "50000", 1, 20001, 0);
	for (; turn(t); portions++) {
		const struct resource *now = published_resource(t);

		shown += now->object_count > 0;
		assert_int_equal(now->state, RESOURCE_LISTING);
		assert_int_equal(now->object_count, shown ? APPLIER_PUT_OFF : 0);
		assert_int_equal(now->version_length, 0);
	}
	store_stats(t->fx->store->store, &after);
	assert_int_equal(portions, 20);
	assert_in_range(shown, 1, 19);
	assert_int_equal(after.commits - before.commits, 2);
	assert_synced(t, "50000", 20000);
	assert_int_equal(store_fixture_verify(t->fx->store), 0);
}

/* What a relist's commits publish, in order. */
struct told {
	uint64_t deleted, put, synced;
	bool deleted_late;	/* a delete came behind a put */
	bool synced_early;	/* SYNCED came before another event */
};

static void
note_told(void *context, const struct store_event *events, size_t count, uint64_t base)
{
	struct told *t = context;

	(void)base;
	for (size_t i = 0; i < count; i++) {
		t->synced_early |= t->synced > 0;
		if (events[i].kind == QUEUE_DELETED) {
			t->deleted++;
			t->deleted_late |= t->put > 0;
		} else if (events[i].kind == QUEUE_SYNCED) {
			t->synced++;
		} else {
			t->put++;
		}
	}
}

/*
 * A long relist of a synced resource is LISTING meanwhile. Its deletes are published before its puts, over
 * many commits. No commit shows a part of the list as the whole.
 */
T(a_long_relist_publishes_deletes_first)
{
	struct told told = {0};
	unsigned portions = 1;

	list(t, 1, 2501);
	turns(t);
	assert_synced(t, "5000", 2500);
	store_on_events(t->fx->store->store, note_told, &told);
	relist(t, 2301, 5401);
	assert_synced(t, "5000", 2500);
	for (; turn(t); portions++)
		assert_int_equal(published_resource(t)->state, RESOURCE_LISTING);
	assert_synced(t, "9000", 3100);
	assert_in_range(portions, 4, 8);
	assert_int_equal(told.deleted, 2300);
	assert_int_equal(told.put, 2900);
	assert_int_equal(told.synced, 1);
	assert_false(told.deleted_late);
	assert_false(told.synced_early);
	store_on_events(t->fx->store->store, NULL, NULL);
}

/* A long relist with few changes is applied in one commit, and never LISTING. */
T(a_relist_that_changes_little_is_never_listing)
{
	list(t, 1, 3001);
	turns(t);
	relist(t, 2, 3002);
	assert_int_equal(turns(t), 1);
	assert_synced(t, "9000", 3000);
}

/* Events behind a list wait for its end. The RV of the last event is stored with the last Delta. */
T(events_behind_a_list_wait_for_it)
{
	list(t, 1, 2001);
	server_open(t->fx);
	assert_true(turn(t));
	server_send(t->fx, EVENT("MODIFIED", pod("a/p01999", 5001)));
	server_send(t->fx, EVENT("ADDED", pod("a/new", 5002)));
	turns(t);
	assert_synced(t, "5002", 2001);
}

/* Events behind a relist come with its last portion: new content never has the old RV. */
T(a_relist_is_not_published_with_the_older_version)
{
	char name[32];

	list(t, 1, 31);
	turns(t);
	assert_synced(t, "5000", 30);
	relist(t, 11, 51);
	server_open(t->fx);
	/* more than a list's turn applies */
	for (unsigned i = 0; i < 2 * APPLIER_LIST_QUANTUM; i++) {
		snprintf(name, sizeof(name), "a/new%u", i);
		server_send(t->fx, EVENT("ADDED", pod(name, 9001 + i)));
	}
	assert_int_equal(turns(t), 1);
	assert_synced(t, "9256", 40 + 2 * APPLIER_LIST_QUANTUM);
}

struct neighbour {
	struct delta_fifo *fifo;
	struct source source;
	struct reflector *reflector;
	unsigned id, popped;
};

static void
count_pop(void *context)
{
	((struct neighbour *)context)->popped++;
}

static void
neighbour_init(struct neighbour *n, struct test *t)
{
	static const uint8_t fingerprint[32] = "services of the neighbour";
	static const char descriptor[] = "{\"resource\":\"services\",\"kind\":\"Service\",\"indexes\":[]}";
	struct reflector_options options = {.source = &n->source};

	*n = (struct neighbour){.source = t->fx->source};
	assert_int_equal(store_add_resource(t->fx->store->store, descriptor, fingerprint, &n->id), 0);
	n->fifo = delta_fifo_new(t->fx->store->store, n->id);
	assert_int_equal(applier_add(t->fx->applier, n->id, n->fifo, count_pop, n), 0);
	n->source.fifo = n->fifo;
	n->source.name = "services";
	n->reflector = reflector_new(&options);
}

static void
neighbour_done(struct neighbour *n, struct test *t)
{
	reflector_free(n->reflector);
	applier_remove(t->fx->applier, n->fifo);
	delta_fifo_free(n->fifo);
}

/* While a long list is applied, events of another resource come with its next portion. */
T(a_long_list_delays_no_other_resource)
{
	struct neighbour n;

	neighbour_init(&n, t);
	list(t, 1, 10001);
	server_open(t->fx);
	reflector_start(n.reflector, "7", 1);
	server_open(t->fx);
	for (unsigned i = 0; i < 2; i++) { /* in the first round the other resource becomes SYNCED */
		assert_true(turn(t));
		assert_int_equal(published_resource(t)->object_count, APPLIER_LIST_BATCH);
	}
	server_send(t->fx, EVENT("ADDED", pod("a/service", 8)));
	assert_true(turn(t));
	assert_int_equal(published_of(t, n.id)->object_count, 1);
	assert_memory_equal(published_of(t, n.id)->version, "8", 1);
	assert_int_equal(n.popped, 1);
	/* the waiting part of the list came along */
	assert_int_equal(published_resource(t)->object_count, 3 * APPLIER_LIST_BATCH);
	neighbour_done(&n, t);
}

/* ---- no space ---------------------------------------------------------------------------- */

/*
 * The arena runs full in the middle of a watch. What fits is published, and the RV stays before the rest. The
 * error has a name and a remedy. When deletes have made room, everything goes on, and nothing is lost.
 */
S(a_full_arena_loses_nothing)
{
	char key[32];
	unsigned i, heard = 8, watches = 0;
	struct reflector_status status;

	begin(t);
	/* until the stream is given up for want of room, or the store reports the error */
	for (i = 9; i < 1000 && server_has_request(t->fx) && applier_trouble(t->fx->applier)[0] == '\0';
	     i++) {
		server_send(t->fx,
			    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"p%03u\",\"namespace\":"
			    "\"a\",\"uid\":\"u%u\","
			    "\"resourceVersion\":\"%u\"},\"data\":\"%08000u\"}}\n",
			    i, i, i, i);
		turn(t);
		advance(t, 1);
		heard = i;
	}
	assert_in_range(i, 300, 700);
	assert_true(published_resource(t)->object_count >= 290);
	reflector_get_status(t->reflector, &status);
	assert_true(applier_trouble(t->fx->applier)[0] != '\0' || strstr(status.last_error, "arena is full"));
	assert_true(published_resource(t)->object_count <= heard - 8);

	/* from the requested RV on: deletes of the first thirty, then the event that did not fit */
	for (unsigned deleted = 0; deleted < 30;) {
		if (!server_has_request(t->fx)) {
			assert_in_range(watches++, 0, 20);
			advance(t, 31000);
			server_open(t->fx);
		}
		snprintf(key, sizeof(key), "a/p%03u", 9 + deleted++);
		server_send(t->fx, EVENT("DELETED", pod(key, 2000 + deleted)));
		turn(t);
	}
	/* half of the tombstones give way with each commit; the next commit frees their memory */
	for (unsigned tries = 0; tries < 10 && !delta_fifo_is_empty(t->fx->fifo); tries++) {
		advance(t, 31000);
		turn(t);
	}
	assert_string_equal(applier_trouble(t->fx->applier), "");
	assert_true(delta_fifo_is_empty(t->fx->fifo));
	assert_memory_equal(published_resource(t)->version, "2030", 4);
}

/* A list that does not fit changes nothing, gives the reason, and is tried again. */
S(a_list_that_does_not_fit_changes_nothing)
{
	struct reflector_status status;

	reflector_start(t->reflector, "", 0);
	answer_list(t, "5000", 1, 1000, 8000);
	turn(t);
	reflector_get_status(t->reflector, &status);
	assert_int_equal(status.state, REFLECTOR_BACKING_OFF);
	assert_non_null(strstr(status.last_error, "arena is full"));
	assert_int_equal(published_resource(t)->object_count, 0);
	advance(t, 2000);
	answer_list(t, "6000", 1000, 1100, 8000);
	turn(t);
	assert_synced(t, "6000", 100);
}

/*
 * A list does not fit beside the known objects, of which the server has deleted many. Its keys are read and
 * applied in the reserve of a full arena: they delete those objects. Then the list fits.
 */
S(deleted_objects_make_room_for_the_list)
{
	uint32_t filler;

	reflector_start(t->reflector, "8", 1);
	server_answer(t->fx, 410, "");
	advance(t, 2000);
	answer_list(t, "5000", 1, 300, 8000);
	turns(t);
	assert_synced(t, "5000", 299);
	server_answer(t->fx, 410, "");
	advance(t, 2000);
	diary(t->fx);
	answer_list(t, "9000", 250, 520, 8000);
	while (arena_new_block(t->fx->store->arena, BLOCK_VALUE, 100, 0, &filler) == 0)
		;
	advance(t, 4000);
	assert_string_equal(diary(t->fx), "LIST rv=5000; ");
	answer_list(t, "9000", 250, 520, 8000);
	assert_string_equal(diary(t->fx), "LIST rv=\"\" limit=500; ");
	turns(t);
	assert_int_equal(published_resource(t)->state, RESOURCE_LISTING);
	assert_int_equal(published_resource(t)->object_count, 50);
	answer_list(t, "9000", 250, 350, 8000);
	turns(t);
	assert_synced(t, "9000", 100);
}

/* Distrusted content stays, LISTING and without an RV, until the next list, though that has the same RV. */
T(distrusted_content_waits_for_a_list)
{
	struct store *store = t->fx->store->store;
	struct delta_item none[1] = {0};

	begin(t);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 9)));
	turn(t);
	assert_string_equal(published(t->fx), "[9] a/x@9 ");
	server_send(t->fx, EVENT("ADDED", pod("a/y", 10)));
	applier_distrust(t->fx->applier, t->fx->fifo);
	turn(t);
	assert_string_equal(published(t->fx), "[-] a/x@9 a/y@10 ");
	assert_int_equal(store_resource(store, t->fx->store->pods)->version_length, 0);
	assert_int_equal(delta_fifo_replace(t->fx->fifo, none, 0), 0);
	delta_fifo_set_version(t->fx->fifo, "9", 1);
	turn(t);
	assert_string_equal(published(t->fx), "[9] ");
}
