/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a history with the writer's store and fan-out, copies its moments, and has a handler told. */
#include "tests/support/delivery_world.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reader-lib/attach/fault_guard.h"
#include "reader-lib/events/handler.h"
#include "tests/support/delivery_log.h"
#include "tests/support/full_tmpfs.h"
#include "tests/support/lone_reader.h"
#include "tests/support/store_fixture.h"
#include "writer/serve/fan_out.h"

#define PAGE 4096u
#define ENTRIES QUEUE_ENTRIES_MIN
#define TURNS_MAX 10000u
#define ARENA_BYTES (8u << 20)

enum delivery_moment { BEFORE, DURING, AFTER, MOMENTS };

const char *const delivery_ways[DELIVERY_WAYS] = {"initial", "queue", "coalesced", "resync", "again"};
const char *const delivery_handlers[DELIVERY_HANDLERS] = {"plain", "labels", "namespace", "values"};

/*
 * slots     the slot that may be closed, and the next one; slot_fds, queue_fds: their files
 * bytes     the used part of the arena
 * readers   the mappings over these slots; the handle has first one, then the other
 * handler   during a delivery
 */
struct delivery_world {
	enum delivery_way way;
	enum delivery_handler kind;
	struct store_fixture *fx;
	struct fan_out *fan_out;
	struct slot *slots[2];
	int slot_fds[2], queue_fds[2];
	struct subscriber *subscribers[2];
	const uint8_t *written;
	size_t bytes;
	uint8_t *arenas[MOMENTS], *queues[MOMENTS];
	struct delivery_log *log;
	struct informer *inf;
	struct mapping *readers[2];
	int full; /* a file without memory */
	struct informer_handler *handler;
	struct ring *ring;
};

static void
need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "delivery_world: %s\n", what);
	abort();
}

/* ---- the server's history ---- */

static void
due(void *context)
{
	(void)context;
}

static void
subscribe(struct delivery_world *w, unsigned i)
{
	const struct subscriber_options options = {.resource = "pods",
						   .resource_length = 4,
						   .ns = "default",
						   .ns_length = w->kind == DELIVERY_SCOPED ? 7 : 0,
						   .entries = ENTRIES,
						   .cursor = &w->slots[i]->queues[0],
						   .on_due = due};
	uint64_t base;

	need(fan_out_subscribe(w->fan_out, &options, &w->subscribers[i], &base, &w->queue_fds[i]) == 0,
	     "no queue");
}

static void
commit(struct delivery_world *w)
{
	store_set_state(w->fx->store, w->fx->pods, RESOURCE_SYNCED);
	need(store_commit(w->fx->store) == 0, "no commit");
}

/* Commit one change: a new state; deleted: the object's last state. */
static void
say(struct delivery_world *w, const char *name, unsigned uid, bool web, bool deleted)
{
	unsigned rv = delivery_log_state(w->log, name, uid, web, deleted);

	need(store_fixture_sayf(w->fx, deleted ? "DELETED" : "MODIFIED",
				"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":\"%u\","
				"\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"%s\"}}}",
				name, delivery_namespace(name), uid, rv, web ? "web" : "db") == 0,
	     name);
	commit(w);
}

static void
keep(struct delivery_world *w, enum delivery_moment moment)
{
	size_t committed = w->fx->arena->view.committed;

	w->arenas[moment] = calloc(1, committed);
	w->queues[moment] = malloc(queue_bytes(ENTRIES));
	need(w->arenas[moment] && w->queues[moment], "no memory");
	memcpy(w->arenas[moment], w->fx->arena->header, committed);
	memcpy(w->queues[moment], w->written, queue_bytes(ENTRIES));
	for (w->bytes = committed; w->arenas[moment][w->bytes - 1] == 0;)
		w->bytes--;
	delivery_log_moment(w->log, moment);
}

/* Make a change of each kind. */
static void
write_changes(struct delivery_world *w)
{
	say(w, "e", 1, true, false);
	say(w, "xstays", 1, true, false);
	say(w, "b", 1, true, true);
	say(w, "d", 1, true, false);
	say(w, "b", 2, true, false);
	say(w, "a", 1, false, false);
	if (w->way == DELIVERY_COALESCED || w->way == DELIVERY_RESYNC)
		for (unsigned i = 0; i <= ENTRIES; i++)
			say(w, "often", 1, true, false);
	if (w->way == DELIVERY_RESYNC) {
		say(w, "often", 1, true, true);
		say(w, "often", 2, true, false);
	}
}

static void
write_history(struct delivery_world *w)
{
	static const struct tombstone_limits short_memory = {1, 16u << 20, 300ull * 1000000000u};

	if (w->way == DELIVERY_RESYNC)
		store_set_tombstone_limits(w->fx->store, w->fx->pods, short_memory);
	commit(w);
	say(w, "a", 1, true, false);
	say(w, "b", 1, true, false);
	say(w, "d", 1, false, false);
	say(w, "stays", 1, true, false);
	say(w, "xstays", 1, true, false);
	subscribe(w, 0);
	w->written = mmap(NULL, queue_bytes(ENTRIES), PROT_READ, MAP_SHARED, w->queue_fds[0], 0);
	need(w->written != MAP_FAILED, "no queue");
	keep(w, BEFORE);

	if (w->way != DELIVERY_AGAIN)
		write_changes(w);
	keep(w, DURING);

	if (w->way != DELIVERY_AGAIN)
		say(w, "e", 1, true, true);
	say(w, "g", 1, true, false);
	say(w, "a", 1, true, false);
	subscribe(w, 1);
	keep(w, AFTER);
}

/* ---- the reader ---- */

/* Make two mappings of the same arena, each with its own copy of the bytes. */
static void
make_reader(struct delivery_world *w)
{
	w->inf = lone_reader_new(w->fx->arena, w->fx->arena->fd, w->slot_fds[0], 0);
	need(w->inf != NULL, "no reader");
	w->readers[0] = atomic_load(&w->inf->current);
	lone_reader_own(w->inf, w->slot_fds[0]);
	need(lone_reader_map(w->inf, w->fx->arena->fd, w->slot_fds[1], NULL, &w->readers[1]) == 0,
	     "no mapping");
	mapping_make_current(w->inf, w->readers[1]);
	lone_reader_own(w->inf, w->slot_fds[1]);
	memcpy((void *)(uintptr_t)w->readers[1]->header, w->arenas[AFTER], w->bytes);
}

struct delivery_world *
delivery_world_new(enum delivery_way way, enum delivery_handler handler)
{
	struct delivery_world *w = calloc(1, sizeof(*w));

	need(w != NULL, "no memory");
	w->way = way;
	w->kind = handler;
	w->fx = store_fixture_new(ARENA_BYTES);
	arena_set_state(w->fx->arena, HEADER_LIVE);
	need(fan_out_new(w->fx->store, FAN_OUT_LIMITS, &w->fan_out) == 0, "no fan-out");
	for (unsigned i = 0; i < 2; i++)
		w->slots[i] = lone_slot_new(&w->slot_fds[i]);
	w->log = delivery_log_new(handler == DELIVERY_LABELS, handler == DELIVERY_SCOPED);
	write_history(w);
	make_reader(w);
	w->full = full_tmpfs_file(ARENA_BYTES);
	return w;
}

void
delivery_world_free(struct delivery_world *w)
{
	informer_detach(w->inf);
	close(w->full);
	for (unsigned i = 0; i < 2; i++) {
		fan_out_unsubscribe(w->subscribers[i], true);
		close(w->queue_fds[i]);
		test_unmap_slot(w->slots[i]);
		close(w->slot_fds[i]);
	}
	munmap((void *)(uintptr_t)w->written, queue_bytes(ENTRIES));
	fan_out_free(w->fan_out);
	store_fixture_free(w->fx);
	for (unsigned i = 0; i < MOMENTS; i++) {
		free(w->arenas[i]);
		free(w->queues[i]);
	}
	delivery_log_free(w->log);
	free(w);
}

/* Put this moment where the first mapping reads. */
static void
put(struct delivery_world *w, enum delivery_moment moment)
{
	memcpy((void *)(uintptr_t)w->readers[0]->header, w->arenas[moment], w->bytes);
	memcpy(w->ring->queue, w->queues[moment], queue_bytes(ENTRIES));
}

/* Deliver this slot's queue, as SUBSCRIBED does, as memory of this process. */
static void
give_queue(struct delivery_world *w, unsigned slot)
{
	struct message_subscribed answer = {.entries = ENTRIES};

	pthread_mutex_lock(&w->inf->lock);
	atomic_store(&w->inf->current, w->readers[slot]);
	need(ring_new(w->inf, w->readers[slot], fcntl(w->queue_fds[slot], F_DUPFD_CLOEXEC, 3), &answer,
		      &w->ring) == 0,
	     "no ring");
	need(mmap(w->ring->queue, queue_bytes(ENTRIES), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
		  w->queue_fds[slot], 0) == w->ring->queue,
	     "no queue of its own");
	ring_free(atomic_exchange(&w->handler->work->sub.arrived, w->ring), false);
	pthread_mutex_unlock(&w->inf->lock);
}

static int
turns(struct delivery_world *w)
{
	int r = 1;

	for (unsigned i = 0; r > 0 && i < TURNS_MAX; i++)
		r = handler_turn(w->handler);
	return r;
}

void
delivery_begin(struct delivery_world *w)
{
	struct informer_handler_options o;

	delivery_log_forget(w->log);
	delivery_log_listen(w->log, w->kind == DELIVERY_VALUES, &o);
	o.label_selector = w->kind == DELIVERY_LABELS ? "app=web" : NULL;
	o.namespace_ = w->kind == DELIVERY_SCOPED ? "default" : NULL;
	o.resync_ms = w->way == DELIVERY_AGAIN ? 1000 : 0;
	need(informer_add_handler(w->inf, &o, &w->handler) == 0, "no handler");
	atomic_store(&w->readers[0]->slot->closed, 0);
	give_queue(w, 0);
	put(w, BEFORE);
	if (w->way != DELIVERY_INITIAL)
		need(turns(w) == 0, "the beginning could not be told");
	if (w->way == DELIVERY_AGAIN)
		w->handler->work->due_ns = 0; /* a period is over */
	put(w, DURING);
}

void
delivery_run(struct delivery_world *w)
{
	turns(w);
}

void
delivery_end(struct delivery_world *w)
{
	delivery_log_after(w->log);
	atomic_store(&w->readers[0]->slot->closed, 1);
	give_queue(w, 1);
	w->log->result = turns(w);
	informer_error_text(INFORMER_E_CORRUPT, w->log->error, sizeof(w->log->error));
	if (strcmp(w->log->error, informer_strerror(INFORMER_E_CORRUPT)) == 0)
		w->log->error[0] = '\0';
	error_set(0, "%s", "");
	w->log->listens = false;
	informer_remove_handler(w->handler);
	w->log->listens = true;
}

void
delivery_ranges(const struct delivery_world *w, struct access_range ranges[DELIVERY_RANGES])
{
	ranges[0] = (struct access_range){(void *)(uintptr_t)w->readers[0]->header, ARENA_BYTES};
	ranges[1] = (struct access_range){w->readers[0]->slot, SLOT_BYTES};
	ranges[2] = (struct access_range){w->ring->queue, (queue_bytes(ENTRIES) + PAGE - 1) / PAGE * PAGE};
}

/* ---- what happens to it ---- */

/* Map a file, or zeros, over pages of the arena. */
static void
map_over(struct delivery_world *w, size_t from, size_t bytes, int fd)
{
	uint8_t *at = (uint8_t *)(uintptr_t)w->readers[0]->header + from;

	need(mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0),
		  fd, 0) == at,
	     "nothing to put over the arena");
}

void
delivery_take_back(struct delivery_world *w, enum delivery_loss loss, uint64_t random)
{
	const struct mapping *m = w->readers[0];

	atomic_store(&m->slot->closed, 1);
	if (loss == DELIVERY_FULL) {
		/* a forked child's arena is guarded in this test alone */
		need(fault_guard_add(m->header, (size_t)m->max_bytes, m->slot) == 0, "no guard");
		map_over(w, HEADER_BYTES, w->bytes - HEADER_BYTES, w->full);
		return;
	}
	for (size_t i = HEADER_BYTES; i < w->bytes; i += PAGE, random = random >> 1 | random << 63)
		if (loss == DELIVERY_ALL || random % 2)
			map_over(w, i, PAGE, -1);
}

static uint64_t
draw(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

/* Change one word in so many: slightly, by one bit, or wholly. */
static void
scramble(uint8_t *bytes, size_t from, size_t to, uint64_t random)
{
	unsigned how = (unsigned)(draw(&random) % 3), one_in = 1u << draw(&random) % 8;

	for (size_t i = from; i + sizeof(uint64_t) <= to; i += sizeof(uint64_t)) {
		uint64_t word;

		if (draw(&random) % one_in)
			continue;
		memcpy(&word, bytes + i, sizeof(word));
		word = how == 0   ? word + draw(&random) % 16
		       : how == 1 ? word ^ 1ull << draw(&random) % 64
				  : random;
		memcpy(bytes + i, &word, sizeof(word));
	}
}

void
delivery_scramble(struct delivery_world *w, uint64_t random)
{
	if (random % 3)
		scramble((uint8_t *)(uintptr_t)w->readers[0]->header, HEADER_BYTES, w->bytes, random);
	if (random % 3 != 1)
		scramble((uint8_t *)w->ring->queue, 0, queue_bytes(ENTRIES), random);
}

struct delivery_log *
delivery_log_of(struct delivery_world *w)
{
	return w->log;
}
