/* SPDX-License-Identifier: Apache-2.0 */
/* informer-sim's store: RVs, ordered views of now and of the past, the ring of events and its floor. */
#include "tests/tools/serving/made_object.h"
#include "tools/informer-sim/rng.h"
#include "tools/informer-sim/object_store.h"

#define HISTORY 16

struct world {
	struct api_registry registry;
	const struct api_resource *pods, *maps;
	struct sim_store *store;
};

static int
setup(void **state)
{
	static struct world w;

	api_registry_init(&w.registry);
	w.pods = api_registry_find(&w.registry, "", "v1", "pods");
	w.maps = api_registry_find(&w.registry, "", "v1", "configmaps");
	w.store = sim_store_new(HISTORY, 0);
	*state = &w;
	return 0;
}

static void
end(struct world *w)
{
	sim_store_free(w->store);
	api_registry_done(&w->registry);
}

TEAR_DOWN(teardown, end)
#define TEST(name) TEST_CASE_OF(struct world *w, setup, teardown, name)

/* namespace/name with a label v */
static struct api_object *
make(const struct api_resource *resource, const char *namespace_, const char *name, unsigned v)
{
	_cleanup_(api_buf_done) struct api_buf text = {0};

	api_buf_printf(&text,
		       "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"labels\":{\"v\":\"%u\"}}}",
		       name, namespace_, v);
	return made_object(resource, text.data);
}

static uint64_t
create(struct world *w, const struct api_resource *resource, const char *name)
{
	_cleanup_(api_object_unrefp) struct api_object *object = make(resource, "ns", name, 0);

	assert_int_equal(sim_store_create(w->store, resource, object), 0);
	return object->rv;
}

static uint64_t
update(struct world *w, const struct api_resource *resource, const char *name, unsigned v)
{
	_cleanup_(api_object_unrefp) struct api_object *object = make(resource, "ns", name, v);
	_cleanup_(api_object_unrefp) struct api_object *old = sim_store_get(w->store, resource, object->key);

	assert_non_null(old);
	assert_int_equal(sim_store_update(w->store, resource, old, object), 0);
	return object->rv;
}

static uint64_t
delete(struct world *w, const struct api_resource *resource, const char *name)
{
	_cleanup_(api_object_unrefp) struct api_object *like = make(resource, "ns", name, 0);
	_cleanup_(api_object_unrefp) struct api_object *old = sim_store_get(w->store, resource, like->key);
	uint64_t rv;

	assert_int_equal(sim_store_delete(w->store, resource, old, &rv), 0);
	return rv;
}

/* "name=v ..." of a view in order; rv 0: now */
static void
assert_view(struct world *w, uint64_t rv, const char *expected)
{
	_cleanup_(api_buf_done) struct api_buf text = {0};
	struct api_object *object;
	struct sim_view view;

	assert_int_equal(sim_store_view(w->store, w->pods, rv, &view, NULL), 0);
	api_buf_puts(&text, "");
	while ((object = sim_view_next(&view)))
		api_buf_printf(&text, "%s%s=%s", text.len ? " " : "", api_object_name(object),
			       api_object_label(object, "v"));
	sim_view_done(&view);
	assert_string_equal(text.data, expected);
}

/* All resources share one counter of RVs, and an object's text contains its RV. */
TEST(one_counter_numbers_the_changes_of_all_resources)
{
	_cleanup_(api_object_unrefp) struct api_object *object = NULL;
	_cleanup_(api_buf_done) struct api_buf text = {0};

	assert_int_equal(create(w, w->pods, "a"), 1);
	assert_int_equal(create(w, w->maps, "a"), 2);
	assert_int_equal(update(w, w->pods, "a", 1), 3);
	assert_int_equal(delete(w, w->maps, "a"), 4);
	assert_int_equal(sim_store_rv(w->store), 4);
	object = sim_store_get(w->store, w->pods, "ns/a");
	api_object_print(w->pods, object, 0, &text);
	assert_string_equal(
		text.data,
		"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\","
		"\"resourceVersion\":\"3\",\"labels\":{\"v\":\"1\"}},\"spec\":{\"containers\":null},"
		"\"status\":{}}");
	api_buf_reset(&text);
	api_object_print(w->pods, object, 12345, &text);
	assert_non_null(strstr(text.data, "\"resourceVersion\":\"12345\",\"labels\""));
}

/* A change of an object that was changed or deleted meanwhile is refused and changes nothing. */
TEST(a_change_of_an_outdated_object_is_refused)
{
	_cleanup_(api_object_unrefp) struct api_object *old = NULL;
	_cleanup_(api_object_unrefp) struct api_object *object = make(w->pods, "ns", "a", 9);
	uint64_t rv;

	create(w, w->pods, "a");
	assert_int_equal(sim_store_create(w->store, w->pods, object), -EEXIST);
	old = sim_store_get(w->store, w->pods, "ns/a");
	update(w, w->pods, "a", 1);
	assert_int_equal(sim_store_update(w->store, w->pods, old, object), -ESTALE);
	assert_int_equal(sim_store_delete(w->store, w->pods, old, &rv), -ESTALE);
	delete(w, w->pods, "a");
	assert_int_equal(sim_store_update(w->store, w->pods, old, object), -ESTALE);
	assert_int_equal(sim_store_rv(w->store), 3);
}

/* A view of a past below the floor is refused. random_changes_match_a_plain_model tests views above it. */
TEST(a_view_below_the_floor_is_refused)
{
	struct sim_view view;

	create(w, w->pods, "a");
	update(w, w->pods, "a", 1);
	assert_view(w, 1, "a=0");
	sim_store_compact(w->store);
	assert_int_equal(sim_store_view(w->store, w->pods, 1, &view, NULL), -ESTALE);
	assert_view(w, 2, "a=1");
}

TEST(a_view_does_not_change)
{
	struct sim_view view;
	char name[16];
	unsigned n = 0;

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "p%03d", i);
		create(w, w->pods, name);
	}
	assert_int_equal(sim_store_view(w->store, w->pods, 0, &view, NULL), 0);
	for (int i = 0; i < 1000; i += 3) {
		snprintf(name, sizeof(name), "p%03d", i);
		if (i % 2)
			delete(w, w->pods, name);
		else
			update(w, w->pods, name, 1);
		snprintf(name, sizeof(name), "q%03d", i);
		create(w, w->pods, name);
	}
	for (const struct api_object *object; (object = sim_view_next(&view)); n++) {
		snprintf(name, sizeof(name), "p%03u", n);
		assert_string_equal(api_object_name(object), name);
		assert_string_equal(api_object_label(object, "v"), "0");
	}
	assert_int_equal(n, 1000);
	sim_view_done(&view);
}

/* Each resource keeps its own last events: a busy resource does not push out those of a quiet one. */
TEST(each_resource_has_a_history_of_its_own)
{
	uint64_t position, floor, rv;
	struct api_event event;

	create(w, w->maps, "quiet");
	for (unsigned i = 0; i < 3 * HISTORY; i++)
		i ? update(w, w->pods, "busy", i) : create(w, w->pods, "busy");
	assert_int_equal(sim_store_position(w->store, w->maps, 0, &position, &floor), 0);
	assert_int_equal(sim_store_events(w->store, w->maps, &position, &event, 1, &rv), 1);
	assert_int_equal(event.rv, 1);
	api_events_done(&event, 1);

	/* of the busy one the last HISTORY events are there: RVs 34 to 49 */
	assert_int_equal(sim_store_position(w->store, w->pods, 32, &position, &floor), -ESTALE);
	assert_int_equal(floor, 33);
	assert_int_equal(sim_store_position(w->store, w->pods, 33, &position, &floor), 0);
	assert_int_equal(sim_store_events(w->store, w->pods, &position, &event, 1, &rv), 1);
	assert_int_equal(event.rv, 34);
	assert_int_equal(event.change, API_MODIFIED);
	assert_int_equal(event.prev->rv, 33);
	api_events_done(&event, 1);
}

TEST(a_cursor_behind_the_ring_is_told)
{
	uint64_t position, floor, rv;
	struct api_event event;

	create(w, w->pods, "a");
	assert_int_equal(sim_store_position(w->store, w->pods, 1, &position, &floor), 0);
	for (unsigned i = 0; i < HISTORY; i++)
		update(w, w->pods, "a", i);
	assert_false(sim_store_lost(w->store, w->pods, position));
	update(w, w->pods, "a", 99);
	assert_true(sim_store_lost(w->store, w->pods, position));
	assert_int_equal(sim_store_events(w->store, w->pods, &position, &event, 1, &rv), -ESTALE);
}

/* After each of 20,000 random changes, views of now and of random kept RVs equal a plain array. */
TEST(random_changes_match_a_plain_model)
{
	enum { KEYS = 600, STEPS = 20000 };
	struct sim_rng rng = {42};
	static int past[HISTORY + 1][KEYS]; /* by RV modulo; -1: absent */
	int now[KEYS];
	char name[8];

	for (int i = 0; i < KEYS; i++)
		now[i] = -1;
	memcpy(past[0], now, sizeof(now));
	for (uint64_t step = 1; step <= STEPS; step++) {
		unsigned k = sim_rng_below(&rng, KEYS), v = (unsigned)step;

		snprintf(name, sizeof(name), "k%03u", k);
		if (now[k] < 0) {
			create(w, w->pods, name);
			now[k] = 0;
		} else if (sim_rng_below(&rng, 3) == 0) {
			delete(w, w->pods, name);
			now[k] = -1;
		} else {
			update(w, w->pods, name, v);
			now[k] = (int)v;
		}
		memcpy(past[step % (HISTORY + 1)], now, sizeof(now));
		if (step % 50 == 0) {
			uint64_t rv = step - sim_rng_below(&rng, step < HISTORY ? 1 : HISTORY);
			const int *model = past[rv % (HISTORY + 1)];
			struct sim_view view;
			const struct api_object *object;

			assert_int_equal(sim_store_view(w->store, w->pods, rv, &view, NULL), 0);
			for (unsigned i = 0; i < KEYS; i++) {
				if (model[i] < 0)
					continue;
				object = sim_view_next(&view);
				assert_non_null(object);
				snprintf(name, sizeof(name), "k%03u", i);
				assert_string_equal(api_object_name(object), name);
				assert_int_equal(atoi(api_object_label(object, "v")), model[i]);
			}
			assert_null(sim_view_next(&view));
			sim_view_done(&view);
		}
	}
}

/* A restored store drops later changes, counts on from the restored RV, and ends every watch. */
TEST(a_restored_store_has_its_old_state)
{
	struct api_event events[4];
	uint64_t position, rv, floor;
	struct api_object *a;

	create(w, w->pods, "a");
	create(w, w->pods, "b");
	assert_int_equal(sim_store_position(w->store, w->pods, 2, &position, &floor), 0);
	update(w, w->pods, "a", 1);
	delete(w, w->pods, "b");
	create(w, w->maps, "c");
	assert_int_equal(sim_store_restore(w->store, 6), -ESTALE);
	assert_int_equal(sim_store_restore(w->store, 2), 0);
	assert_int_equal(sim_store_rv(w->store), 2);
	assert_int_equal(sim_store_count(w->store, w->pods), 2);
	assert_int_equal(sim_store_count(w->store, w->maps), 0);
	a = sim_store_get(w->store, w->pods, "ns/a");
	assert_int_equal(a->rv, 1);
	assert_string_equal(api_object_label(a, "v"), "0");
	api_object_unref(a);
	assert_int_equal(sim_store_events(w->store, w->pods, &position, events, 4, &rv), -ESTALE);
	assert_int_equal(sim_store_position(w->store, w->pods, 1, &position, &floor), -ESTALE);
	assert_int_equal(sim_store_position(w->store, w->pods, 2, &position, &floor), 0);
	assert_int_equal(create(w, w->pods, "d"), 3);
	assert_int_equal(sim_store_events(w->store, w->pods, &position, events, 4, &rv), 1);
	api_events_done(events, 1);
}
