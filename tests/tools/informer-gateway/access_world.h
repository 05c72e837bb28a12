/* SPDX-License-Identifier: Apache-2.0 */
/* An API server that knows some tokens and grants, a clock that the test moves, and the last decision. */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_ACCESS_WORLD_H
#define TESTS_TOOLS_INFORMER_GATEWAY_ACCESS_WORLD_H

#include "tests/room.h"
#include "tests/support/review_server.h"
#include "tests/support/virtual_clock.h"
#include "tools/informer-gateway/access/access.h"

/* A token that expires 60 s after the world begins: {"exp":1700000060}. */
#define ACCESS_WORLD_JWT "h.eyJleHAiOjE3MDAwMDAwNjB9.s"

struct access_world {
	struct virtual_clock clock;
	struct review_server server;
	struct gw_access_config config;
	struct gw_config listeners;
	struct gw_config of_tokens;
	struct gw_listener_config *tokens; /* of of_tokens: reviews tokens, without a scope */
	struct gw_access *access;
	uint64_t client;        /* the asking client */
	struct gw_decision got; /* holds a reference to its identity */
	char *reason;
	unsigned decisions;
};

void access_world_open(struct access_world *w);
void access_world_close(struct access_world *w);
int access_world_set_up(void **state);
int access_world_tear_down(void **state);

#define ACCESS_TEST(name)                                                                                    \
	TEST_CASE_OF(struct access_world *w, access_world_set_up, access_world_tear_down, name)

/* A listener of this profile whose scope has the rule (NULL: no rule). Valid until the next call. */
struct gw_listener_config *access_world_listener(struct access_world *w, enum gw_profile profile,
						 const char *rule);

/* The callback for gw_access_ask(): stores the decision and counts it. */
void access_world_decided(void *ctx, const struct gw_decision *decision);

/* Ask. The API server has not answered yet. */
struct gw_check *access_world_begin(struct access_world *w, const struct gw_listener_config *l,
				    const char *authorization, const struct gw_attributes *attributes);
/* Ask and let the API server answer. Returns the outcome. */
enum gw_outcome access_world_ask(struct access_world *w, const struct gw_listener_config *l,
				 const char *authorization, const struct gw_attributes *attributes);

/* A request for pods. */
struct gw_attributes access_world_pods(const char *verb, const char *namespace_, const char *name);

#endif
