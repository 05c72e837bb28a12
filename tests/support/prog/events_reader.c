/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_reader SOCKET DIR NAME SEED KIND: a reader with handlers that write down what they are told
 * (tests/support/event_model.h), a file each in DIR. KIND:
 *
 *	plain	one handler, of all pods
 *	late	the same, which is not dispatched from when it has its queue until SIGUSR1
 *	steady	two handlers that are never held up, with a large queue
 *	wild	handlers at random: of any selectors, with small queues, resyncs, a consumer of
 *		the name NAME; added, removed, held back and slowed down, and, while there is a file DIR.hold,
 *		now and then a snapshot held open
 *
 * SIGUSR1: nothing at random any more, and all at full speed. SIGTERM: end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "reader-lib/informer.h"
#include "shm-layout/time_ns.h"
#include "tests/support/event_model.h"
#include "tests/support/told_state.h"

#define HANDLERS 4

struct told {
	struct informer_handler *handler;
	int fd;
	_Atomic unsigned slow_us;
	bool paused, named;
};

static volatile sig_atomic_t ends, settles;
static struct event_model_random dice;
static struct informer *inf;
static struct told *told[HANDLERS];
static const char *directory, *reader;
static unsigned files;

static void
on_signal(int number)
{
	if (number == SIGTERM)
		ends = 1;
	settles = 1;
}

/* One write for each line: a killed process leaves whole lines. */
static void
put(const struct told *t, const char *line, int length)
{
	if (write(t->fd, line, (size_t)length) != length) {
		fprintf(stderr, "events_reader: cannot write: %s\n", strerror(errno));
		_exit(1);
	}
}

static void
be_slow(const struct told *t)
{
	unsigned us = atomic_load(&t->slow_us);

	if (us)
		usleep(us);
}

/* The arena was revoked during this call, which took too long: discard what was read. */
static bool
put_expired(const struct told *t, char type, const struct told_state *s)
{
	char line[256];

	if (s->expired)
		put(t, line, snprintf(line, sizeof(line), "I %c %s\n", type, s->key));
	return s->expired;
}

static void
on_add(void *context, const struct informer_object *object, bool is_initial)
{
	char line[512];
	struct told_state s;

	told_state_of(object, &s);
	if (put_expired(context, 'A', &s))
		return;
	put(context, line,
	    snprintf(line, sizeof(line), "A %d %s %s %s %016llx %llu\n", is_initial, s.key, s.uid, s.rv,
		     (unsigned long long)s.hash, (unsigned long long)s.seq));
	be_slow(context);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *object)
{
	struct told_state s, o = {.rv = "-"};
	char line[512];

	told_state_of(object, &s);
	if (old == object)
		strcpy(o.rv, "=");
	else if (old)
		told_state_of(old, &o);
	s.expired |= o.expired;
	if (put_expired(context, 'U', &s))
		return;
	put(context, line,
	    snprintf(line, sizeof(line), "U %s %s %s %016llx %s %016llx %llu\n", s.key, s.uid, s.rv,
		     (unsigned long long)s.hash, o.rv, (unsigned long long)o.hash,
		     (unsigned long long)s.seq));
	be_slow(context);
}

static void
on_delete(void *context, const struct informer_object *object, bool final_state_known)
{
	char line[512];
	struct told_state s;

	told_state_of(object, &s);
	if (put_expired(context, 'D', &s))
		return;
	put(context, line,
	    snprintf(line, sizeof(line), "D %d %s %s %s %016llx %llu\n", final_state_known, s.key, s.uid,
		     s.rv, (unsigned long long)s.hash, (unsigned long long)s.seq));
	be_slow(context);
}

static void
on_overflow(void *context, enum informer_overflow kind)
{
	put(context, kind == INFORMER_COALESCED ? "C\n" : "R\n", 2);
}

static void
on_resync_begin(void *context)
{
	put(context, "B\n", 2);
}

static void
on_resync_end(void *context)
{
	put(context, "E\n", 2);
}

static void
on_synced(void *context)
{
	put(context, "S\n", 2);
}

static void
on_done(void *context)
{
	struct told *t = context;

	put(t, "X\n", 2);
	close(t->fd);
	free(t);
}

/* A consumer's handler is the same in each process, and its file continues. */
static struct told *
add(bool steady, bool named, bool plain)
{
	struct event_model_random fixed = {
		.state = strtoull(reader + strcspn(reader, "0123456789"), NULL, 10)};
	struct event_model_random *d = named ? &fixed : &dice;
	unsigned ns = event_model_draw(d, EVENT_MODEL_NAMESPACES + 2),
		 label = event_model_draw(d, EVENT_MODEL_LABELS + 2),
		 field = event_model_draw(d, EVENT_MODEL_FIELDS + 2);
	static const uint32_t queues[] = {0, 64, 16, 8};
	struct informer_handler_options o = {.size = sizeof(o),
					     .resource = "pods",
					     .on_add = on_add,
					     .on_update = on_update,
					     .on_delete = on_delete,
					     .on_overflow = on_overflow,
					     .on_resync_begin = on_resync_begin,
					     .on_resync_end = on_resync_end,
					     .on_synced = on_synced,
					     .on_done = on_done};
	struct told *t = calloc(1, sizeof(*t));
	char path[1024], line[256];
	int r;

	if (!t)
		exit(1);
	label = label < EVENT_MODEL_LABELS ? label : 0;
	field = field < EVENT_MODEL_FIELDS ? field : 0;
	if (plain) {
		ns = EVENT_MODEL_NAMESPACES;
		label = field = 0;
	}
	o.namespace_ = ns < EVENT_MODEL_NAMESPACES ? event_model_namespaces[ns] : "";
	o.label_selector = event_model_labels[label];
	o.field_selector = event_model_fields[field];
	o.queue_entries = steady ? 65536 : plain ? 0 : queues[event_model_draw(d, 4)];
	o.resync_ms = !plain && event_model_draw(d, 4) == 0 ? 1000 : 0;
	o.consumer = named ? reader : NULL;
	o.context = t;
	t->named = named;
	snprintf(path, sizeof(path), named ? "%s/%s.named" : "%s/%s.%d.%u", directory, reader, (int)getpid(),
		 files++);
	t->fd = open(path, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
	if (t->fd < 0)
		exit(1);
	put(t, line,
	    snprintf(line, sizeof(line), "H %d %s %u %u %d %d\n", (int)getpid(),
		     *o.namespace_ ? o.namespace_ : "-", label, field, named, steady));
	r = informer_add_handler(inf, &o, &t->handler);
	if (r < 0) {
		informer_error_text(r, line, sizeof(line));
		fprintf(stderr, "events_reader: %s\n", line);
		exit(1);
	}
	return t;
}

static void
at_random(void)
{
	unsigned which = event_model_draw(&dice, HANDLERS);
	struct informer_snapshot held;
	struct told *t = told[which];
	char path[1024];

	if (!t) {
		told[which] = add(false, false, false);
		return;
	}
	switch (event_model_draw(&dice, 6)) {
	case 0:
		if (t->named)
			break;
		told[which] = NULL;
		informer_remove_handler(t->handler);
		break;
	case 1:
	case 2:
		t->paused = !t->paused;
		informer_pause_handler(t->handler, t->paused);
		break;
	case 3:
		atomic_store(&t->slow_us, event_model_draw(&dice, 2) ? 0 : event_model_draw(&dice, 30000));
		break;
	case 4:
		/* longer than the daemon allows: it moves on, and no queue continues unbroken */
		snprintf(path, sizeof(path), "%s.hold", directory);
		if (event_model_draw(&dice, 4) == 0 && access(path, F_OK) == 0 &&
		    informer_begin(inf, &held) == 0) {
			for (int i = 0; i < 20 && !settles; i++)
				usleep(100000);
			informer_end(&held);
		}
		break;
	default:
		break;
	}
}

static void
settle(void)
{
	for (unsigned i = 0; i < HANDLERS; i++) {
		if (!told[i])
			continue;
		atomic_store(&told[i]->slow_us, 0);
		informer_pause_handler(told[i]->handler, false);
	}
}

static uint64_t
now_ms(void)
{
	return time_ns(CLOCK_MONOTONIC) / 1000000;
}

static bool
has_queue(const struct told *t)
{
	struct informer_handler_stats stats = {.size = sizeof(stats)};

	return informer_handler_stats(t->handler, &stats) == 0 && stats.subscribed;
}

int
main(int argc, char **argv)
{
	struct informer_options options = {
		.size = sizeof(options), .socket_path = argv[1], .reader_name = "events_reader"};
	struct sigaction action = {.sa_handler = on_signal};
	bool steady, plain, late, threads, settled = false;
	uint64_t next = 0;

	if (argc != 6)
		return 2;
	directory = argv[2];
	reader = argv[3];
	dice.state = strtoull(argv[4], NULL, 10);
	steady = strcmp(argv[5], "steady") == 0;
	late = strcmp(argv[5], "late") == 0;
	plain = late || strcmp(argv[5], "plain") == 0;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	if (informer_attach(&options, &inf) < 0)
		return 1;
	told[0] = add(steady, !plain && !steady && event_model_draw(&dice, 8) != 0, plain);
	told[1] = plain ? NULL : add(steady, false, false);
	threads = !late && event_model_draw(&dice, 2) == 0;
	if (threads && informer_run(inf) < 0)
		return 1;
	/* random actions happen between dispatches, or beside threads that dispatch */
	while (!ends) {
		struct pollfd fd = {.fd = informer_fd(inf), .events = POLLIN};

		if (settles && !settled) {
			settle();
			settled = true;
		}
		if (threads || (late && !settled && has_queue(told[0])))
			usleep(20000);
		else if (poll(&fd, 1, 20) > 0)
			informer_dispatch(inf);
		if (!settles && !steady && !plain && now_ms() >= next) {
			next = now_ms() + 50 + event_model_draw(&dice, 500);
			at_random();
		}
	}
	informer_stop(inf);
	informer_detach(inf);
	return 0;
}
