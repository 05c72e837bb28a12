/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena with pods, whose changes a test writes as upstream would send them, and the gateway's side of it.
 * The notation:
 *
 *	say     "a101"      a was added or changed at RV 101
 *	        "a101:n2"   and is on the node n2 (else n1)
 *	        "a101=web"  and its label app is web (else its name)
 *	        "a101#2"    and is another object of that name
 *	        "-a105"     a was deleted at RV 105
 *	        "-a?"       a is gone, and its deletion was not seen
 *	        "x/a101"    in the namespace x (else default)
 *	        "@110"      everything up to RV 110 is published
 *	        "@?"        a list is being applied
 *	heard   "+a101 a102 -a105 ?a110 @110"   ADDED, MODIFIED, DELETED, MODIFIED with an unknown old state
 */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_ARENA_WORLD_H
#define TESTS_TOOLS_INFORMER_GATEWAY_ARENA_WORLD_H

#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tools/informer-gateway/views/arena_store.h"
#include "tools/informer-gateway/views/arena_view.h"
#include "tools/informer-gateway/views/gateway_arena.h"

#define ARENA_WORLD_TEXT 8192

struct arena_world {
	struct broker_fixture *fx;
	struct gw_arena_options options;
	struct gw_arena *arena;
	struct gw_entry *pods;
	struct gw_store *store; /* without a hint */
	uint64_t position;
	uint64_t now_ms; /* the gateway's clock */
	struct api_share history, views;
	char text[ARENA_WORLD_TEXT];
};

/* The world with `said` published before the gateway starts. generations: another informerd can take over. */
struct arena_world *arena_world_new(const char *said, bool generations);
void arena_world_free(struct arena_world *w);
int arena_world_tear_down(void **state);

/* Start the gateway (again): its log begins with what is published. */
void arena_world_open(struct arena_world *w);
struct arena_world *arena_world_opened(const char *said, bool generations);
void arena_world_close(struct arena_world *w);

/* Say, and commit once. */
void arena_world_say(struct arena_world *w, const char *said);
/* Dispatch until the log has reached this RV. */
void arena_world_reach(struct arena_world *w, uint64_t rv);
/* Say what ends with "@RV", and dispatch until the log has reached it. */
void arena_world_tell(struct arena_world *w, const char *said);
/* Dispatch until nothing is left to do. */
void arena_world_pump(struct arena_world *w);

/* The store's events from its position on, valid until the next call; "410" if the position is gone. */
const char *arena_world_heard(struct arena_world *w, struct gw_store *store, uint64_t *position);
/* The world's own store hears this from its position on, or from after an RV on; "410" if it cannot. */
void arena_world_expect(struct arena_world *w, const char *heard);
void arena_world_expect_from(struct arena_world *w, uint64_t rv, const char *heard);
/* A view as "a101 b102"; "410", "again". */
const char *arena_world_view(struct arena_world *w, uint64_t rv, const struct gw_hint *hint);
/* Narrow a view by a copy of the hint. */
int arena_world_choose(struct api_view *view, const struct gw_hint *hint);
/* Make the view ready, and seek. */
void arena_world_seek(struct api_view *view, const char *key);

/* Dispatch until the condition holds. It takes far fewer dispatches, also under a sanitizer. */
#define ARENA_DISPATCHES_MAX 5000
#define arena_world_until(w, condition)                                                                      \
	do {                                                                                                 \
		for (int dispatches = 0; !(condition) && dispatches < ARENA_DISPATCHES_MAX; dispatches++)    \
			arena_world_wait_some(w);                                                            \
		assert_true(condition);                                                                      \
	} while (0)
/* Wait a moment for something to come, and dispatch. */
void arena_world_wait_some(struct arena_world *w);

#endif
