/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rebalance: whether a relay has more than its share of clients, and when it may ask one to move. It knows
 * numbers and times alone; who the relays are and how one hears of them is relays.h's.
 *
 *	share   all clients of ready relays, divided by these relays, rounded up
 *	limit   the share and a fifth of it, one at least: below it nobody is asked
 *
 * A client is asked only while another relay is ready, and one at a time: the next one when the others say
 * that they have more than before, or we have as many as before, or 5 s later. Who was asked and came back
 * here (its Service sent it so) was asked in vain, and so was one for whom a relay lies that has room and
 * never fills: after three in a row the pause doubles, up to five minutes. So a liar's harvest is a client
 * each five minutes, and none below the share that it makes up.
 *
 * What a relay said counts for 15 s. Numbers are others' words: they are clamped, and two addresses of one
 * relay, or our own, are found by the id that it drew at its start.
 *
 * Threads   one
 */
#ifndef TOOLS_INFORMER_GATEWAY_REBALANCE_H
#define TOOLS_INFORMER_GATEWAY_REBALANCE_H

#include <stdbool.h>
#include <stdint.h>

#define GW_RELAYS_MAX 64u
#define GW_RELAY_HEARD_MS 15000u
#define GW_MOVE_WAIT_MS 5000u
#define GW_MOVE_PAUSE_MS 1000u
#define GW_MOVE_PAUSE_MOST_MS 300000u

/* What a relay says of itself. */
struct gw_relay_word {
	uint64_t id;
	bool ready;
	uint64_t clients;
};

struct gw_rebalance {
	uint64_t id; /* ours */
	struct gw_relay_told {
		struct gw_relay_word word;
		uint64_t at_ms;
		bool heard;
	} told[GW_RELAYS_MAX]; /* by place: an address has one */
	bool waiting;          /* for the one that was asked last */
	uint64_t asked_ms, next_ms;
	uint64_t own_then, others_then;
	unsigned vain;         /* in a row */
	uint64_t moved, came_to_nothing;
};

struct gw_share {
	unsigned ready; /* other relays */
	uint64_t others; /* their clients */
	uint64_t share;  /* ours; what we have, when no other is ready */
	uint64_t limit;
};

void gw_rebalance_init(struct gw_rebalance *b, uint64_t id);
/* The newest word from a place (below GW_RELAYS_MAX), and that it has none any more. */
void gw_rebalance_heard(struct gw_rebalance *b, unsigned place, const struct gw_relay_word *word,
			uint64_t now_ms);
void gw_rebalance_forget(struct gw_rebalance *b, unsigned place);

struct gw_share gw_rebalance_share(const struct gw_rebalance *b, uint64_t own, uint64_t now_ms);
/* Is one of `own` clients to be asked now? Also takes note of what became of the last one. */
bool gw_rebalance_due(struct gw_rebalance *b, uint64_t own, uint64_t now_ms);
/* One was. */
void gw_rebalance_asked(struct gw_rebalance *b, uint64_t own, uint64_t now_ms);

#endif
