/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_lag SOCKET run|dispatch RESOURCE NAMESPACE: a reader that counts what its handler is told and takes
 * the time since the change was sent, where the object says when that was (events_change). Prints READY once
 * it is synced, and at each SIGUSR1
 *
 *	EVENTS n COALESCED n RESYNC n P50 us P99 us
 *
 * of what came since the last one. Initial adds do not count. While it is told nothing it makes no system
 * call, whichever way it is driven.
 */
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reader-lib/informer.h"
#include "shm-layout/time_ns.h"

#define LAGS_MAX 100000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t events, coalesced, resyncs;
static uint64_t lags[LAGS_MAX];
static size_t n_lags;
static struct informer_path *sent[2];
static atomic_bool synced;
static volatile sig_atomic_t asked;

static uint64_t
sent_at(const struct informer_object *object)
{
	uint64_t newest = 0, at;
	const char *data;
	char text[32];
	size_t length;

	for (unsigned i = 0; i < 2; i++) {
		if (informer_get_string(object, sent[i], &data, &length) < 0 || length >= sizeof(text))
			continue;
		memcpy(text, data, length);
		text[length] = '\0';
		at = strtoull(text, NULL, 10);
		newest = at > newest ? at : newest;
	}
	return newest;
}

static void
take(const struct informer_object *object)
{
	uint64_t at = sent_at(object), now = time_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&lock);
	events++;
	if (at && n_lags < LAGS_MAX)
		lags[n_lags++] = now - at;
	pthread_mutex_unlock(&lock);
}

static void
on_add(void *context, const struct informer_object *object, bool is_initial)
{
	(void)context;
	if (!is_initial)
		take(object);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *object)
{
	(void)context;
	(void)old;
	take(object);
}

static void
on_delete(void *context, const struct informer_object *object, bool final_state_known)
{
	(void)context;
	(void)object;
	(void)final_state_known;
	pthread_mutex_lock(&lock);
	events++;
	pthread_mutex_unlock(&lock);
}

static void
on_overflow(void *context, enum informer_overflow kind)
{
	(void)context;
	pthread_mutex_lock(&lock);
	*(kind == INFORMER_COALESCED ? &coalesced : &resyncs) += 1;
	pthread_mutex_unlock(&lock);
}

static void
on_synced(void *context)
{
	(void)context;
	atomic_store(&synced, true);
}

static int
by_size(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

static void
report(void)
{
	pthread_mutex_lock(&lock);
	qsort(lags, n_lags, sizeof(*lags), by_size);
	printf("EVENTS %llu COALESCED %llu RESYNC %llu P50 %llu P99 %llu\n", (unsigned long long)events,
	       (unsigned long long)coalesced, (unsigned long long)resyncs,
	       n_lags ? (unsigned long long)lags[n_lags / 2] / 1000 : 0,
	       n_lags ? (unsigned long long)lags[n_lags * 99 / 100] / 1000 : 0);
	fflush(stdout);
	events = coalesced = resyncs = n_lags = 0;
	pthread_mutex_unlock(&lock);
}

static void
on_signal(int number)
{
	(void)number;
	asked = 1;
}

int
main(int argc, char **argv)
{
	struct informer_options options = {
		.size = sizeof(options), .socket_path = argv[1], .reader_name = "event_lag"};
	struct informer_handler_options o = {.size = sizeof(o),
					     .on_add = on_add,
					     .on_update = on_update,
					     .on_delete = on_delete,
					     .on_overflow = on_overflow,
					     .on_synced = on_synced};
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t blocked, while_waiting;
	struct informer *inf;
	bool threads, ready = false;

	if (argc != 5)
		return 2;
	threads = strcmp(argv[2], "run") == 0;
	o.resource = argv[3];
	o.namespace_ = argv[4];
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, &while_waiting);
	if (informer_attach(&options, &inf) < 0 ||
	    informer_path_compile(inf, "metadata.annotations.sent", 25, &sent[0]) < 0 ||
	    informer_path_compile(inf, "status.sent", 11, &sent[1]) < 0 ||
	    informer_add_handler(inf, &o, NULL) < 0 || (threads && informer_run(inf) < 0))
		return 1;
	if (threads && informer_wait_handler_synced(inf, NULL, 60000) < 0)
		return 1;
	for (;;) {
		struct pollfd fd = {.fd = informer_fd(inf), .events = POLLIN};

		if (!ready && atomic_load(&synced)) {
			ready = true;
			printf("READY\n");
			fflush(stdout);
		}
		if (asked) {
			asked = 0;
			report();
		}
		/* the signal arrives only here */
		if (ppoll(&fd, threads ? 0 : 1, NULL, &while_waiting) > 0)
			informer_dispatch(inf);
	}
}
