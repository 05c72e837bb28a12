/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader that informerd drops. What it holds stays unchanged or says EXPIRED. It begins nothing until it is
 * attached again. Its slot is given up when it has let go, hung up or died, not before.
 */
#include <sys/prctl.h>

#include "reader-lib/attach/handle.h"
#include "tests/room.h"
#include "tests/support/dispatch.h"
#include "tests/support/reader_world.h"
#include "tests/support/test_clock.h"

#define CHANGES 600u
#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"

SET_UP(set_up, reader_world_empty("a"))

/* Send a packet that no attached reader sends. False: the reader is not attached. */
static bool
provoke(struct informer *inf)
{
	bool is_up;

	pthread_mutex_lock(&inf->lock);
	is_up = inf->connection == CONNECTION_UP;
	if (is_up)
		is_up = send(inf->socket, "nonsense", 8, MSG_NOSIGNAL) == 8;
	pthread_mutex_unlock(&inf->lock);
	return is_up;
}

static void
wait_dropped(struct broker_fixture *fx, uint64_t count)
{
	AWAIT(broker_fixture_stats(fx).dropped >= count);
	assert_int_equal(broker_fixture_stats(fx).dropped, count);
}

static unsigned changes_made;

/* Rewrite all pods, so often that all free memory is reused. */
static void
churn(struct broker_fixture *fx, void *context)
{
	for (unsigned i = 0; i < *(unsigned *)context; i++, changes_made++) {
		char name[16] = "a";

		if (changes_made % 3)
			snprintf(name, sizeof(name), "c%u", changes_made % 50);
		store_fixture_putf(fx->store,
				   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\","
				   "\"uid\":\"uid-%u\",\"labels\":{\"n%u\":\"" LONG "%u\"}},"
				   "\"spec\":{\"nodeName\":\"n%u\"}}",
				   name, changes_made, changes_made % 13, changes_made, changes_made % 7);
		store_commit(fx->store->store);
		store_reclaim(fx->store->store);
	}
}

static void
churn_so_often(struct broker_fixture *fx, unsigned count)
{
	broker_fixture_do(fx, churn, &count);
}

static void
hold(struct broker_fixture *fx, void *context)
{
	uint64_t epoch = store_epoch(fx->store->store);

	*(uint64_t *)context = epoch - pins_horizon(fx->store->pins, epoch);
}

/* How many epochs back a reader still holds. */
static uint64_t
held_epochs(struct broker_fixture *fx)
{
	uint64_t held = 0;

	broker_fixture_do(fx, hold, &held);
	return held;
}

static int
begin_again(struct informer *inf, struct informer_snapshot *snap)
{
	int r;

	while ((r = informer_begin(inf, snap)) == INFORMER_E_NOT_READY) {
		test_clock_move(1); /* the reader's delay between attempts grows */
		sched_yield();
	}
	return r;
}

/* What a reader has looked up, and what the calls returned. */
struct found {
	struct informer_snapshot snap;
	struct informer_object object;
	struct informer_moment moment;
	const char *uid;
	size_t uid_length;
	char copy[64];
};

static int
find(struct informer *inf, struct informer_resource *pods, struct found *f)
{
	int r = begin_again(inf, &f->snap);

	if (r == 0)
		r = informer_get_z(&f->snap, pods, "default", "a", &f->object);
	if (r == 0)
		r = informer_object_uid(&f->object, &f->uid, &f->uid_length);
	if (r == 0)
		r = informer_snapshot_moment(&f->snap, &f->moment);
	if (r < 0 || f->uid_length >= sizeof(f->copy))
		return r < 0 ? r : -1;
	memcpy(f->copy, f->uid, f->uid_length);
	return 0;
}

/* Lent strings are unchanged; each call repeats its answer or says EXPIRED. */
static int
still_right(struct informer_resource *pods, struct found *f)
{
	struct informer_moment moment;
	struct informer_object o;
	struct informer_iter it;
	const char *uid;
	size_t length;
	int r;

	if (memcmp(f->uid, f->copy, f->uid_length) != 0)
		return -1;
	r = informer_object_uid(&f->object, &uid, &length);
	if (r != INFORMER_E_EXPIRED &&
	    (r != 0 || length != f->uid_length || memcmp(uid, f->copy, length) != 0))
		return -2;
	r = informer_get_z(&f->snap, pods, "default", "a", &o);
	if (r != INFORMER_E_EXPIRED && r != 0)
		return -3;
	r = informer_snapshot_moment(&f->snap, &moment);
	if (r != INFORMER_E_EXPIRED &&
	    (r != 0 || moment.epoch != f->moment.epoch || moment.seq != f->moment.seq))
		return -4;
	r = informer_list(&f->snap, pods, &it);
	while (r == 0 && informer_next(&it, &o) > 0)
		;
	return r == 0 || r == INFORMER_E_EXPIRED ? 0 : -5;
}

#define IN_WORLD(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)
#define WITH_BROKER(name) TEST_CASE_IN(broker_fixture_set_up, broker_fixture_tear_down, name)

/* What a dropped reader holds stays readable; its calls say EXPIRED. Its slot ends with its snapshot. */
IN_WORLD(what_a_dropped_reader_holds_stays)
{
	struct informer_object o;
	struct found held, next;

	assert_int_equal(find(w->inf, w->pods, &held), 0);
	assert_true(provoke(w->inf));
	wait_dropped(w->fx, 1);
	churn_so_often(w->fx, CHANGES);
	assert_int_equal(still_right(w->pods, &held), 0);
	assert_int_equal(informer_get_z(&held.snap, w->pods, "default", "a", &o), INFORMER_E_EXPIRED);
	assert_int_equal(informer_object_uid(&held.object, &held.uid, &held.uid_length), INFORMER_E_EXPIRED);

	assert_int_equal(find(w->inf, w->pods, &next), 0);
	broker_fixture_wait_readers(w->fx, 2);
	churn_so_often(w->fx, CHANGES);
	assert_memory_equal(held.uid, held.copy, held.uid_length);
	assert_int_equal(still_right(w->pods, &next), 0);
	assert_int_equal(informer_get_z(&next.snap, w->pods, "default", "a", &o), 0);
	informer_end(&held.snap);
	test_clock_move(1000); /* the broker checks such slots once a second */
	broker_fixture_wait_readers(w->fx, 1);
	informer_end(&next.snap);
	assert_int_equal(held_epochs(w->fx), 0);
}

/* A reader dropped while it holds nothing is gone at once, and reads nothing before it is attached again. */
IN_WORLD(a_dropped_reader_begins_nothing_until_it_is_back)
{
	struct informer_status status = {.size = sizeof(status)};
	struct informer_object o;
	struct found next;

	assert_true(provoke(w->inf));
	wait_dropped(w->fx, 1);
	broker_fixture_wait_readers(w->fx, 0);
	churn_so_often(w->fx, CHANGES);
	assert_int_equal(find(w->inf, w->pods, &next), 0);
	assert_int_equal(informer_status(w->inf, &status), 0);
	assert_int_equal(status.attaches, 2);
	assert_int_equal(broker_fixture_stats(w->fx).readers, 1);
	churn_so_often(w->fx, CHANGES);
	assert_int_equal(still_right(w->pods, &next), 0);
	assert_int_equal(informer_get_z(&next.snap, w->pods, "default", "a", &o), 0);
	informer_end(&next.snap);
}

struct looker {
	struct reader_world *w;
	_Atomic bool *stop;
	int failed;
	uint64_t looks, ends;
};

static void *
look(void *context)
{
	struct looker *l = context;

	while (!atomic_load(l->stop) && !l->failed) {
		struct informer_snapshot snap;
		int r = begin_again(l->w->inf, &snap);

		if (r == 0) {
			r = reader_check_whole(&snap, l->w->pods);
			informer_end(&snap);
		}
		l->looks += r == 0;
		l->ends += r == INFORMER_E_EXPIRED;
		if (r < 0 && r != INFORMER_E_EXPIRED)
			l->failed = r;
	}
	return NULL;
}

/* The reader is dropped between begin and end, before begin, and while it attaches. */
IN_WORLD(a_reader_dropped_at_any_time_sees_whole_snapshots)
{
	_Atomic bool stop = false;
	struct looker lookers[3] = {{0}};
	uint64_t looks = 0, ends = 0;
	pthread_t threads[3];
	bool failed = false;
	unsigned drops = 0;

	for (int i = 0; i < 3; i++) {
		lookers[i] = (struct looker){.w = w, .stop = &stop};
		assert_int_equal(pthread_create(&threads[i], NULL, look, &lookers[i]), 0);
	}
	while (drops < 20) {
		drops += provoke(w->inf);
		churn_so_often(w->fx, 50);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		failed |= lookers[i].failed != 0;
		if (lookers[i].failed)
			print_message("a reader saw %s\n", informer_error_name(lookers[i].failed));
		looks += lookers[i].looks;
		ends += lookers[i].ends;
	}
	assert_false(failed);
	assert_true(looks > 0 && ends > 0);
}

/* In its own process: look, be dropped, stop, continue. All held is right, and the reader attaches again. */
static int
be_dropped_and_stopped(struct broker_fixture *fx)
{
	struct informer *inf = broker_fixture_attach(fx, 0);
	struct informer_resource *pods;
	struct found held, next;

	if (informer_resource_open(inf, "pods", &pods) < 0 || find(inf, pods, &held) < 0 || !provoke(inf))
		return 10;
	raise(SIGSTOP);
	if (still_right(pods, &held) < 0)
		return 10 - still_right(pods, &held);
	informer_end(&held.snap);
	if (find(inf, pods, &next) < 0 || informer_get_z(&next.snap, pods, "default", "a", &next.object) < 0)
		return 20;
	informer_end(&next.snap);
	informer_detach(inf);
	return 0;
}

static pid_t
start_one_that_stops(struct broker_fixture *fx)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a stopped child would outlive a failing test */
		_exit(be_dropped_and_stopped(fx));
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	wait_dropped(fx, 1);
	churn_so_often(fx, CHANGES);
	return pid;
}

/* Until this signal the stopped reader holds its slot and its pins. */
static void
end_a_stopped_reader(struct broker_fixture *fx, int how)
{
	int status;
	pid_t pid;

	broker_fixture_start(fx);
	broker_fixture_pod(fx, "a");
	pid = start_one_that_stops(fx);
	assert_int_equal(broker_fixture_stats(fx).readers, 1);
	assert_true(held_epochs(fx) >= CHANGES);
	assert_int_equal(kill(pid, how), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, how == SIGCONT ? 0 : how);
	broker_fixture_wait_readers(fx, 0);
	assert_int_equal(held_epochs(fx), 0);
}

/* A stopped reader keeps its slot and its pins, as one that was not dropped, until it continues. */
WITH_BROKER(a_stopped_reader_keeps_its_pins)
{
	end_a_stopped_reader(*state, SIGCONT);
}

/* When a stopped reader dies its pins are free at once. */
WITH_BROKER(a_stopped_reader_that_dies_frees_its_pins)
{
	end_a_stopped_reader(*state, SIGKILL);
}
