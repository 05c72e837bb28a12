/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client of a conversation: one resource, cached as informerd caches it. Everything between the socket
 * and the arena is real: transport, ListerWatcher, Reflector, decoder, DeltaFIFO, pipeline, store. Only its
 * clock is virtual.
 *
 * Threads: the test's.
 */
#ifndef TESTS_CONVERSATIONS_CLIENT_H
#define TESTS_CONVERSATIONS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "tests/support/virtual_clock.h"
#include "writer/reflect/reflector.h"

struct talk_client;

/* The client's random numbers: always the lowest, always the highest, or drawn from `seed`. */
enum talk_dice { TALK_LOWEST, TALK_HIGHEST, TALK_DRAWN };

/* The syntax that the client asks for: JSON alone, as without a schema, or protobuf. */
enum talk_wire { TALK_JSON, TALK_PROTOBUF };

struct talk_client_options {
	uv_loop_t *loop;
	unsigned port;
	const char *resource;	/* as in --resource: "pods?watchList=false" */
	enum talk_dice dice;
	uint64_t seed;		/* DRAWN: not 0 */
	enum talk_wire wire;
};

/* Sends no request yet. Returns 0, or -EINVAL with the fault of the resource in *ret_error (free it). */
int talk_client_new(const struct talk_client_options *options, struct talk_client **ret, char **ret_error);
/* The caller runs the loop once more afterwards. NULL is fine. */
void talk_client_free(struct talk_client *c);
void talk_client_start(struct talk_client *c);

struct virtual_clock *talk_client_clock(struct talk_client *c);

/* Run timers that are due, and commit. Needs neither time nor the server. */
void talk_client_turn(struct talk_client *c);

struct talk_client_wire {
	uint64_t begun;		/* requests */
	unsigned under_way;	/* of these */
	uint64_t taken;		/* bytes of the bodies of all open watches */
	bool due;		/* a timer is due */
};
void talk_client_wire(const struct talk_client *c, struct talk_client_wire *ret);

/* True if the client asked for protobuf every time, and its last answer, if any, was in protobuf. */
bool talk_client_kept_to_protobuf(const struct talk_client *c);

void talk_client_status(const struct talk_client *c, struct reflector_status *ret);
/*
 * The published objects by name, and their RV: "a@5 b@7 at 20". "listing" replaces the RV while a list is
 * partial, "none" says that there is no RV. Free it.
 */
char *talk_client_store(const struct talk_client *c);
/*
 * The events published since the last call: "+a@5 synced a@5>a@21 -b@7 -c@9?". A "?" marks a deletion whose
 * final state was not seen. Free it.
 */
char *talk_client_told(struct talk_client *c);

#endif
