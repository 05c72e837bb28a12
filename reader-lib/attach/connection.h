/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to the broker, as a state machine that never waits:
 *
 *	DOWN ──connect, HELLO──▶ GREETING ──WELCOME──▶ UP
 *	  ▲                         │                   │
 *	  └──── refused, hang-up, silence, nonsense ────┘		the arena stays readable
 *
 * DOWN retries at once after UP, else after 10 ms, then after twice as long each time, up to 1 s. Each arena
 * that arrives becomes current at once. Snapshots of the old arena stay valid.
 *
 * Threads: call with the handle's `lock` held, unless a function says otherwise.
 */
#ifndef READER_LIB_ATTACH_CONNECTION_H
#define READER_LIB_ATTACH_CONNECTION_H

#include "reader-lib/attach/handle.h"

/*
 * Calls to the rooms above, which send and receive over the connection. All with `lock` held.
 *
 * step      each step ends: send what can be sent
 * attached  the arena that came with WELCOME became current
 * lost      the connection went DOWN; also called after each failed attempt
 * receive   a packet arrived while UP. Takes over its `count` descriptors. fds NULL: this process could not
 *           open all of them. False: the packet is invalid or unknown, and the caller keeps the descriptors
 */
struct connection_hooks {
	void (*step)(struct informer *inf);
	void (*attached)(struct informer *inf);
	void (*lost)(struct informer *inf);
	bool (*receive)(struct informer *inf, const void *packet, size_t length, const int *fds,
			unsigned count);
};

/* Do what needs no waiting. Returns whether something changed. */
bool connection_step(struct informer *inf);
/* The same, without `lock`. Also reports changes that informer_begin() took from the descriptors. */
bool connection_dispatch(struct informer *inf);
/*
 * The first attempt, without `lock`. Waits at most 100 ms for the answer of a daemon that listens, starts or
 * ends.
 */
void connection_first_attempt(struct informer *inf);
/* Close the connection, all mappings and the handle, at detach. Without `lock`. */
void handle_done(struct informer *inf, bool in_child);
/* While UP: make informer_fd() readable at this time (CLOCK_MONOTONIC), or earlier. */
void connection_timer(struct informer *inf, uint64_t at_ns);
/*
 * A connected socket that never blocks, or negative errno with a message. ret_place: its index in places.
 */
int connection_open(struct informer *inf, unsigned *ret_place);

#endif
