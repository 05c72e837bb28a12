/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handle: what this room has of struct informer, and where the rooms above keep theirs.
 *
 * It begins with what informer_begin() reads; everything else stands behind it. No lock is taken by a lookup,
 * except that of the resources by the first one that meets a new definition. Order: the run's lock
 * (events/run.h), lock, the resources' lock (read/resource_open.h).
 */
#ifndef READER_LIB_ATTACH_HANDLE_H
#define READER_LIB_ATTACH_HANDLE_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#include "reader-lib/attach/slot_places.h"
#include "reader-lib/base/allocator.h"
#include "reader-lib/base/error.h"
#include "reader-lib/base/likely.h"
#include "reader-lib/informer.h"

enum connection_state { CONNECTION_DOWN, CONNECTION_GREETING, CONNECTION_UP };

/*
 * lock          guards what follows it, up to addresses
 * spare_mappings  structs that were mappings, to be used again
 * newest_serial of the last mapping
 * oldest_serial the lowest of mappings that may be read; both are written with `lock`
 * next_step_ns  informer_begin() drives the connection from then on (CLOCK_MONOTONIC)
 * epoll         of all that whoever waits for news polls
 * untold        in epoll: informer_begin() took news that dispatch has to tell
 * attempt_ns    DOWN: when to try; GREETING: when to look whether there is still no answer; UP: when to look
 *               again
 * greeting_ns   GREETING: since when
 * silent_ns     since when informerd has not answered; 0: it has, or there is none
 * failure       why it is not UP: a code, as informer_status() has it, and
 * reason        a sentence
 * hooks, resources, run, subscriptions   of the rooms above, in the same memory; set before anything else
 */
struct informer {
	_Atomic(struct mapping *) current;
	_Atomic uint32_t *alive;	/* a word that reads 0 in a forked child */

	pthread_mutex_t lock;
	struct mapping *mappings;
	struct mapping *spare_mappings;
	struct slot_places slot_places;
	_Atomic uint64_t newest_serial, oldest_serial;
	_Atomic uint64_t next_step_ns;
	enum connection_state connection;
	int socket;
	int epoll;
	int timer;
	int untold;
	uint64_t attempt_ns;
	uint64_t delay_ns;
	uint64_t greeting_ns;
	uint64_t silent_ns;
	uint64_t attaches;
	int failure;
	char reason[256];

	struct sockaddr_un addresses[2];
	unsigned address_count;
	uint32_t flags;
	char reader_name[64];
	void (*log)(void *context, enum informer_log_level level, const char *message);
	void *log_context;
	struct allocator memory;

	const struct connection_hooks *hooks;	/* connection.h */
	struct resources *resources;		/* read/resource_open.h */
	struct run *run;			/* events/run.h */
	struct subscriptions *subscriptions;	/* events/subscription.h */
};

/* Read the caller's options, as far as its header knows them; the rest is zero. 0 or -EINVAL. */
int handle_options_read(struct informer_options *ret_options, const struct informer_options *given);
/*
 * Make what this room has of a zeroed handle whose memory and hooks are set. handle_done() (connection.h) in
 * any case.
 * Returns 0; -ENAMETOOLONG or -EINVAL for the address; negative errno
 */
int handle_init(struct informer *inf, const struct informer_options *options);
/* Something could not be made that a handle needs: a sentence, also for the log. Returns -error. */
int handle_fail(struct informer *inf, int error, const char *what);
/* Take that down, for handle_done(). The handle's own memory is the caller's. */
void handle_close(struct informer *inf, bool in_child);

static inline bool
forked(const struct informer *inf)
{
	return unlikely(atomic_load_explicit(inf->alive, memory_order_relaxed) == 0);
}

static inline void *
memory_get(const struct informer *inf, size_t size)
{
	return allocator_get(&inf->memory, size);
}

static inline void
memory_put(const struct informer *inf, void *memory)
{
	allocator_put(&inf->memory, memory);
}

/* A line for the log of the handle's owner. */
void log_say(struct informer *inf, enum informer_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
