/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler that overflowed once and caught up, followed by any two steps of a table. The handler is told
 * each change or COALESCED, nothing of objects it never heard of, and in the end the present state.
 *
 * Each pair of steps is walked in each order, with a handler that keeps up, one that is busy meanwhile, and
 * one that is paused. Writer and reader are the real ones.
 */
#include "reader-lib/events/handler.h"
#include "shm-layout/time_ns.h"
#include "tests/room.h"
#include "tests/support/handler_view.h"

#define VIEWS 3
#define ONE_HOUR_MS 3600000u

/* KEEPS_UP: always dispatches; BUSY: dispatches only at the path's end; HELD: its handlers are paused. */
enum manner { KEEPS_UP, BUSY, HELD, MANNERS };
static const char *const manners[] = {"keeps up", "busy", "held"};

struct course {
	struct broker_fixture *fx;
	struct informer *inf;
	struct history history;
	struct view views[VIEWS];
	enum manner manner;
	unsigned turn;			/* decides which keys the next changes take */
};

/* ---- what the writer does ---- */

static void
commit(struct broker_fixture *fx)
{
	store_set_state(fx->store->store, fx->store->pods, RESOURCE_SYNCED);
	assert_int_equal(store_commit(fx->store->store), 0);
}

/* One commit: a change of each kind, of other keys each turn. */
static void
some_changes(struct broker_fixture *fx, void *context)
{
	struct course *p = context;
	struct history *h = &p->history;
	unsigned first = p->turn++ * 5;

	for (unsigned i = 0; i < 5; i++) {
		unsigned key = (first + i) % KEYS;

		if (i == 0 && h->now[key])
			history_delete(h, fx, key);
		else
			history_put(h, fx, key, i == 1 ? !h->web[h->now[key]] : h->web[h->now[key]], i == 2);
	}
	commit(fx);
}

static void
one_change(struct broker_fixture *fx, void *context)
{
	struct course *p = context;
	unsigned key = p->turn++ % KEYS;

	history_put(&p->history, fx, key, p->history.web[p->history.now[key]], false);
	commit(fx);
}

static void
all_cross(struct broker_fixture *fx, void *context)
{
	struct course *p = context;

	for (unsigned key = 0; key < KEYS; key++)
		if (p->history.now[key])
			history_put(&p->history, fx, key, !p->history.web[p->history.now[key]], false);
	commit(fx);
}

static void
some_deletions(struct broker_fixture *fx, void *context)
{
	struct course *p = context;

	for (unsigned key = p->turn % 3; key < KEYS; key += 3)
		if (p->history.now[key])
			history_delete(&p->history, fx, key);
	commit(fx);
}

/* Give pods another fingerprint: they are emptied. */
static void
redefine(struct broker_fixture *fx, const uint8_t fingerprint[32])
{
	store_unclaim(fx->store->store, fx->store->pods);
	assert_int_equal(
		store_add_resource(fx->store->store, pods_descriptor, fingerprint, &fx->store->pods), 0);
	assert_int_equal(store_commit(fx->store->store), 0);
}

static void
redefine_to_another(struct broker_fixture *fx, void *context)
{
	static const uint8_t another[32] = {99};

	(void)context;
	redefine(fx, another);
}

static void
redefine_back(struct broker_fixture *fx, void *context)
{
	(void)context;
	redefine(fx, pods_fingerprint);
}

static void
list_again(struct broker_fixture *fx, void *context)
{
	struct course *p = context;

	history_list(&p->history, fx);
	commit(fx);
}

/* ---- what happens ---- */

static void
let_it_read(struct course *p)
{
	if (p->manner != BUSY)
		dispatch_all(p->inf);
}

static void
change(struct course *p, void (*what)(struct broker_fixture *fx, void *context))
{
	broker_fixture_do(p->fx, what, p);
	let_it_read(p);
}

static void
hold(struct course *p, bool held)
{
	for (unsigned i = 0; i < VIEWS; i++)
		informer_pause_handler(p->views[i].handler, held);
}

static void
await_connected(struct course *p, bool connected)
{
	if (p->manner != BUSY)
		dispatch_until_connected(p->inf, connected);
}

/* More changes than the queue holds, while the handler does not read. */
static void
overflow(struct course *p)
{
	for (unsigned i = 0; i < QUEUE_ENTRIES_MIN + 2; i++)
		broker_fixture_do(p->fx, one_change, p);
	let_it_read(p);
}

static void
restart(struct course *p)
{
	broker_fixture_stop(p->fx);
	await_connected(p, false);
	broker_fixture_adopt(p->fx);
	broker_fixture_start(p->fx);
	await_connected(p, true);
	change(p, some_changes);
}

/* The next informerd changes objects before any reader is back. */
static void
takeover(struct course *p)
{
	broker_fixture_stop(p->fx);
	broker_fixture_adopt(p->fx);
	broker_fixture_do(p->fx, some_changes, p);
	broker_fixture_start(p->fx);
	await_connected(p, true);
	change(p, some_changes);
}

static void
reload(struct course *p)
{
	change(p, redefine_to_another);
	change(p, list_again);
	change(p, some_changes);
	change(p, redefine_back);
	change(p, list_again);
}

/* The period of the resync is over. */
static void
resync(struct course *p)
{
	for (unsigned i = 0; i < VIEWS; i++)
		p->views[i].handler->work->due_ns = 0;
	change(p, some_changes);
}

/* The handler is away for longer than deletions are remembered. */
static void
forget(struct course *p)
{
	for (unsigned i = 0; i < QUEUE_ENTRIES_MIN + 2; i++)
		broker_fixture_do(p->fx, one_change, p);
	broker_fixture_remember(p->fx, 1);
	change(p, some_deletions);
	broker_fixture_remember(p->fx, STORE_TOMBSTONES.count);
}

static void
pause_a_while(struct course *p)
{
	hold(p, true);
	change(p, some_changes);
	change(p, some_changes);
	if (p->manner != HELD)
		hold(p, false);
	let_it_read(p);
}

static void
cross(struct course *p)
{
	change(p, all_cross);
}

static const struct step {
	const char *name;
	void (*happen)(struct course *p);
} steps[] = {
	{"overflow", overflow}, {"restart", restart}, {"takeover", takeover},   {"reload", reload},
	{"resync", resync},     {"forget", forget},   {"pause", pause_a_while}, {"cross", cross},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

/* ---- a path ---- */

/* Dispatch until all handlers were told the present state. */
static void
catch_up(struct course *p, const char *what)
{
	bool all = false;

	dispatch_all(p->inf);
	for (unsigned idle = 0; !all && idle < DISPATCH_IDLE_MAX; idle += !all && !dispatch_turn(p->inf)) {
		all = true;
		for (unsigned k = 0; k < VIEWS; k++) {
			if (p->views[k].error[0])
				fail_msg("%s: %s", what, p->views[k].error);
			all &= view_agrees(&p->views[k]);
		}
	}
	if (!all)
		fail_msg("%s: what is there was not told", what);
}

static struct course *
path_new(enum manner manner)
{
	struct course *p = calloc(1, sizeof(*p));
	struct view *v;

	assert_non_null(p);
	p->manner = manner;
	p->fx = broker_fixture_new();
	broker_fixture_keep_generations(p->fx);
	broker_fixture_start(p->fx);
	for (unsigned i = 0; i < KEYS / 2; i++)
		broker_fixture_do(p->fx, some_changes, p);
	p->inf = broker_fixture_attach(p->fx, 0);
	v = p->views;
	for (unsigned i = 0; i < VIEWS; i++)
		v[i].options.resync_ms = ONE_HOUR_MS;
	view_add(v++, "all", &p->history, p->inf);
	v->options.consumer = "agent"; /* its first RESYNC: the name is new */
	view_add(v++, "consumer", &p->history, p->inf);
	v->web_only = true;
	view_add(v, "web", &p->history, p->inf);
	return p;
}

/* Totals of all paths, to prove that the paths covered each case. */
static struct {
	uint64_t paths, calls, overflows, resyncs, again;
} total;

static void
path_free(struct course *p)
{
	total.paths++;
	for (unsigned i = 0; i < VIEWS; i++) {
		total.calls += p->views[i].calls;
		total.overflows += p->views[i].overflows;
		total.resyncs += p->views[i].resyncs;
		total.again += p->views[i].again;
	}
	informer_detach(p->inf);
	broker_fixture_free(p->fx);
	free(p);
}

/* Only a new consumer is told a RESYNC. */
static void
resyncs_have_a_reason(const struct course *p, const char *what)
{
	for (unsigned i = 0; i < VIEWS; i++)
		if (p->views[i].resyncs != (p->views[i].options.consumer != NULL))
			fail_msg("%s: %s was told %llu RESYNCs", what, p->views[i].what,
				 (unsigned long long)p->views[i].resyncs);
}

/* Overflow, catch up, then take the two steps. */
static void
walk(const struct step *one, const struct step *other, enum manner manner)
{
	struct course *p = path_new(manner);
	char what[100];

	snprintf(what, sizeof(what), "overflow, %s, %s (%s)", one->name, other->name, manners[manner]);
	catch_up(p, what);
	overflow(p);
	catch_up(p, what);
	hold(p, manner == HELD);
	one->happen(p);
	other->happen(p);
	hold(p, false);
	catch_up(p, what);
	/* and the handler continues */
	for (unsigned i = 0; i < 3; i++)
		change(p, some_changes);
	catch_up(p, what);
	resyncs_have_a_reason(p, what);
	path_free(p);
}

static void
walk_all(enum manner manner)
{
	size_t paths = 0;

	memset(&total, 0, sizeof(total));
	for (size_t i = 0; i < STEPS; i++)
		for (size_t k = 0; k < STEPS; k++)
			/* in the short half each step comes first once or twice, and second too */
			if (test_is_long() || ((i + manner) % 2 == 0 && k == (i + 3) % STEPS)) {
				walk(&steps[i], &steps[k], manner);
				paths++;
			}
	print_message("%s: %llu paths, %llu calls, %llu overflows told, %llu resyncs, %llu told again\n",
		      manners[manner], (unsigned long long)total.paths, (unsigned long long)total.calls,
		      (unsigned long long)total.overflows, (unsigned long long)total.resyncs,
		      (unsigned long long)total.again);
	assert_int_equal(total.paths, paths);
	assert_true(total.overflows > total.resyncs && total.resyncs > 0);
}

TEST_CASE(a_handler_that_keeps_up_loses_nothing)
{
	walk_all(KEEPS_UP);
	assert_true(total.again > 0);
}

TEST_CASE(a_handler_that_is_busy_loses_nothing)
{
	walk_all(BUSY);
}

TEST_CASE(a_handler_that_is_held_loses_nothing)
{
	walk_all(HELD);
}
