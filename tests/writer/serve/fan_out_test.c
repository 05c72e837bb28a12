/* SPDX-License-Identifier: Apache-2.0 */
/* Which queue gets which event, what queues hold back, and when they overflow. */
#include <time.h>

#include "shm-layout/object.h"
#include "shm-layout/time_ns.h"
#include "tests/room.h"
#include "tests/support/allocations.h"
#include "tests/support/store_fixture.h"
#include "writer/serve/fan_out.h"

#define SECOND 1000000000ull

static const char services_descriptor[] = "{\"resource\":\"services\",\"kind\":\"Service\",\"indexes\":[]}";
static const char gadgets_descriptor[] =
	"{\"group\":\"example.com\",\"resource\":\"gadgets\",\"kind\":\"Gadget\",\"indexes\":[]}";

/* A subscription as its reader sees it. */
struct reader {
	struct queue_cursor *cursor;
	struct subscriber *subscription;
	const struct queue *queue;
	unsigned due;
	uint64_t base;
};

struct world {
	struct store_fixture *fx;
	struct fan_out *fan_out;
	struct reader *readers[80];
	unsigned count;
	unsigned long version;
};

static void
start(struct world *w, struct fan_out_limits limits)
{
	fan_out_free(w->fan_out);
	assert_int_equal(fan_out_new(w->fx->store, limits, &w->fan_out), 0);
}

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->fx = store_fixture_new(0);
	start(w, FAN_OUT_LIMITS);
	*state = w;
	return 0;
}

static void
drop(struct reader *r)
{
	fan_out_unsubscribe(r->subscription, true);
	munmap((void *)(uintptr_t)r->queue, queue_bytes(r->queue->capacity));
	free(r->cursor);
	free(r);
}

static void
end_world(struct world *w)
{
	for (unsigned i = 0; i < w->count; i++)
		if (w->readers[i])
			drop(w->readers[i]);
	fan_out_free(w->fan_out);
	store_fixture_free(w->fx);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

static void
note_due(void *context)
{
	struct reader *r = context;

	r->due++;
}

static struct reader *
subscribe_n(struct world *w, const char *resource, const char *ns, uint32_t entries)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct subscriber_options options = {
		.resource = resource,
		.resource_length = strlen(resource),
		.ns = ns,
		.ns_length = strlen(ns),
		.entries = entries,
		.on_due = note_due,
		.context = r,
	};
	struct stat st;
	int fd;

	r->cursor = options.cursor = aligned_alloc(64, sizeof(*r->cursor));
	memset(r->cursor, 0, sizeof(*r->cursor));
	assert_int_equal(fan_out_subscribe(w->fan_out, &options, &r->subscription, &r->base, &fd), 0);
	assert_int_equal(fstat(fd, &st), 0);
	r->queue = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(r->queue, MAP_FAILED);
	close(fd);
	w->readers[w->count++] = r;
	return r;
}

static struct reader *
subscribe(struct world *w, const char *resource, const char *ns)
{
	return subscribe_n(w, resource, ns, 0);
}

static void
put(struct world *w, unsigned resource, const char *ns, const char *name)
{
	unsigned pods = w->fx->pods;

	w->fx->pods = resource;
	w->version++;
	assert_int_equal(store_fixture_putf(w->fx,
					    "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":\"u-"
					    "%s\",\"resourceVersion\":"
					    "\"%lu\"},\"spec\":{\"nodeName\":\"n1\",\"version\":%lu}}",
					    name, ns, name, w->version, w->version),
			 0);
	w->fx->pods = pods;
}

static void
commit(struct world *w)
{
	assert_int_equal(store_commit(w->fx->store), 0);
}

static void
put_pod(struct world *w, const char *ns, const char *name)
{
	put(w, w->fx->pods, ns, name);
	commit(w);
}

static unsigned
add_resource(struct world *w, const char *descriptor, uint8_t fingerprint)
{
	uint8_t bytes[32] = {fingerprint};
	unsigned id;

	assert_int_equal(store_add_resource(w->fx->store, descriptor, bytes, &id), 0);
	return id;
}

static uint64_t
head(const struct reader *r)
{
	return atomic_load(&r->queue->head);
}

static bool
is_open(const struct reader *r)
{
	return atomic_load(&r->queue->state) == QUEUE_OPEN;
}

/* Read the unread entries, as "A default/a | U …". */
static const char *
read_all(struct world *w, struct reader *r)
{
	static const char kinds[] = "?AUDSRE";
	static char text[65536];
	size_t at = 0;

	text[0] = '\0';
	for (uint64_t i = atomic_load(&r->cursor->consumed); i < head(r); i++) {
		const struct queue_entry *e = &queue_ring(r->queue)[i % r->queue->capacity];
		const struct object *o = object_at(&w->fx->arena->view, e->new_ref ? e->new_ref : e->old_ref);

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%c", at ? " | " : "", kinds[e->kind]);
		if (e->kind <= QUEUE_DELETED)
			at += (size_t)snprintf(text + at, sizeof(text) - at, " %.*s/%.*s",
					       o->namespace_length, object_namespace(o), o->name_length,
					       object_name(o));
	}
	atomic_store(&r->cursor->consumed, head(r));
	return text;
}

static uint64_t
held(struct world *w)
{
	return store_held_bytes(w->fx->store, w->fx->pods, 0);
}

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* A queue gets the events of its resource and namespace, and no others. */
TEST(events_go_by_resource_and_namespace)
{
	unsigned services = add_resource(w, services_descriptor, 1);
	struct reader *all = subscribe(w, "pods", ""), *one = subscribe(w, "pods", "default"),
		      *none = subscribe(w, "pods", "defaul");
	struct reader *other = subscribe(w, "services", "");

	put_pod(w, "default", "a");
	put_pod(w, "kube-system", "b");
	put_pod(w, "default", "a");
	assert_int_equal(store_fixture_delete(w->fx, "default", "a"), 0);
	commit(w);
	assert_string_equal(read_all(w, all), "A default/a | A kube-system/b | U default/a | D default/a");
	assert_string_equal(read_all(w, one), "A default/a | U default/a | D default/a");
	assert_int_equal(all->due, 4);
	assert_int_equal(one->due, 3);
	assert_int_equal(none->due + other->due, 0);
	put(w, services, "default", "s");
	put(w, w->fx->pods, "default", "c");
	commit(w);
	assert_string_equal(read_all(w, other), "A default/s");
	assert_string_equal(read_all(w, one), "A default/c");
	assert_int_equal(none->due, 0);
}

/* An event of the whole resource goes to queues of every namespace. */
TEST(events_of_the_resource_go_to_every_namespace)
{
	struct reader *one = subscribe(w, "pods", "default"), *all = subscribe(w, "pods", "");

	put_pod(w, "x", "a");
	store_set_state(w->fx->store, w->fx->pods, RESOURCE_SYNCED);
	commit(w);
	assert_int_equal(store_set_status(w->fx->store, w->fx->pods, "{\"recovered\":false,\"code\":403}"),
			 0);
	commit(w);
	assert_string_equal(read_all(w, one), "S | E");
	assert_string_equal(read_all(w, all), "A x/a | S | E");
}

/* A queue is complete from the published seq on, though changes wait to be published. */
TEST(a_queue_is_complete_from_its_base_on)
{
	struct reader *r;
	uint64_t published;

	put_pod(w, "default", "a");
	published = store_seq(w->fx->store);
	put(w, w->fx->pods, "default", "b");
	r = subscribe(w, "pods", "");
	assert_int_equal(r->base, published);
	commit(w);
	assert_string_equal(read_all(w, r), "A default/b");
}

/* A subscription matches its resource once it is cached. Entries in other queues are kept. */
TEST(a_resource_that_comes_later_matches)
{
	struct reader *r = subscribe(w, "gadgets.example.com", ""), *pods = subscribe(w, "pods", "");
	unsigned gadgets;

	put_pod(w, "default", "a");
	gadgets = add_resource(w, gadgets_descriptor, 3);
	put(w, gadgets, "default", "g");
	commit(w);
	assert_string_equal(read_all(w, r), "A default/g");
	assert_true(is_open(pods));
	assert_string_equal(read_all(w, pods), "A default/a");
}

/*
 * Subscriptions are bound to new positions, and memory fails at each allocation. A subscription that lacks it
 * overflows, so its reader relists; the next commit binds it.
 */
TEST(a_subscription_that_cannot_be_bound_overflows)
{
	unsigned services = add_resource(w, services_descriptor, 1), n = 0;
	struct reader *readers[10];
	bool failed;

	for (unsigned i = 0; i < 10; i++)
		readers[i] = subscribe(w, "services", "");
	put(w, services, "a", "s");
	commit(w);
	do {
		unsigned closed = 0;

		for (unsigned i = 0; i < 10; i++)
			read_all(w, readers[i]);
		add_resource(w, services_descriptor, (uint8_t)(n + 2)); /* one more position for all */
		allocations_left = n;
		commit(w);
		failed = allocations_left == UINT64_MAX;
		allocations_left = UINT64_MAX;
		for (unsigned i = 0; i < 10; i++)
			closed += !is_open(readers[i]);
		assert_int_equal(closed, failed);
		n += failed;
		assert_int_equal(fan_out_overflows(w->fan_out, "services"), n);
		put(w, services, "a", "s");
		commit(w);
		for (unsigned i = 0; i < 10; i++) {
			assert_true(is_open(readers[i]));
			assert_string_equal(read_all(w, readers[i]), "U a/s");
		}
	} while (failed);
	/* the places of each; the new position's audience, which grows twice */
	assert_int_equal(n, 10 + 2 * 2);
}

TEST(several_entries_of_a_resource_are_one_subscription)
{
	struct reader *r = subscribe(w, "services", "");
	unsigned first = add_resource(w, services_descriptor, 1),
		 second = add_resource(w, services_descriptor, 2);
	struct reader *late = subscribe(w, "services", "");

	put(w, first, "a", "s");
	put(w, second, "b", "s");
	commit(w);
	assert_string_equal(read_all(w, r), "A a/s | A b/s");
	assert_string_equal(read_all(w, late), "A a/s | A b/s");
	assert_int_equal(r->due, 1);
}

/* An object in an unread entry stays whole while the store changes, and is freed after it was read. */
TEST(unread_objects_stay_whole)
{
	struct reader *r = subscribe(w, "pods", ""), *quick = subscribe(w, "pods", "");
	char want[64];

	put_pod(w, "default", "a");
	read_all(w, r);
	for (unsigned i = 0; i < 500; i++) {
		put_pod(w, "default", "a");
		read_all(w, quick);
	}
	assert_true(held(w) > 0);
	for (uint64_t i = 1; i < head(r); i++) {
		const struct queue_entry *e = &queue_ring(r->queue)[i % r->queue->capacity];
		char *json = store_fixture_json(w->fx, e->old_ref);

		snprintf(want, sizeof(want), "\"version\":%llu}", (unsigned long long)i);
		assert_non_null(strstr(json, want));
		free(json);
	}
	read_all(w, r);
	put_pod(w, "default", "b");
	read_all(w, r);
	read_all(w, quick);
	store_release_held(w->fx->store);
	assert_int_equal(held(w), 0);
}

/* A resource is reported while a queue is subscribed to it, in any namespace, and no longer. */
TEST(a_resource_is_reported_while_it_has_subscribers)
{
	assert_false(store_is_heard(w->fx->store, w->fx->pods));
	subscribe(w, "services", "");
	assert_false(store_is_heard(w->fx->store, w->fx->pods));
	subscribe(w, "pods", "a");
	assert_true(store_is_heard(w->fx->store, w->fx->pods));
	drop(w->readers[1]);
	w->readers[1] = NULL;
	assert_false(store_is_heard(w->fx->store, w->fx->pods));
}

/* A reader that goes frees everything that only its queues held. */
TEST(a_reader_that_goes_frees_held_objects)
{
	struct reader *r = subscribe(w, "pods", "");

	put_pod(w, "default", "a");
	for (unsigned i = 0; i < 10; i++)
		put_pod(w, "default", "a");
	assert_true(held(w) > 0);
	drop(r);
	w->readers[0] = NULL;
	assert_int_equal(held(w), 0);
}

/*
 * A queue whose reader holds back more than its share of bytes overflows, though it has room. Other queues
 * stay open. The overflow counts for its resource, also after its reader has gone.
 */
TEST(a_queue_over_its_bytes_overflows)
{
	struct reader *slow, *other, *quick;
	struct subscriber_stats stats;

	start(w, (struct fan_out_limits){4096, 4096, 20000, 60 * SECOND});
	slow = subscribe(w, "pods", "");
	other = subscribe(w, "pods", "b");
	quick = subscribe(w, "pods", "");
	for (unsigned i = 0; i < 1000; i++) {
		put_pod(w, "a", "p");
		read_all(w, quick);
		assert_true(held(w) <= 20000 + 1000);
	}
	assert_false(is_open(slow));
	assert_true(is_open(other));
	assert_true(is_open(quick));
	store_release_held(w->fx->store);
	assert_int_equal(held(w), 0);
	subscriber_stats(slow->subscription, &stats);
	assert_int_equal(stats.overflows, 1);
	assert_false(stats.open);
	assert_true(stats.unread < 1000);
	drop(slow);
	w->readers[0] = NULL;
	assert_int_equal(fan_out_overflows(w->fan_out, "pods"), 1);
	assert_int_equal(fan_out_overflows(w->fan_out, "nodes"), 0);
}

/* Other changes count, too: a queue of a quiet namespace cannot hold old objects for ever. */
TEST(a_quiet_namespace_holds_no_more_than_its_share)
{
	struct reader *quiet;

	start(w, (struct fan_out_limits){4096, 4096, 20000, 60 * SECOND});
	quiet = subscribe(w, "pods", "quiet");
	put_pod(w, "quiet", "p");
	for (unsigned i = 0; i < 1000; i++)
		put_pod(w, "busy", "p");
	assert_int_equal(head(quiet), 1);
	assert_false(is_open(quiet));
	assert_int_equal(held(w), 0);
}

/* An entry that stays unread for too long overflows its queue. */
TEST(an_unread_queue_overflows_by_age)
{
	struct reader *slow = subscribe(w, "pods", ""), *quick = subscribe(w, "pods", "");
	uint64_t now;

	put_pod(w, "default", "a");
	read_all(w, quick);
	now = time_ns(CLOCK_BOOTTIME);
	fan_out_tick(w->fan_out, now + 59 * SECOND);
	assert_true(is_open(slow));
	fan_out_tick(w->fan_out, now + 61 * SECOND);
	assert_false(is_open(slow));
	assert_true(is_open(quick));
}

/* An overflowed queue reopens at the next commit that finds it empty, of any resource. */
TEST(a_queue_reopens_at_any_commit)
{
	unsigned services = add_resource(w, services_descriptor, 1);
	struct reader *r = subscribe_n(w, "pods", "", 64);
	char name[16];

	for (unsigned i = 0; i < 65; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		put_pod(w, "default", name);
	}
	assert_false(is_open(r));
	assert_int_equal(r->due, 65);
	atomic_store(&r->cursor->consumed, head(r));
	put(w, services, "default", "s");
	commit(w);
	assert_true(is_open(r));
	assert_int_equal(r->queue->base, store_seq(w->fx->store) - 1);
	assert_int_equal(r->due, 65);
	put_pod(w, "default", "q");
	assert_string_equal(read_all(w, r), "A default/q");
}
