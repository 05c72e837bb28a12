/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a commit in order, with the states before and after, and what else the root has. */
#include "shm-layout/object.h"
#include "shm-layout/path.h"
#include "shm-layout/queue.h"
#include "tests/room.h"
#include "tests/support/generations.h"
#include "tests/support/steps.h"
#include "tests/support/store_fixture.h"

/* Each commit is a line: base, then "seq kind old>new" with each object's resourceVersion. */
struct diary {
	struct store_fixture *fx;
	char text[4096];
	size_t length;
};

static void __attribute__((format(printf, 2, 3)))
note(struct diary *d, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(d->text + d->length, sizeof(d->text) - d->length, format, args);
	va_end(args);
	assert_true(n >= 0 && (size_t)n < sizeof(d->text) - d->length);
	d->length += (size_t)n;
}

static void
note_version(struct diary *d, uint32_t ref)
{
	const struct object *o = ref ? object_at(&d->fx->arena->view, ref) : NULL;

	if (o)
		note(d, "%.*s", o->version_length, object_version(o));
}

static void
write_down(void *context, const struct store_event *events, size_t count, uint64_t base)
{
	static const char kinds[] = "?AUDSRE";
	struct diary *d = context;
	const struct root *root = store_fixture_root(d->fx);

	assert_int_equal(root->epoch, store_epoch(d->fx->store)); /* the root is published already */
	note(d, "%llu:", (unsigned long long)base);
	for (size_t i = 0; i < count; i++) {
		const struct store_event *e = &events[i];

		assert_int_equal(e->resource, d->fx->pods);
		assert_true(i == 0 || events[i - 1].seq <= e->seq);
		assert_true(e->seq >= base && e->seq <= root->seq);
		note(d, " %llu%c", (unsigned long long)e->seq, kinds[e->kind]);
		if (e->kind == QUEUE_STATUS) {
			assert_int_equal(block_type(arena_block(d->fx->arena, e->new_ref)), BLOCK_VALUE);
			continue;
		}
		note_version(d, e->old_ref);
		note(d, ">");
		note_version(d, e->new_ref);
	}
	note(d, "\n");
}

static int
set_up(void **state)
{
	struct diary *d = calloc(1, sizeof(*d));

	d->fx = store_fixture_new(0);
	store_on_events(d->fx->store, write_down, d);
	*state = d;
	return 0;
}

static void
end_world(struct diary *d)
{
	store_fixture_free(d->fx);
	free(d);
}
TEAR_DOWN(tear_down, end_world)

/* "put a u1 10": a's state of UID u1, version 10. "delete a", "version 12", "listing", "synced", "commit". */
static void
act(void *context, const char *step)
{
	struct diary *d = context;
	struct store *s = d->fx->store;
	char verb[16] = "", name[16] = "", uid[16] = "", version[16] = "";

	sscanf(step, "%15s %15s %15s %15s", verb, name, uid, version);
	if (strcmp(verb, "put") == 0)
		assert_int_equal(store_fixture_putf(d->fx,
						    "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\","
						    "\"uid\":\"%s\",\"resourceVersion\":\"%s\"}}",
						    name, uid, version),
				 0);
	else if (strcmp(verb, "delete") == 0)
		assert_int_equal(store_fixture_delete(d->fx, "n", name), 0);
	else if (strcmp(verb, "version") == 0)
		assert_int_equal(store_set_version(s, d->fx->pods, name, strlen(name)), 0);
	else if (strcmp(verb, "listing") == 0)
		store_set_state(s, d->fx->pods, RESOURCE_LISTING);
	else if (strcmp(verb, "synced") == 0)
		store_set_state(s, d->fx->pods, RESOURCE_SYNCED);
	else if (strcmp(verb, "commit") == 0)
		assert_int_equal(store_commit(s), 0);
	else
		fail_msg("what is %s?", verb);
}

/* After these steps the diary is `told`. */
static void
assert_told(struct diary *d, const char *steps, const char *text)
{
	each_step(d, steps, act);
	assert_string_equal(d->text, text);
}

#define TEST(name) TEST_CASE_OF(struct diary *d, set_up, tear_down, name)
#define TOLD(name, steps, text)                                                                              \
	TEST(name)                                                                                           \
	{                                                                                                    \
		assert_told(d, steps, text);                                                                 \
	}                                                                                                    \
	struct diary

/* Every change has an event with its seq and both states. base is the seq before the commit. */
TOLD(changes_come_in_order_with_old_and_new,
     "put a u1 10, put b u2 11, commit, put a u1 12, put a u1 13, delete b, commit",
     "0: 1A>10 2A>11\n2: 3U10>12 4U12>13 5D11>11\n");

/* An object that came and went between two commits has an add and a delete. */
TOLD(an_object_between_commits_is_an_add_and_a_delete, "put a u1 10, delete a, put a u2 11, commit",
     "0: 1A>10 2D10>10 3A>11\n");

/* Another UID of a name is a delete of the old object, then an add of the new, each with a seq. */
TOLD(another_uid_is_a_delete_and_an_add, "put a u1 10, commit, put a u2 11, commit",
     "0: 1A>10\n1: 2D10> 3A>11\n");

/* A repeated resourceVersion, and the delete of an unknown object, are no events. */
TOLD(unchanged_states_are_no_events, "put a u1 10, commit, put a u1 10, delete z, commit", "0: 1A>10\n");

/* SYNCED comes with the commit that shows it, behind its changes, and again after LISTING. */
TOLD(synced_comes_with_its_commit,
     "put a u1 10, commit, synced, put b u2 11, commit, version 12, commit, listing, commit, synced, commit",
     "0: 1A>10\n1: 2A>11 2S>\n2:\n2:\n2: 2S>\n");

/* A failed commit has no events; the next commit has all of them, once. */
TEST(a_failed_commit_keeps_its_events)
{
	assert_told(d, "put a u1 10", "");
	arena_fail_after(d->fx->arena, 0);
	assert_int_equal(store_commit(d->fx->store), -ENOSPC);
	arena_fail_after(d->fx->arena, UINT64_MAX);
	assert_told(d, "put a u1 11, commit", "0: 1A>10 2U10>11\n");
}

/* A status is published once, and stays in the root until the next. */
TEST(a_status_is_an_event_and_in_the_root)
{
	static const char bad[] = "{\"recovered\":false,\"code\":503,\"reason\":\"ServiceUnavailable\"}";
	const struct resource *res;
	const char *reason;
	size_t length;

	assert_told(d, "put a u1 10, commit", "0: 1A>10\n");
	assert_int_equal(store_set_status(d->fx->store, d->fx->pods, bad), 0);
	assert_told(d, "commit", "0: 1A>10\n1: 1E\n");
	res = store_fixture_published(d->fx);
	assert_true(value_string(value_field(value_of_block(&d->fx->arena->view, res->status), "reason", 6,
					     shape_fingerprint("reason", 6)),
				 &reason, &length));
	assert_memory_equal(reason, "ServiceUnavailable", length);
	assert_int_equal(store_set_status(d->fx->store, d->fx->pods, bad), 0);
	assert_int_equal(store_set_status(d->fx->store, d->fx->pods, "no JSON"), -EINVAL);
	assert_told(d, "commit", "0: 1A>10\n1: 1E\n");
	assert_int_equal(store_set_status(d->fx->store, d->fx->pods, "{\"recovered\":true}"), 0);
	assert_told(d, "commit", "0: 1A>10\n1: 1E\n1: 1E\n");
	assert_int_equal(store_fixture_verify(d->fx), 0);
}

/* Named consumers are in the root of the next commit. Unchanged consumers need no commit. */
TEST(consumers_are_shown_with_the_next_commit)
{
	struct consumer list[2] = {{.seq = 7, .uid = 1000, .name_length = 3, .name = "log"},
				   {.seq = 9, .name_length = 1, .name = "x"}};
	struct store *s = d->fx->store;
	uint64_t epoch;
	size_t count;

	assert_null(store_consumers(s, &count));
	assert_int_equal(count, 0);
	store_lineage(s, list[0].lineage);
	assert_memory_equal(list[0].lineage, store_fixture_root(d->fx)->lineage, 16);
	assert_int_equal(store_set_consumers(s, list, 2), 0);
	store_fixture_commit(d->fx);
	assert_int_not_equal(store_fixture_root(d->fx)->consumers, 0);
	assert_memory_equal(store_consumers(s, &count), list, sizeof(list));
	assert_int_equal(count, 2);
	epoch = store_epoch(s);
	assert_int_equal(store_set_consumers(s, list, 2), 0);
	store_fixture_commit(d->fx);
	assert_int_equal(store_epoch(s), epoch);
	assert_int_equal(store_set_consumers(s, NULL, 0), 0);
	store_fixture_commit(d->fx);
	assert_int_equal(store_fixture_root(d->fx)->consumers, 0);
}

/* A resource whose content comes from another source keeps its position: RESET, then the new list. */
TEST(another_fingerprint_is_a_reset_in_place)
{
	static const uint8_t other[32] = "other";
	unsigned id;

	assert_told(d, "put a u1 10, synced, commit", "0: 1A>10 1S>\n");
	store_unclaim(d->fx->store, d->fx->pods);
	assert_int_equal(store_add_resource(d->fx->store, pods_descriptor, other, &id), 0);
	assert_int_equal(id, d->fx->pods);
	assert_told(d, "commit, synced, commit", "0: 1A>10 1S>\n1: 2R>\n2: 2S>\n");
	assert_int_equal(store_fixture_published(d->fx)->tombstone_floor, 2);
}

/* ---- the next writer, with other resources ---- */

/* A store of the next generation, whose resources are not claimed yet. */
struct heir {
	struct generations generations;
	struct store_fixture fx;
	struct diary diary;
};

static void
heir_end(struct heir *h)
{
	store_free(h->fx.store);
	arena_close(h->fx.arena);
	free(h->fx.arena);
}

static void
heir_begin(struct heir *h)
{
	struct intern *intern;

	h->fx.arena = generations_next(&h->generations, &intern);
	assert_int_equal(store_new(h->fx.arena, intern, NULL, &h->fx.store), 0);
	store_on_events(h->fx.store, write_down, &h->diary);
}

static int
heirs_set_up(void **state)
{
	struct heir *h = calloc(1, sizeof(*h));

	generations_begin(&h->generations);
	h->diary.fx = &h->fx;
	heir_begin(h);
	*state = h;
	return 0;
}

static void
end_heirs(struct heir *h)
{
	heir_end(h);
	generations_end(&h->generations);
	free(h);
}
TEAR_DOWN(heirs_tear_down, end_heirs)

static const char in_a[] = "{\"resource\":\"pods\",\"namespace\":\"a\",\"indexes\":[]}";
static const char in_b[] = "{\"resource\":\"pods\",\"namespace\":\"b\",\"indexes\":[]}";
static const char nodes[] = "{\"resource\":\"nodes\",\"indexes\":[]}";
static const char zones[] = "{\"resource\":\"zones\",\"indexes\":[]}";
static const uint8_t one[32] = "one", other[32] = "other";

/* Claim a resource, which gets this position. already: its content is there. */
static void
ask(struct heir *h, const char *descriptor, const uint8_t fingerprint[32], unsigned place, int already)
{
	unsigned id;

	assert_int_equal(store_add_resource(h->fx.store, descriptor, fingerprint, &id), already);
	assert_int_equal(id, place);
}

#define HEIR(name) TEST_CASE_OF(struct heir *h, heirs_set_up, heirs_tear_down, name)

/* Of two entries of a resource only the changed one is reset, in either order of claims. */
HEIR(a_reset_is_for_one_namespace)
{
	ask(h, in_a, one, 0, 0);
	ask(h, in_b, one, 1, 0);
	store_set_state(h->fx.store, 0, RESOURCE_SYNCED);
	store_set_state(h->fx.store, 1, RESOURCE_SYNCED);
	store_on_events(h->fx.store, NULL, NULL);
	assert_int_equal(store_commit(h->fx.store), 0);
	heir_end(h);

	heir_begin(h);
	ask(h, in_b, other, 1, 0);
	ask(h, in_a, one, 0, 1);
	assert_int_equal(store_resource(h->fx.store, 0)->state, RESOURCE_SYNCED);
	assert_int_equal(store_resource(h->fx.store, 1)->state, RESOURCE_LISTING);
}

/* If one of two entries of a resource is dropped, the other is reset: readers see both as one resource. */
HEIR(dropping_an_entry_resets_the_others_of_its_name)
{
	ask(h, in_a, one, 0, 0);
	ask(h, in_b, one, 1, 0);
	ask(h, nodes, one, 2, 0);
	assert_told(&h->diary, "commit", "0:\n");
	heir_end(h);

	heir_begin(h);
	store_drop_unwanted(h->fx.store, (const bool[]){false, true, true});
	ask(h, in_b, one, 0, 1);
	ask(h, nodes, one, 1, 1);
	assert_told(&h->diary, "commit", "0:\n0:\n");
	assert_int_equal(store_resource(h->fx.store, 0)->tombstone_floor, 1);
	assert_int_equal(store_resource(h->fx.store, 1)->tombstone_floor, 0);
}

/* Put an object of this uid, at an RV of its own. */
static void
fill(struct store_fixture *fx, unsigned id, const char *uid)
{
	fx->pods = id;
	assert_int_equal(store_fixture_putf(fx, "{\"metadata\":{\"name\":\"x\",\"uid\":\"%s\"}}", uid), 0);
	assert_int_equal(store_set_version(fx->store, id, uid, strlen(uid)), 0);
	atomic_store(&fx->arena->header->contact_boot_ns[id], (uint64_t)uid[0]);
}

static void
assert_filled(const struct heir *h, unsigned id, const char *uid)
{
	const struct resource *r = store_resource(h->fx.store, id);
	const struct object *o = object_at(&h->fx.arena->view, store_by_ordinal(h->fx.store, id, 0));

	assert_int_equal(r->object_count, 1);
	assert_int_equal(r->version_length, strlen(uid));
	assert_memory_equal(r->version, uid, strlen(uid));
	assert_int_equal(o->uid_length, strlen(uid));
	assert_memory_equal(object_uid(o), uid, strlen(uid));
	assert_int_equal(atomic_load(&h->fx.arena->header->contact_boot_ns[id]), uid[0]);
}

/* The first of three resources is dropped. The others keep their content, a position lower. */
HEIR(resources_behind_a_dropped_one_keep_their_content)
{
	struct store_fixture *fx;
	unsigned id;

	heir_end(h);
	fx = generations_store(&h->generations, NULL);
	assert_int_equal(store_add_resource(fx->store, nodes, one, &id), 0);
	assert_int_equal(store_add_resource(fx->store, zones, one, &id), 0);
	fill(fx, 0, "p");
	fill(fx, 1, "nodes");
	fill(fx, 2, "zo");
	store_fixture_commit(fx);
	store_fixture_free(fx);

	for (unsigned i = 0; i < 2; i++) {
		heir_begin(h);
		store_drop_unwanted(h->fx.store, (const bool[]){i > 0, true, true});
		ask(h, zones, one, 1, 1);
		ask(h, nodes, one, 0, 1);
		assert_int_equal(store_resource_count(h->fx.store), 2);
		assert_filled(h, 0, "nodes");
		assert_filled(h, 1, "zo");
		assert_int_equal(store_commit(h->fx.store), 0);
		assert_int_equal(store_fixture_verify(&h->fx), 0);
		if (i == 0)
			heir_end(h);
	}
}

/* Disowned content stays until the next writer, which drops it, and disowns none. */
HEIR(disowned_content_is_dropped_by_the_next_writer)
{
	const bool all[] = {true, true, true};

	ask(h, in_a, one, 0, 0);
	ask(h, pods_descriptor, one, 1, 0);
	ask(h, nodes, one, 2, 0);
	assert_false(store_disown_unclaimed(h->fx.store));
	assert_int_equal(store_commit(h->fx.store), 0);
	heir_end(h);

	/* one writer disowns the resource; the next writer has two */
	for (unsigned next = 0; next < 2; next++) {
		heir_begin(h);
		store_drop_unwanted(h->fx.store, all);
		ask(h, in_a, one, 0, 1);
		ask(h, nodes, one, 2 - next, 1);
		assert_int_equal(store_disown_unclaimed(h->fx.store), next == 0);
		assert_int_equal(store_resource_count(h->fx.store), 3 - next);
		assert_int_equal(store_commit(h->fx.store), 0);
		if (next == 0)
			heir_end(h);
	}
}
