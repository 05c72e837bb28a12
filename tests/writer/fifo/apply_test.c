/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipeline between DeltaFIFO and a real store: what a commit shows, beside which RV, and what happens
 * when it cannot be made.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/queue.h"
#include "tests/room.h"
#include "tests/support/source_fixture.h"
#include "writer/reflect/reflector.h"

struct test {
	struct source_fixture *fx;
	struct reflector *reflector;
};

static struct test *
test_new(uint64_t max_bytes)
{
	struct test *t = calloc(1, sizeof(*t));
	struct reflector_options options = { 0 };

	t->fx = source_fixture_new(max_bytes);
	options.source = &t->fx->source;
	t->reflector = reflector_new(&options);
	return t;
}

static int
set_up(void **state)
{
	*state = test_new(0);
	return 0;
}

/* A small arena, which is soon full. */
static int
set_up_small(void **state)
{
	*state = test_new(4u << 20);
	return 0;
}

static int
tear_down(void **state)
{
	struct test *t = *state;

	reflector_free(t->reflector);
	source_fixture_free(t->fx);
	free(t);
	return 0;
}

static void
begin(struct test *t)
{
	reflector_start(t->reflector, "8", 1);
	server_open(t->fx);
}

#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":%s}\n", object

#define S(name) TEST_CASE_OF(struct test *t, set_up_small, tear_down, name)
#define T(name) TEST_CASE_OF(struct test *t, set_up, tear_down, name)

/* What is read in one turn of the loop is published together, and not before. */
T(a_turn_is_one_commit)
{
	uint64_t epoch;

	begin(t);
	applier_run(t->fx->applier);
	epoch = store_epoch(t->fx->store->store);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 9)));
	server_send(t->fx, EVENT("ADDED", pod("a/y", 10)));
	assert_string_equal(published(t->fx), "[8] ");
	assert_false(applier_run(t->fx->applier));
	assert_string_equal(published(t->fx), "[10] a/x@9 a/y@10 ");
	assert_int_equal(store_epoch(t->fx->store->store), epoch + 1);
}

/* A turn without news commits nothing. */
T(nothing_new_is_no_commit)
{
	uint64_t epoch;

	begin(t);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 9)));
	applier_run(t->fx->applier);
	epoch = store_epoch(t->fx->store->store);
	for (int i = 0; i < 3; i++)
		assert_false(applier_run(t->fx->applier));
	assert_int_equal(store_epoch(t->fx->store->store), epoch);
}

/* Whichever piece of room is missing once, in a change or in its commit, the retry publishes all of it. */
T(what_fails_once_is_published_by_the_retry)
{
	struct arena *arena = t->fx->store->arena;
	unsigned version = 9, failures = 0;
	char expected[64];
	bool failed = true;

	begin(t);
	applier_run(t->fx->applier);
	for (unsigned room = 0; failed && room < 1000; room++, version++) {
		server_send(t->fx,
			    "{\"type\":\"%s\",\"object\":{\"metadata\":{\"name\":\"x\",\"namespace\":\"a\","
			    "\"uid\":\"u\",\"resourceVersion\":\"%u\"}}}\n",
			    version == 9 ? "ADDED" : "MODIFIED", version);
		arena_fail_after(arena, room);
		applier_run(t->fx->applier);
		failed = applier_trouble(t->fx->applier)[0] != '\0';
		failures += failed;
		arena_fail_after(arena, UINT64_MAX);
		if (failed) {
			virtual_clock_advance(&t->fx->clock, virtual_clock_next(&t->fx->clock));
			applier_run(t->fx->applier);
		}
		snprintf(expected, sizeof(expected), "[%u] a/x@%u ", version, version);
		assert_string_equal(published(t->fx), expected);
		assert_string_equal(applier_trouble(t->fx->applier), "");
	}
	assert_false(failed);
	assert_true(failures > 1);
}

/* Whatever the backoff has come to: where there is room again, what waits is applied by the next turn. */
T(what_waits_goes_on_when_there_is_room)
{
	struct arena *arena = t->fx->store->arena;

	begin(t);
	applier_run(t->fx->applier);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 9)));
	arena_fail_after(arena, 0);
	for (int i = 0; i < 6; i++) {
		applier_run(t->fx->applier);
		virtual_clock_advance(&t->fx->clock, virtual_clock_next(&t->fx->clock));
	}
	applier_run(t->fx->applier);
	assert_true(virtual_clock_next(&t->fx->clock) > 5000);
	arena_fail_after(arena, UINT64_MAX);
	applier_run(t->fx->applier);
	assert_string_equal(published(t->fx), "[8] ");
	applier_retry(t->fx->applier);
	applier_run(t->fx->applier);
	assert_string_equal(published(t->fx), "[9] a/x@9 ");
	assert_string_equal(applier_trouble(t->fx->applier), "");
}

/* Pops that fail for the keys of a test, in place of the store's own errors. */
struct failing {
	const char *name;
	struct test *t;
};

static int
apply_but(void *context, const struct delta *d)
{
	struct failing *f = context;

	if (d->name_length == strlen(f->name) && memcmp(d->name, f->name, d->name_length) == 0)
		return -ENOSPC;
	return store_put(f->t->fx->store->store, f->t->fx->store->pods, (struct draft){d->ref}, NULL);
}

/*
 * The RV rule: 12 is not committed while 10 waits. A writer that dies here goes
 * on from 8 and hears 10 again; with 12 it would be lost.
 */
T(a_delta_that_waits_holds_the_version_back)
{
	struct failing failing = { "y", t };

	begin(t);
	applier_run(t->fx->applier);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 9)));
	server_send(t->fx, EVENT("ADDED", pod("a/y", 10)));
	server_send(t->fx, EVENT("MODIFIED", pod("a/x", 12)));
	assert_int_equal(delta_fifo_pop(t->fx->fifo, 100, apply_but, &failing, NULL), -ENOSPC);
	server_send(t->fx, EVENT("ADDED", pod("a/z", 13)));
	applier_run(t->fx->applier);
	assert_string_equal(published(t->fx), "[8] a/x@12 a/z@13 ");

	delta_fifo_retry(t->fx->fifo);
	applier_run(t->fx->applier);
	assert_string_equal(published(t->fx), "[13] a/x@12 a/y@10 a/z@13 ");
}

/* A bookmark behind a delta that waits does not move the published RV either. */
T(a_bookmark_keeps_its_place_behind_what_waits)
{
	struct failing failing = { "y", t };

	begin(t);
	applier_run(t->fx->applier);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 10)));
	delta_fifo_pop(t->fx->fifo, 100, apply_but, &failing, NULL);
	server_send(t->fx,
		    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"50\"}}}\n");
	applier_run(t->fx->applier);
	assert_string_equal(published(t->fx), "[8] ");
	delta_fifo_retry(t->fx->fifo);
	applier_run(t->fx->applier);
	assert_string_equal(published(t->fx), "[50] a/y@10 ");
}

/* Text that no two objects share. */
static char
noise(unsigned i, size_t n)
{
	uint32_t x = (uint32_t)i * 2654435761u + (uint32_t)n * 40503u;

	x ^= x >> 15;
	x *= 2246822519u;
	return (char)('a' + (x >> 16) % 26u);
}

static char *
long_list(const char *version, unsigned from, unsigned to, size_t padding)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	fprintf(out, "{\"metadata\":{\"resourceVersion\":\"%s\"},\"items\":[", version);
	for (unsigned i = from; i < to; i++) {
		fprintf(out,
			"%s{\"metadata\":{\"name\":\"p%05u\",\"namespace\":\"a\",\"uid\":\"u%u\","
			"\"resourceVersion\":\"%u\"}",
			i == from ? "" : ",", i, i, i);
		if (padding) {
			fputs(",\"data\":\"", out);
			for (size_t n = 0; n < padding; n++)
				fputc(noise(i, n), out);
			fputs("\"", out);
		}
		fputs("}", out);
	}
	fputs("]}", out);
	fclose(out);
	return text;
}

static const struct resource *
published_resource(struct test *t)
{
	const struct arena_view *view = &t->fx->store->arena->view;

	return root_resource(view, root_at(view, t->fx->store->arena->header->root), t->fx->store->pods);
}

static bool
somebody_hears(void *context, unsigned resource)
{
	(void)context;
	(void)resource;
	return true;
}

/*
 * A long list is applied in portions, shown as listing, without its RV until its last Delta. Where somebody
 * is told of it each portion is shown.
 */
T(a_long_list_is_listing_until_its_last_delta)
{
	char *list = long_list("5000", 1, 3001, 0);
	unsigned portions = 1;

	store_heard_by(t->fx->store->store, somebody_hears, NULL);
	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, list);
	free(list);
	while (applier_run(t->fx->applier)) {
		portions++;
		assert_int_equal(published_resource(t)->state, RESOURCE_LISTING);
		assert_in_range(published_resource(t)->object_count, 1, 2999);
	}
	assert_int_equal(portions, 3);
	assert_int_equal(published_resource(t)->state, RESOURCE_SYNCED);
	assert_int_equal(published_resource(t)->object_count, 3000);
	assert_memory_equal(published_resource(t)->version, "5000", 4);
}

/* Of a first list that nobody is told of many portions share a commit; all of it is there at its end. */
T(portions_that_nobody_hears_of_share_a_commit)
{
	char *list = long_list("50000", 1, 20001, 0);
	struct store_stats before, after;
	unsigned portions = 1, shown = 0;

	store_stats(t->fx->store->store, &before);
	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, list);
	free(list);
	while (applier_run(t->fx->applier)) {
		const struct resource *now = published_resource(t);

		portions++;
		shown += now->object_count > 0;
		assert_int_equal(now->state, RESOURCE_LISTING);
		assert_int_equal(now->object_count, shown ? APPLIER_PUT_OFF : 0);
		assert_int_equal(now->version_length, 0);
	}
	store_stats(t->fx->store->store, &after);
	assert_int_equal(portions, 20);
	assert_in_range(shown, 1, 19);
	assert_int_equal(after.commits - before.commits, 2);
	assert_int_equal(published_resource(t)->state, RESOURCE_SYNCED);
	assert_int_equal(published_resource(t)->object_count, 20000);
	assert_int_equal(store_fixture_verify(t->fx->store), 0);
}

/*
 * A relist of a synced resource that takes several portions is listing meanwhile: what is shown is neither
 * before nor after.
 */
T(a_long_relist_is_listing_meanwhile)
{
	char *list = long_list("5000", 1, 2, 0), *relist = long_list("9000", 10, 3010, 0);

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, list);
	applier_run(t->fx->applier);
	assert_int_equal(published_resource(t)->state, RESOURCE_SYNCED);
	server_answer(t->fx, 410, "");
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200, relist);
	free(list);
	free(relist);
	assert_true(applier_run(t->fx->applier));
	assert_int_equal(published_resource(t)->state, RESOURCE_LISTING);
	while (applier_run(t->fx->applier))
		;
	assert_int_equal(published_resource(t)->state, RESOURCE_SYNCED);
	assert_memory_equal(published_resource(t)->version, "9000", 4);
}

/* What a relist's commits tell, in their order. */
struct told {
	uint64_t deleted, put, synced;
	bool deleted_late;	/* after something was put */
	bool synced_early;	/* before something else */
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

/* What is shown without the word LISTING is the first list's state, or the second's, and nothing between. */
static void
expect_whole(struct test *t, uint64_t first, uint64_t second)
{
	const struct resource *r = published_resource(t);

	if (r->state == RESOURCE_LISTING)
		return;
	if (r->version_length == 4 && memcmp(r->version, "5000", 4) == 0)
		assert_int_equal(r->object_count, first);
	else
		assert_int_equal(r->object_count, second);
}

/*
 * What goes with a relist is told before what comes, though both take many commits; and none of these shows
 * half of it for a whole.
 */
T(a_long_relist_tells_what_goes_first)
{
	char *list = long_list("5000", 1, 2501, 0), *relist = long_list("9000", 2301, 5401, 0);
	struct told told = { 0 };
	unsigned portions = 1;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, list);
	while (applier_run(t->fx->applier))
		;
	expect_whole(t, 2500, 3100);
	server_answer(t->fx, 410, "");
	virtual_clock_advance(&t->fx->clock, 2000);
	store_on_events(t->fx->store->store, note_told, &told);
	server_answer(t->fx, 200, relist);
	free(list);
	free(relist);
	expect_whole(t, 2500, 3100);
	for (; applier_run(t->fx->applier); portions++)
		expect_whole(t, 2500, 3100);
	expect_whole(t, 2500, 3100);
	assert_int_equal(published_resource(t)->state, RESOURCE_SYNCED);
	assert_in_range(portions, 4, 8);
	assert_int_equal(told.deleted, 2300);
	assert_int_equal(told.put, 2900);
	assert_int_equal(told.synced, 1);
	assert_false(told.deleted_late);
	assert_false(told.synced_early);
	store_on_events(t->fx->store->store, NULL, NULL);
}

/* A long relist that changes little is applied whole: nobody sees it as listing. */
T(a_relist_that_changes_little_is_never_listing)
{
	char *list = long_list("5000", 1, 3001, 0), *relist = long_list("9000", 2, 3002, 0);

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, list);
	while (applier_run(t->fx->applier))
		;
	server_answer(t->fx, 410, "");
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200, relist);
	free(list);
	free(relist);
	assert_false(applier_run(t->fx->applier));
	assert_int_equal(published_resource(t)->state, RESOURCE_SYNCED);
	assert_int_equal(published_resource(t)->object_count, 3000);
	assert_memory_equal(published_resource(t)->version, "9000", 4);
}

/*
 * Events that arrive while a list is applied are behind it, and the RV of the last of them is stored with the
 * last Delta.
 */
T(events_behind_a_list_wait_for_it)
{
	char *list = long_list("5000", 1, 2001, 0);

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, list);
	free(list);
	server_open(t->fx);
	assert_true(applier_run(t->fx->applier));
	server_send(t->fx, EVENT("MODIFIED", pod("a/p01999", 5001)));
	server_send(t->fx, EVENT("ADDED", pod("a/new", 5002)));
	while (applier_run(t->fx->applier))
		;
	assert_int_equal(published_resource(t)->object_count, 2001);
	assert_memory_equal(published_resource(t)->version, "5002", 4);
	assert_int_equal(published_resource(t)->state, RESOURCE_SYNCED);
}

/*
 * Events that came with a relist are applied with its last portion: what is shown is never the second list's
 * content with the first one's RV.
 */
T(a_relist_is_not_shown_with_the_older_version)
{
	char *list = long_list("5000", 1, 31, 0), *relist = long_list("9000", 11, 51, 0);
	unsigned runs = 0;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, list);
	while (applier_run(t->fx->applier))
		;
	expect_whole(t, 30, 40);
	server_answer(t->fx, 410, "");
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200, relist);
	free(list);
	free(relist);
	server_open(t->fx);
	/* more than a list's turn takes along */
	for (unsigned i = 0; i < 2 * APPLIER_LIST_QUANTUM; i++) {
		char name[32];

		snprintf(name, sizeof(name), "a/new%u", i);
		server_send(t->fx, EVENT("ADDED", pod(name, 9001 + i)));
	}
	for (bool more = true; more; runs++) {
		more = applier_run(t->fx->applier);
		expect_whole(t, 30, 40 + 2 * APPLIER_LIST_QUANTUM);
	}
	assert_int_equal(runs, 1);
	assert_int_equal(published_resource(t)->state, RESOURCE_SYNCED);
	assert_memory_equal(published_resource(t)->version, "9256", 4);
}

/* ---- another definition --------------------------------------------------------------- */

static int
sync_any(void *context, uint32_t ref)
{
	(void)context;
	(void)ref;
	return 0;
}

/* context: how often it fails */
static int
sync_done(void *context)
{
	unsigned *failures = context;

	if (*failures == 0)
		return 0;
	(*failures)--;
	return -ENOSPC;
}

/*
 * What changes while known objects are synced is shown, but no RV with it before the sync is at its end: with
 * an empty FIFO, too, when the end finds no room.
 */
T(no_version_is_shown_amid_a_sync)
{
	struct applier *applier = t->fx->applier;
	unsigned failures = 1;
	const struct applier_sync sync = { sync_any, sync_done, &failures };

	begin(t);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 9)));
	applier_run(applier);
	assert_int_equal(applier_sync(applier, t->fx->fifo, &sync), 0);
	server_send(t->fx, EVENT("ADDED", pod("a/y", 10)));
	applier_run(applier);
	assert_true(applier_is_syncing(applier, t->fx->fifo));
	assert_true(delta_fifo_is_empty(t->fx->fifo));
	assert_string_equal(published(t->fx), "[9] a/x@9 a/y@10 ");
	applier_run(applier);
	assert_false(applier_is_syncing(applier, t->fx->fifo));
	assert_string_equal(published(t->fx), "[10] a/x@9 a/y@10 ");
}

/* ---- a resource beside another ------------------------------------------------------- */

struct neighbour {
	struct store_known known;
	struct delta_fifo *fifo;
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
	static const char descriptor[] =
		"{\"group\":\"\",\"version\":\"v1\",\"resource\":\"services\",\"kind\":\"Service\","
		"\"singular\":\"service\",\"shortNames\":[],\"namespaced\":true,\"indexes\":[]}";
	struct known_objects known;

	*n = (struct neighbour){ 0 };
	assert_int_equal(store_add_resource(t->fx->store->store, descriptor, fingerprint, &n->id), 0);
	n->known = (struct store_known){ t->fx->store->store, n->id };
	known = store_known_objects(&n->known);
	n->fifo = delta_fifo_new(&known);
	assert_int_equal(applier_add(t->fx->applier, n->id, "services", n->fifo, count_pop, n), 0);
}

/*
 * A long list of one resource does not keep another waiting: its events are published with the next
 * portion.
 */
T(a_long_list_starves_nobody)
{
	char *list = long_list("5000", 1, 10001, 0);
	struct neighbour n;
	struct reflector_options options = { 0 };
	struct source source;
	struct reflector *reflector;
	const struct root *root;

	neighbour_init(&n, t);
	source = t->fx->source;
	source.fifo = n.fifo;
	source.name = "services";
	options.source = &source;
	reflector = reflector_new(&options);
	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, list);
	free(list);
	server_open(t->fx);
	reflector_start(reflector, "7", 1);
	server_open(t->fx);
	for (unsigned i = 0; i < 2; i++) { /* the first time the other one is SYNCED */
		assert_true(applier_run(t->fx->applier));
		assert_int_equal(published_resource(t)->object_count, APPLIER_LIST_BATCH);
	}
	server_send(t->fx, EVENT("ADDED", pod("a/service", 8)));
	assert_true(applier_run(t->fx->applier));
	root = root_at(&t->fx->store->arena->view, t->fx->store->arena->header->root);
	assert_int_equal(root_resource(&t->fx->store->arena->view, root, n.id)->object_count, 1);
	assert_memory_equal(root_resource(&t->fx->store->arena->view, root, n.id)->version, "8", 1);
	assert_int_equal(n.popped, 1);
	/* and what had waited of the list came along */
	assert_int_equal(published_resource(t)->object_count, 3 * APPLIER_LIST_BATCH);
	reflector_free(reflector);
	applier_remove(t->fx->applier, n.fifo);
	delta_fifo_free(n.fifo);
}

/* A resource that the server refuses leaves the other alone, and comes when it is allowed. */
T(a_refused_resource_leaves_the_other_alone)
{
	static const char forbidden[] = "{\"kind\":\"Status\",\"message\":\"services is "
					"forbidden\",\"reason\":\"Forbidden\",\"code\":403}";
	struct neighbour n;
	struct reflector_options options = { 0 };
	struct reflector_status status;
	struct source source;
	struct reflector *reflector;

	neighbour_init(&n, t);
	source = t->fx->source;
	source.fifo = n.fifo;
	source.name = "services";
	options.source = &source;
	reflector = reflector_new(&options);
	reflector_start(reflector, "", 0);
	server_answer(t->fx, 403, forbidden);
	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
	server_open(t->fx);
	applier_run(t->fx->applier);
	assert_string_equal(published(t->fx), "[10] a/x@5 ");
	for (unsigned round = 0; round < 3; round++) {
		virtual_clock_advance(&t->fx->clock, 10000);
		assert_string_equal(diary(t->fx), round == 0 ? "LIST rv=0 limit=500; LIST rv=0 limit=500; "
							       "WATCH rv=10; LIST rv=0 limit=500; "
							     : "LIST rv=0 limit=500; ");
		server_answer(t->fx, 403, forbidden);
		reflector_get_status(reflector, &status);
		assert_int_equal(status.state, REFLECTOR_REFUSED);
		server_send(t->fx, EVENT("MODIFIED", pod("a/x", 11 + round)));
		applier_run(t->fx->applier);
		reflector_get_status(t->reflector, &status);
		assert_int_equal(status.state, REFLECTOR_WATCHING);
	}
	assert_string_equal(published(t->fx), "[13] a/x@13 ");
	virtual_clock_advance(&t->fx->clock, 20000);
	server_answer(t->fx, 200, pod_list("20", NULL, pod("a/service", 15), NULL));
	applier_run(t->fx->applier);
	assert_int_equal(store_resource(t->fx->store->store, n.id)->object_count, 1);
	reflector_free(reflector);
	applier_remove(t->fx->applier, n.fifo);
	delta_fifo_free(n.fifo);
}

/* ---- no space ---------------------------------------------------------------------------- */

/*
 * The arena runs full in the middle of a watch: what fitted is published, the RV stays before what did not,
 * the trouble has a name and a remedy. When deletes have made room everything goes on by itself, and nothing
 * was lost.
 */
S(a_full_arena_loses_nothing)
{
	char padding[8001], key[32];
	unsigned i, heard = 8, watches = 0;
	struct reflector_status status;

	padding[sizeof(padding) - 1] = '\0';
	begin(t);
	applier_run(t->fx->applier);
	/* Until the stream is given up for want of space, or the store's trouble shows. */
	for (i = 9; i < 1000 && server_has_request(t->fx) && applier_trouble(t->fx->applier)[0] == '\0';
	     i++) {
		for (size_t n = 0; n < sizeof(padding) - 1; n++)
			padding[n] = noise(i, n);
		server_send(t->fx,
			    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"p%03u\",\"namespace\":"
			    "\"a\",\"uid\":\"u%u\","
			    "\"resourceVersion\":\"%u\"},\"data\":\"%s\"}}\n",
			    i, i, i, padding);
		applier_run(t->fx->applier);
		virtual_clock_advance(&t->fx->clock, 1);
		heard = i;
	}
	assert_in_range(i, 300, 700);
	assert_true(published_resource(t)->object_count >= 290);
	reflector_get_status(t->reflector, &status);
	assert_true(applier_trouble(t->fx->applier)[0] != '\0' || strstr(status.last_error, "arena is full"));
	assert_true(published_resource(t)->object_count <= heard - 8);

	/*
	 * The server goes on from the RV it is asked for: deletes of the first thirty, then the one that did
	 * not fit.
	 */
	for (unsigned deleted = 0; deleted < 30;) {
		if (!server_has_request(t->fx)) {
			assert_in_range(watches++, 0, 20);
			virtual_clock_advance(&t->fx->clock, 31000);
			server_open(t->fx);
		}
		snprintf(key, sizeof(key), "a/p%03u", 9 + deleted++);
		server_send(t->fx, EVENT("DELETED", pod(key, 2000 + deleted)));
		applier_run(t->fx->applier);
	}
	/*
	 * Tombstones give way half at a time, each with a commit, and what they held is free after the
	 * next.
	 */
	for (unsigned tries = 0; tries < 10 && !delta_fifo_is_empty(t->fx->fifo); tries++) {
		virtual_clock_advance(&t->fx->clock, 31000);
		applier_run(t->fx->applier);
	}
	assert_string_equal(applier_trouble(t->fx->applier), "");
	assert_true(delta_fifo_is_empty(t->fx->fifo));
	assert_memory_equal(published_resource(t)->version, "2030", 4);
}

/* A list that does not fit changes nothing, says why, and is tried again. */
S(a_list_that_does_not_fit_changes_nothing)
{
	char *list = long_list("5000", 1, 1000, 8000), *small = long_list("6000", 1000, 1100, 8000);
	struct reflector_status status;

	reflector_start(t->reflector, "", 0);
	server_answer(t->fx, 200, list);
	applier_run(t->fx->applier);
	reflector_get_status(t->reflector, &status);
	assert_int_equal(status.state, REFLECTOR_BACKING_OFF);
	assert_non_null(strstr(status.last_error, "arena is full"));
	assert_int_equal(published_resource(t)->object_count, 0);
	virtual_clock_advance(&t->fx->clock, 2000);
	server_answer(t->fx, 200, small);
	applier_run(t->fx->applier);
	assert_int_equal(published_resource(t)->object_count, 100);
	free(list);
	free(small);
}

/*
 * What is distrusted stays, as LISTING at no RV, whatever still waits in the FIFO, until the next list is
 * applied; also when that has the very RV that was known.
 */
T(what_is_distrusted_waits_for_a_list)
{
	struct store *store = t->fx->store->store;
	const struct delta_item none[1] = { 0 };

	begin(t);
	server_send(t->fx, EVENT("ADDED", pod("a/x", 9)));
	applier_run(t->fx->applier);
	assert_string_equal(published(t->fx), "[9] a/x@9 ");
	server_send(t->fx, EVENT("ADDED", pod("a/y", 10)));
	applier_distrust(t->fx->applier, t->fx->fifo);
	applier_run(t->fx->applier);
	assert_string_equal(published(t->fx), "[-] a/x@9 a/y@10 ");
	assert_int_equal(store_resource(store, t->fx->store->pods)->version_length, 0);
	assert_int_equal(delta_fifo_replace(t->fx->fifo, none, 0), 0);
	delta_fifo_set_version(t->fx->fifo, "9", 1);
	applier_run(t->fx->applier);
	assert_string_equal(published(t->fx), "[9] ");
}
