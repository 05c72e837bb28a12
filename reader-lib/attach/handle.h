/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handle (struct informer): the fields of this room, and pointers to those of the rooms above.
 *
 * The fields that informer_begin() reads come first. A lookup takes no lock, except the first lookup with a
 * new definition of a resource, which takes the resources' lock. Lock order: the run's lock (events/run.h),
 * lock, the resources' lock (read/resource_open.h).
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
#include "shm-layout/socket_place.h"

enum connection_state { CONNECTION_DOWN, CONNECTION_GREETING, CONNECTION_UP };

#define RETRY_LINES 8u

/* When a line may be written again (CLOCK_BOOTTIME). */
struct retry_line {
	uint64_t hash, again_ns;
};

/*
 * lock           guards the fields after it, up to place
 * spare_mappings structs of earlier mappings, to be reused
 * newest_serial  of the last mapping
 * oldest_serial  the lowest serial of a mapping that may be read; both serials are written with `lock`
 * next_step_ns   from this time on informer_begin() drives the connection (CLOCK_MONOTONIC)
 * epoll          has all descriptors that a waiting thread polls
 * untold         an eventfd in epoll: informer_begin() took news that informer_dispatch() must report
 * attempt_ns     DOWN: when to connect; GREETING: when to check for a missing answer; UP: when to check again
 * greeting_ns    when the state GREETING began
 * silent_ns      since when informerd has not answered; 0: it has answered, or there is no connection
 * failure        why the connection is not UP: the code that informer_status() reports
 * reason         the same as a sentence
 * retry_lines    written by log_retry(), by the hash of the line: lines of one place forget each other
 * places         where to connect, in this order. Once attached, the handle keeps to that place.
 * place          of the last attempt, if it connected; else 0
 * hooks, resources, run, subscriptions   of the rooms above, in the same allocation; set first
 */
struct informer {
	_Atomic(struct mapping *) current;
	_Atomic uint32_t *alive;	/* reads 0 in a forked child */

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
	struct retry_line retry_lines[RETRY_LINES];

	struct socket_place places[SOCKET_PLACES];
	unsigned place_count;
	unsigned place;
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

/* Copy the options that the caller's header knows; the rest is zero. Returns 0 or -EINVAL. */
int handle_options_read(struct informer_options *ret_options, const struct informer_options *given);
/*
 * Initialize this room's fields of a zeroed handle whose memory and hooks are set. Call handle_done()
 * (connection.h) even after a failure.
 * Returns 0; -ENAMETOOLONG or -EINVAL for the address; negative errno
 */
int handle_init(struct informer *inf, const struct informer_options *options);
/* Report that a part of the handle could not be made, also to the log. Returns -error. */
int handle_fail(struct informer *inf, int error, const char *what);
/* Undo handle_init(), for handle_done(). The caller owns the handle's memory. */
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

/* Write a line to the caller's log. */
void log_say(struct informer *inf, enum informer_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * The same, about what is tried again and again: the same line at most once an hour, unless there was a
 * success, log_recovered(), in between. With lock held.
 */
void log_retry(struct informer *inf, enum informer_log_level level, const char *line);
void log_recovered(struct informer *inf);

#endif
