/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a commit tells: the changes in order, with the states before and after; and what the root tells beside
 * objects.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/object.h"
#include "shm-layout/path.h"
#include "shm-layout/queue.h"
#include "tests/room.h"
#include "tests/support/generations.h"
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
	const char *uid, *version;
	size_t uid_length, version_length;

	if (!ref)
		return;
	store_object_identity(d->fx->store, ref, &uid, &uid_length, &version, &version_length);
	note(d, "%.*s", (int)version_length, version);
}

static void
write_down(void *context, const struct store_event *events, size_t count, uint64_t base)
{
	static const char kinds[] = "?AUDSRE";
	struct diary *d = context;
	const struct root *root = root_at(&d->fx->arena->view, atomic_load(&d->fx->arena->header->root));

	assert_int_equal(root->epoch, store_epoch(d->fx->store)); /* the root stands already */
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

static struct diary *
new_diary(void)
{
	struct diary *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->fx = store_fixture_new(0);
	store_on_events(d->fx->store, write_down, d);
	return d;
}

static void
end_diary(struct diary *d)
{
	store_fixture_free(d->fx);
	free(d);
}

static void
put(struct diary *d, const char *name, const char *uid, const char *version)
{
	assert_int_equal(store_fixture_putf(d->fx,
					    "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\",\"uid\":\"%"
					    "s\",\"resourceVersion\":\"%s\"}}",
					    name, uid, version),
			 0);
}

static void
commit(struct diary *d)
{
	assert_int_equal(store_commit(d->fx->store), 0);
}

/*
 * Every change is told once, in order of seq, with the state before and the state after; base is the seq that
 * readers had.
 */
TEST_CASE(changes_are_told_in_order_with_old_and_new)
{
	struct diary *d = new_diary();

	put(d, "a", "u1", "10");
	put(d, "b", "u2", "11");
	commit(d);
	put(d, "a", "u1", "12");
	put(d, "a", "u1", "13");
	assert_int_equal(store_fixture_delete(d->fx, "n", "b"), 0);
	commit(d);
	assert_string_equal(d->text, "0: 1A>10 2A>11\n2: 3U10>12 4U12>13 5D11>11\n");
	end_diary(d);
}

/* What came and went between two commits is told whole: an add and a delete. */
TEST_CASE(an_object_between_commits_is_an_add_and_a_delete)
{
	struct diary *d = new_diary();

	put(d, "a", "u1", "10");
	assert_int_equal(store_fixture_delete(d->fx, "n", "a"), 0);
	put(d, "a", "u2", "11");
	commit(d);
	assert_string_equal(d->text, "0: 1A>10 2D10>10 3A>11\n");
	end_diary(d);
}

/*
 * Another UID under a name is another object: the old one's delete, then the new one's add, each with a
 * seq.
 */
TEST_CASE(another_uid_is_a_delete_and_an_add)
{
	struct diary *d = new_diary();

	put(d, "a", "u1", "10");
	commit(d);
	put(d, "a", "u2", "11");
	commit(d);
	assert_string_equal(d->text, "0: 1A>10\n1: 2D10> 3A>11\n");
	end_diary(d);
}

/* The same resourceVersion again, and the delete of what is unknown, are no events. */
TEST_CASE(what_changes_nothing_is_not_told)
{
	struct diary *d = new_diary();

	put(d, "a", "u1", "10");
	commit(d);
	put(d, "a", "u1", "10");
	assert_int_equal(store_fixture_delete(d->fx, "n", "z"), 0);
	commit(d);
	assert_string_equal(d->text, "0: 1A>10\n");
	end_diary(d);
}

/*
 * SYNCED is told with the commit that shows it, behind its changes, and again after the resource was
 * LISTING.
 */
TEST_CASE(synced_is_told_when_it_is_shown)
{
	struct diary *d = new_diary();

	put(d, "a", "u1", "10");
	commit(d);
	store_set_state(d->fx->store, d->fx->pods, RESOURCE_SYNCED);
	put(d, "b", "u2", "11");
	commit(d);
	assert_int_equal(store_set_version(d->fx->store, d->fx->pods, "12", 2), 0);
	commit(d);
	store_set_state(d->fx->store, d->fx->pods, RESOURCE_LISTING);
	commit(d);
	store_set_state(d->fx->store, d->fx->pods, RESOURCE_SYNCED);
	commit(d);
	assert_string_equal(d->text, "0: 1A>10\n1: 2A>11 2S>\n2:\n2:\n2: 2S>\n");
	end_diary(d);
}

/* A status is told and stands in the root until the next one; the same again is nothing new. */
TEST_CASE(a_status_is_told_and_shown)
{
	static const char bad[] = "{\"recovered\":false,\"code\":503,\"reason\":\"ServiceUnavailable\"}";
	struct diary *d = new_diary();
	const struct root *root;
	const struct resource *res;
	const char *reason;
	size_t length;

	put(d, "a", "u1", "10");
	commit(d);
	assert_int_equal(store_set_status(d->fx->store, d->fx->pods, bad), 0);
	commit(d);
	root = root_at(&d->fx->arena->view, atomic_load(&d->fx->arena->header->root));
	res = root_resource(&d->fx->arena->view, root, d->fx->pods);
	assert_true(value_string(value_field(value_of_block(&d->fx->arena->view, res->status), "reason", 6,
					     shape_fingerprint("reason", 6)),
				 &reason, &length));
	assert_memory_equal(reason, "ServiceUnavailable", length);
	assert_int_equal(store_set_status(d->fx->store, d->fx->pods, bad), 0);
	assert_int_equal(store_set_status(d->fx->store, d->fx->pods, "no JSON"), -EINVAL);
	commit(d);
	assert_int_equal(store_set_status(d->fx->store, d->fx->pods, "{\"recovered\":true}"), 0);
	commit(d);
	assert_string_equal(d->text, "0: 1A>10\n1: 1E\n1: 1E\n");
	assert_int_equal(store_fixture_verify(d->fx), 0);
	end_diary(d);
}

/* A resource whose content comes from elsewhere now keeps its place: RESET, then what is listed anew. */
TEST_CASE(another_fingerprint_is_a_reset_in_place)
{
	static const uint8_t other[32] = "another server";
	struct generations generations;
	struct diary d = {.fx = NULL};
	struct store_fixture fx = {.arena = NULL};
	struct intern *intern;
	unsigned id;

	generations_begin(&generations);
	fx.arena = generations_next(&generations, &intern);
	d.fx = store_fixture_over(fx.arena, intern);
	d.fx->owns_arena = 1;
	store_on_events(d.fx->store, write_down, &d);
	put(&d, "a", "u1", "10");
	store_set_state(d.fx->store, d.fx->pods, RESOURCE_SYNCED);
	commit(&d);
	store_fixture_free(d.fx);

	fx.arena = generations_next(&generations, &intern);
	assert_int_equal(store_new(fx.arena, intern, NULL, &fx.store), 0);
	d.fx = &fx;
	store_on_events(fx.store, write_down, &d);
	assert_int_equal(store_add_resource(fx.store, pods_descriptor, other, &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(store_drop_unclaimed(fx.store), 0);
	assert_int_equal(store_resource_count(fx.store), 1);
	assert_int_equal(store_resource(fx.store, 0)->object_count, 0);
	assert_int_equal(store_resource(fx.store, 0)->state, RESOURCE_LISTING);
	assert_int_equal(store_resource(fx.store, 0)->tombstone_floor, 2);
	commit(&d);
	store_set_state(fx.store, 0, RESOURCE_SYNCED);
	commit(&d);
	assert_string_equal(d.text, "0: 1A>10 1S>\n1: 2R>\n2: 2S>\n");
	assert_int_equal(store_fixture_verify(&fx), 0);
	store_free(fx.store);
	arena_close(fx.arena);
	free(fx.arena);
	generations_end(&generations);
}

/*
 * Of two entries of one resource, in namespaces of their own, only that one is reset which changed, whatever
 * the order they are asked for in.
 */
TEST_CASE(a_reset_is_of_its_own_namespace)
{
	static const char in_a[] = "{\"resource\":\"pods\",\"namespace\":\"a\",\"indexes\":[]}";
	static const char in_b[] = "{\"resource\":\"pods\",\"namespace\":\"b\",\"indexes\":[]}";
	static const uint8_t one[32] = "one", other[32] = "other";
	struct generations generations;
	struct intern *intern;
	struct arena *arena;
	struct store *s;
	unsigned a, b;

	generations_begin(&generations);
	arena = generations_next(&generations, &intern);
	assert_int_equal(store_new(arena, intern, NULL, &s), 0);
	assert_int_equal(store_add_resource(s, in_a, one, &a), 0);
	assert_int_equal(store_add_resource(s, in_b, one, &b), 0);
	store_set_state(s, a, RESOURCE_SYNCED);
	store_set_state(s, b, RESOURCE_SYNCED);
	assert_int_equal(store_commit(s), 0);
	store_free(s);
	arena_close(arena);
	free(arena);

	arena = generations_next(&generations, &intern);
	assert_int_equal(store_new(arena, intern, NULL, &s), 0);
	assert_int_equal(store_add_resource(s, in_b, other, &b), 0);
	assert_int_equal(store_add_resource(s, in_a, one, &a), 1);
	assert_int_equal(a, 0);
	assert_int_equal(b, 1);
	assert_int_equal(store_resource(s, a)->state, RESOURCE_SYNCED);
	assert_int_equal(store_resource(s, b)->state, RESOURCE_LISTING);
	store_free(s);
	arena_close(arena);
	free(arena);
	generations_end(&generations);
}

/*
 * Of two entries of one resource one is dropped: readers that know both as one are told to look anew, and who
 * comes later sees it too.
 */
TEST_CASE(dropping_an_entry_resets_the_others_of_its_name)
{
	static const char in_a[] = "{\"resource\":\"pods\",\"namespace\":\"a\",\"indexes\":[]}";
	static const char in_b[] = "{\"resource\":\"pods\",\"namespace\":\"b\",\"indexes\":[]}";
	static const char nodes[] = "{\"resource\":\"nodes\",\"indexes\":[]}";
	static const uint8_t one[32] = "one";
	struct generations generations;
	struct store_fixture fx = {0};
	struct diary d = {.fx = &fx};
	struct intern *intern;
	struct arena *arena;
	unsigned a, b, n;

	generations_begin(&generations);
	arena = generations_next(&generations, &intern);
	assert_int_equal(store_new(arena, intern, NULL, &fx.store), 0);
	assert_int_equal(store_add_resource(fx.store, in_a, one, &a), 0);
	assert_int_equal(store_add_resource(fx.store, in_b, one, &b), 0);
	assert_int_equal(store_add_resource(fx.store, nodes, one, &n), 0);
	assert_int_equal(store_commit(fx.store), 0);
	store_free(fx.store);
	arena_close(arena);
	free(arena);

	arena = generations_next(&generations, &intern);
	assert_int_equal(store_new(arena, intern, NULL, &fx.store), 0);
	fx.arena = arena;
	store_on_events(fx.store, write_down, &d);
	assert_int_equal(store_add_resource(fx.store, in_b, one, &b), 1);
	assert_int_equal(store_add_resource(fx.store, nodes, one, &n), 1);
	assert_int_equal(store_drop_unclaimed(fx.store), 0);
	assert_int_equal(store_commit(fx.store), 0);
	assert_string_equal(d.text, "0: 1R>\n");
	assert_int_equal(store_resource(fx.store, 0)->tombstone_floor, 1);
	assert_int_equal(store_resource(fx.store, 1)->tombstone_floor, 0);
	store_free(fx.store);
	arena_close(arena);
	free(arena);
	generations_end(&generations);
}

/* Named consumers stand in the root with the next commit; the same again is nothing new. */
TEST_CASE(consumers_are_shown_with_the_next_commit)
{
	struct diary *d = new_diary();
	struct consumer list[2] = {{.seq = 7, .uid = 1000, .name_length = 3, .name = "log"},
				   {.seq = 9, .name_length = 1, .name = "x"}};
	const struct consumer *shown;
	const struct root *root;
	uint64_t epoch;
	size_t count;

	assert_null(store_consumers(d->fx->store, &count));
	assert_int_equal(count, 0);
	store_lineage(d->fx->store, list[0].lineage);
	assert_int_equal(store_set_consumers(d->fx->store, list, 2), 0);
	commit(d);
	root = root_at(&d->fx->arena->view, atomic_load(&d->fx->arena->header->root));
	assert_memory_equal(list[0].lineage, root->lineage, 16);
	assert_int_not_equal(root->consumers, 0);
	assert_int_equal(store_fixture_verify(d->fx), 0);
	shown = store_consumers(d->fx->store, &count);
	assert_int_equal(count, 2);
	assert_memory_equal(shown, list, sizeof(list));
	epoch = store_epoch(d->fx->store);
	assert_int_equal(store_set_consumers(d->fx->store, list, 2), 0);
	commit(d);
	assert_int_equal(store_epoch(d->fx->store), epoch);
	assert_int_equal(store_set_consumers(d->fx->store, NULL, 0), 0);
	commit(d);
	root = root_at(&d->fx->arena->view, atomic_load(&d->fx->arena->header->root));
	assert_int_equal(root->consumers, 0);
	end_diary(d);
}

/* Consumers, status, lineage and seq are there when the arena is taken over. */
TEST_CASE(adoption_keeps_consumers_status_and_seq)
{
	const struct consumer list[1] = {{.seq = 7, .uid = 1000, .name_length = 3, .name = "log"}};
	struct generations generations;
	struct store_fixture *fx;
	struct intern *intern;
	uint8_t before[16], after[16];
	struct arena *arena;
	size_t count;

	generations_begin(&generations);
	for (unsigned i = 0; i < 3; i++) {
		arena = generations_next(&generations, &intern);
		fx = store_fixture_over(arena, intern);
		fx->owns_arena = 1;
		store_lineage(fx->store, after);
		if (i == 0) {
			memcpy(before, after, sizeof(before));
			assert_int_equal(store_set_consumers(fx->store, list, 1), 0);
			assert_int_equal(store_set_status(fx->store, fx->pods, "{\"recovered\":false}"), 0);
			assert_int_equal(
				store_fixture_put(fx, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}}"),
				0);
			assert_int_equal(store_commit(fx->store), 0);
		}
		assert_memory_equal(before, after, sizeof(before));
		assert_int_equal(store_seq(fx->store), 1);
		assert_memory_equal(store_consumers(fx->store, &count), list, sizeof(list));
		assert_int_equal(count, 1);
		assert_int_not_equal(store_resource(fx->store, fx->pods)->status, 0);
		assert_int_equal(store_fixture_verify(fx), 0);
		store_fixture_free(fx);
	}
	generations_end(&generations);
}

/* A commit that fails tells nothing; the next one tells all, once. */
TEST_CASE(a_failed_commit_keeps_its_events)
{
	struct diary *d = new_diary();

	put(d, "a", "u1", "10");
	arena_fail_after(d->fx->arena, 0);
	assert_int_equal(store_commit(d->fx->store), -ENOSPC);
	arena_fail_after(d->fx->arena, UINT64_MAX);
	assert_string_equal(d->text, "");
	put(d, "a", "u1", "11");
	commit(d);
	assert_string_equal(d->text, "0: 1A>10 2U10>11\n");
	end_diary(d);
}
