/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots: what they show, how many there may be, when they end early. */
#include "reader-lib/attach/mapping.h"
#include "tests/room.h"
#include "tests/support/reader_world.h"
#include "writer/arena/arena_pages.h"
#include "writer/decode/decoder_schema.h"

#define PINS 63

SET_UP(set_up, reader_world_empty("a"))

static int
has(struct reader_world *w, const struct informer_snapshot *snap, const char *name)
{
	struct informer_object o;

	return informer_get_z(snap, w->pods, "default", name, &o);
}

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

/* A handle has 63 pins: the 64th snapshot is BUSY until another one ends. */
TEST(the_sixty_fourth_snapshot_is_busy)
{
	struct informer_snapshot snaps[PINS + 1];
	struct informer_status status = {.size = sizeof(status)};

	for (int i = 0; i < PINS; i++)
		assert_int_equal(informer_begin(w->inf, &snaps[i]), 0);
	assert_int_equal(informer_begin(w->inf, &snaps[PINS]), INFORMER_E_BUSY);
	assert_int_equal(informer_status(w->inf, &status), 0);
	assert_int_equal(status.pins, PINS);
	informer_end(&snaps[17]);
	assert_int_equal(informer_begin(w->inf, &snaps[PINS]), 0);
	for (int i = 0; i <= PINS; i++)
		informer_end(&snaps[i]);
	assert_int_equal(informer_status(w->inf, &status), 0);
	assert_int_equal(status.pins, 0);
}

/* A snapshot shows one version while it is open, whatever is committed meanwhile. */
TEST(a_snapshot_shows_one_version)
{
	struct informer_snapshot old, new;
	struct informer_moment then, now;

	assert_int_equal(informer_begin(w->inf, &old), 0);
	for (int i = 0; i < 200; i++) {
		char name[32];

		snprintf(name, sizeof(name), "b%d", i);
		broker_fixture_pod(w->fx, name);
	}
	assert_int_equal(has(w, &old, "a"), 0);
	assert_int_equal(has(w, &old, "b0"), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_begin(w->inf, &new), 0);
	assert_int_equal(has(w, &new, "b199"), 0);
	assert_int_equal(informer_snapshot_moment(&old, &then), 0);
	assert_int_equal(informer_snapshot_moment(&new, &now), 0);
	assert_true(now.epoch >= then.epoch + 200);
	assert_true(now.seq >= then.seq + 200);
	assert_int_equal(now.generation, then.generation);
	informer_end(&old);
	informer_end(&new);
}

/* A snapshot that is not open is refused; ending it again does nothing. */
TEST(a_snapshot_that_is_not_open_is_refused)
{
	struct informer_snapshot snap = {0};
	struct informer_moment moment;
	struct informer_iter it;

	informer_end(&snap);
	informer_end(NULL);
	assert_int_equal(has(w, &snap, "a"), -EINVAL);
	assert_int_equal(informer_snapshot_moment(&snap, &moment), -EINVAL);
	assert_int_equal(informer_list(&snap, w->pods, &it), -EINVAL);
	assert_int_equal(informer_resource_count(&snap), 0);
	assert_int_equal(informer_begin(w->inf, &snap), 0);
	informer_end(&snap);
	assert_int_equal(has(w, &snap, "a"), -EINVAL);
}

static void
take_back(struct broker_fixture *fx, void *context)
{
	struct arena *arena = fx->old[0]->arena;

	(void)context;
	/* the old writer lets go of its references before the pages are removed */
	decoder_free(fx->old[0]->decoder);
	decoder_schema_free(fx->old[0]->schema);
	fx->old[0]->decoder = NULL;
	fx->old[0]->schema = NULL;
	arena_set_state(arena, HEADER_REVOKED);
	assert_int_equal(madvise((uint8_t *)arena->header + HEADER_BYTES,
				 arena->view.committed - HEADER_BYTES, MADV_REMOVE),
			 0);
}

/* When the arena is revoked a snapshot's calls say EXPIRED; a new snapshot shows the next generation. */
TEST(a_revoked_snapshot_expires)
{
	struct informer_snapshot old, new;
	struct informer_moment moment;
	struct informer_object o;
	struct informer_value v;
	struct informer_iter it;
	const volatile uint8_t *arena = (const uint8_t *)atomic_load(&w->inf->current)->header;
	uint64_t bytes = w->fx->store->arena->view.committed, taken;
	const char *data;
	size_t length;

	assert_int_equal(informer_begin(w->inf, &old), 0);
	assert_int_equal(informer_get_z(&old, w->pods, "default", "a", &o), 0);
	assert_int_equal(informer_object_value(&o, &v), 0);
	assert_int_equal(informer_list(&old, w->pods, &it), 0);
	broker_fixture_replace(w->fx, true);
	broker_fixture_pod(w->fx, "b");
	broker_fixture_do(w->fx, take_back, NULL);
	assert_int_equal(has(w, &old, "a"), INFORMER_E_EXPIRED);
	/* reading it from now on takes no memory */
	taken = arena_pages_taken(w->fx->old[0]->arena->fd);
	for (uint64_t at = HEADER_BYTES; at < bytes; at += 4096)
		assert_int_equal(arena[at], 0);
	assert_int_equal(arena_pages_taken(w->fx->old[0]->arena->fd), taken);
	assert_int_equal(has(w, &old, "z"), INFORMER_E_EXPIRED);
	assert_int_equal(informer_next(&it, &o), INFORMER_E_EXPIRED);
	assert_int_equal(informer_object_uid(&o, &data, &length), INFORMER_E_EXPIRED);
	assert_int_equal(informer_value_field(&v, "spec", 4, &v), INFORMER_E_EXPIRED);
	assert_int_equal(informer_snapshot_moment(&old, &moment), INFORMER_E_EXPIRED);
	assert_int_equal(informer_verify(&old, NULL, NULL, NULL), INFORMER_E_EXPIRED);
	while (informer_wait_attached(w->inf, 10) < 0 || informer_begin(w->inf, &new) < 0)
		;
	assert_int_equal(has(w, &new, "b"), 0);
	informer_end(&new);
	informer_end(&old);
}

static void
count_resources(struct broker_fixture *fx, void *context)
{
	struct header *h = fx->store->arena->header;
	struct block *b = (struct block *)(void *)((uint8_t *)h + atomic_load(&h->root));
	struct root *root = (struct root *)(void *)b->payload;

	__atomic_store_n(&root->resource_count, *(uint32_t *)context, __ATOMIC_RELAXED);
}

/* If a root changes under a snapshot, the reader uses it as it was checked. */
TEST(a_root_that_changes_is_read_as_it_was_checked)
{
	struct informer_resource *none;
	struct informer_snapshot snap;
	struct informer_object o;
	uint32_t damaged = UINT32_MAX, whole;

	assert_int_equal(informer_begin(w->inf, &snap), 0);
	whole = informer_resource_count(&snap);
	broker_fixture_do(w->fx, count_resources, &damaged);
	assert_int_equal(informer_resource_count(&snap), whole);
	assert_int_equal(informer_resource_open(w->inf, "nowhere", &none), 0);
	assert_int_equal(informer_get_z(&snap, none, "default", "a", &o), INFORMER_E_NO_RESOURCE);
	assert_int_equal(has(w, &snap, "a"), 0);
	informer_end(&snap);
	assert_int_equal(informer_begin(w->inf, &snap), INFORMER_E_CORRUPT);
	broker_fixture_do(w->fx, count_resources, &whole);
}

/* Write *context into the header's root, and return the old offset there. */
static void
exchange_root(struct broker_fixture *fx, void *context)
{
	uint64_t *offset = context;

	*offset = atomic_exchange(&fx->store->arena->header->root, *offset);
}

/* A root offset that leads to an earlier, still intact root is reported as damage. */
TEST(an_older_root_is_reported_as_damage)
{
	struct informer_snapshot held, snap;
	uint64_t offset;

	assert_int_equal(informer_begin(w->inf, &held), 0); /* keeps the older root from being reused */
	offset = atomic_load(&w->fx->store->arena->header->root);
	broker_fixture_pod(w->fx, "b");
	broker_fixture_do(w->fx, exchange_root, &offset);
	assert_int_equal(informer_begin(w->inf, &snap), INFORMER_E_CORRUPT);
	broker_fixture_do(w->fx, exchange_root, &offset);
	assert_int_equal(informer_begin(w->inf, &snap), 0);
	assert_int_equal(has(w, &snap, "b"), 0);
	informer_end(&snap);
	informer_end(&held);
}

/* One of several threads: begin a snapshot, check that it is whole, and that time does not go back. */
struct looker {
	struct reader_world *w;
	_Atomic bool *stop;
	_Atomic uint64_t looks;
	uint64_t moves;
	_Atomic int failed;
};

static void *
look(void *context)
{
	struct looker *l = context;
	struct informer_moment last = {0};

	while (!atomic_load(l->stop) && !l->failed) {
		struct informer_snapshot snap;
		struct informer_moment now;
		int r = informer_begin(l->w->inf, &snap);

		if (r < 0) {
			l->failed = r;
			break;
		}
		informer_snapshot_moment(&snap, &now);
		r = reader_check_whole(&snap, l->w->pods);
		/* a new generation begins without resources */
		if (r == INFORMER_E_NO_RESOURCE)
			r = 0;
		if (now.generation == last.generation && memcmp(now.lineage, last.lineage, 16) == 0 &&
		    now.epoch < last.epoch)
			r = -1;
		l->moves += memcmp(now.lineage, last.lineage, 16) != 0;
		last = now;
		l->looks++;
		informer_end(&snap);
		if (r < 0)
			l->failed = r;
	}
	return NULL;
}

static void
change(struct broker_fixture *fx, void *context)
{
	unsigned n = *(unsigned *)context;
	char name[32];

	snprintf(name, sizeof(name), "c%u", n % 50);
	if (n % 3 == 0)
		store_fixture_delete(fx->store, "default", name);
	else
		store_fixture_putf(
			fx->store,
			"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"uid-%u\","
			"\"labels\":{\"n\":\"%u\"}},\"spec\":{\"nodeName\":\"n%u\"}}",
			name, n % 50, n, n % 7);
	store_commit(fx->store->store);
	store_reclaim(fx->store->store);
}

static bool
have_all_looked(struct looker *lookers, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (atomic_load(&lookers[i].looks) == 0 && atomic_load(&lookers[i].failed) == 0)
			return false;
	return true;
}

/* While a writer commits, reclaims and moves, every snapshot is whole and none goes back in time. */
TEST(snapshots_are_whole_under_churn)
{
	_Atomic bool stop = false;
	struct looker lookers[3] = {{0}};
	pthread_t threads[3];

	for (int i = 0; i < 3; i++) {
		lookers[i] = (struct looker){.w = w, .stop = &stop};
		assert_int_equal(pthread_create(&threads[i], NULL, look, &lookers[i]), 0);
	}
	/* until each has looked, also on a slow machine; a thread that fails looks no more */
	for (unsigned n = 0; n < 1000 || !have_all_looked(lookers, 3); n++) {
		broker_fixture_do(w->fx, change, &n);
		if (n % 250 == 249)
			broker_fixture_replace(w->fx, true);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(lookers[i].failed, 0);
		assert_true(lookers[i].looks > 0);
	}
}
