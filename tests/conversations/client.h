/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client of a conversation: one resource as informerd caches it, with everything between the socket and
 * the arena real: transport, ListerWatcher, Reflector, decoder, DeltaFIFO, pipeline, store. Only its clock is
 * the test's.
 *
 * Threads: the test's one.
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

/* What chance says: the least, the most, or something in between drawn from `seed`. */
enum talk_dice { TALK_LOWEST, TALK_HIGHEST, TALK_DRAWN };

/* What the client asks for: JSON alone, as without a schema, or protobuf. */
enum talk_wire { TALK_JSON, TALK_PROTOBUF };

struct talk_client_options {
	uv_loop_t *loop;
	unsigned port;
	const char *resource;	/* as behind --resource: "pods?watchList=false" */
	enum talk_dice dice;
	uint64_t seed;		/* DRAWN: not 0 */
	enum talk_wire wire;
};

/* Nothing is asked for yet. 0, or -EINVAL with what is wrong with the resource in *ret_error (free it). */
int talk_client_new(const struct talk_client_options *options, struct talk_client **ret, char **ret_error);
/* The loop is to be run once more. NULL is fine. */
void talk_client_free(struct talk_client *c);
void talk_client_start(struct talk_client *c);

struct virtual_clock *talk_client_clock(struct talk_client *c);

/* Do what can be done without time or the server: timers that are due, and commits. */
void talk_client_turn(struct talk_client *c);

struct talk_client_wire {
	uint64_t begun;		/* requests */
	unsigned under_way;	/* of these */
	uint64_t taken;		/* bytes of the bodies of those watches that were opened, and are under way */
	bool due;		/* a timer is */
};
void talk_client_wire(const struct talk_client *c, struct talk_client_wire *ret);

/* It asks for protobuf and always did, and what came last, if anything, was that. */
bool talk_client_kept_to_protobuf(const struct talk_client *c);

void talk_client_status(const struct talk_client *c, struct reflector_status *ret);
/*
 * "a@5 b@7 at 20": what is published, by name; "listing" instead of the RV before it is whole, "none" without
 * any. Free it.
 */
char *talk_client_store(const struct talk_client *c);
/*
 * What handlers were told since the last call: "+a@5 synced a@5>a@21 -b@7 -c@9?"; ? says that its end was not
 * seen. Free it.
 */
char *talk_client_told(struct talk_client *c);

#endif
