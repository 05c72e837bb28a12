/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to the broker, as a state machine that never waits:
 *
 *	DOWN ──connect, HELLO──▶ GREETING ──WELCOME──▶ UP
 *	  ▲                         │                   │
 *	  └──── refused, hang-up, silence, nonsense ────┘		the arena stays mapped and readable
 *
 * DOWN tries again after 10 ms, then twice as long, up to 1 s. Each arena that comes becomes current at once;
 * snapshots of the old one stay valid.
 *
 * Threads: all with the handle's `lock` held, but connection_dispatch() and connection_open().
 */
#ifndef READER_LIB_ATTACH_CONNECTION_H
#define READER_LIB_ATTACH_CONNECTION_H

#include "reader-lib/attach/handle.h"

/*
 * What the connection does for rooms that it does not know: what they have to say goes over it. All with
 * `lock` held.
 *
 * step     at the end of each step: send what can be sent
 * attached the arena that came with WELCOME became current
 * lost     the connection is gone
 * receive  a packet came, while it is UP. Takes over its count descriptors; fds NULL: some came, and this
 *          process could open no more. False: the packet makes no sense (or is none of theirs), and the
 *          descriptors are still the caller's
 */
struct connection_hooks {
	void (*step)(struct informer *inf);
	void (*attached)(struct informer *inf);
	void (*lost)(struct informer *inf);
	bool (*receive)(struct informer *inf, const void *packet, size_t length, const int *fds,
			unsigned count);
};

/* Do what can be done without waiting. Returns whether something changed. */
bool connection_step(struct informer *inf);
/* The same, with the lock held by nobody. Counts news that informer_begin() took before. */
bool connection_dispatch(struct informer *inf);
/*
 * The first attempt, with the lock held by nobody: a daemon that listens, starts or ends gets a moment to
 * answer.
 */
void connection_first_attempt(struct informer *inf);
/* Take down the connection, the mappings that came over it, and the handle. */
void handle_done(struct informer *inf, bool in_child);
/* While it is UP: look again at this time (CLOCK_MONOTONIC), or earlier. */
void connection_timer(struct informer *inf, uint64_t at_ns);
/* A connected socket, or negative errno with a message. For informer_stat_json() as well. */
int connection_open(struct informer *inf, bool nonblocking);

#endif
