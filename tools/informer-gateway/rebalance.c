/* SPDX-License-Identifier: Apache-2.0 */
/* Shares, and who is asked when; see rebalance.h. */
#include "tools/informer-gateway/rebalance.h"

#include <stddef.h>

#define CLIENTS_MOST (1u << 20)
#define VAIN_FREE 3u

void
gw_rebalance_init(struct gw_rebalance *b, uint64_t id)
{
	*b = (struct gw_rebalance){.id = id};
}

void
gw_rebalance_heard(struct gw_rebalance *b, unsigned place, const struct gw_relay_word *word, uint64_t now_ms)
{
	struct gw_relay_told *told = &b->told[place];

	*told = (struct gw_relay_told){*word, now_ms, true};
	if (told->word.clients > CLIENTS_MOST)
		told->word.clients = CLIENTS_MOST;
}

void
gw_rebalance_forget(struct gw_rebalance *b, unsigned place)
{
	b->told[place] = (struct gw_relay_told){0};
}

static bool
counts(const struct gw_rebalance *b, unsigned place, uint64_t now_ms)
{
	const struct gw_relay_told *told = &b->told[place];

	if (!told->heard || !told->word.ready || told->word.id == b->id ||
	    now_ms - told->at_ms > GW_RELAY_HEARD_MS)
		return false;
	for (unsigned i = 0; i < place; i++)
		if (b->told[i].heard && b->told[i].word.id == told->word.id)
			return false;
	return true;
}

struct gw_share
gw_rebalance_share(const struct gw_rebalance *b, uint64_t own, uint64_t now_ms)
{
	struct gw_share s = {0};

	for (unsigned i = 0; i < GW_RELAYS_MAX; i++) {
		if (!counts(b, i, now_ms))
			continue;
		s.ready++;
		s.others += b->told[i].word.clients;
	}
	s.share = (own + s.others + s.ready) / (s.ready + 1);
	s.limit = s.share + (s.share >= 5 ? s.share / 5 : 1);
	return s;
}

static uint64_t
pause_after(unsigned vain)
{
	uint64_t pause = GW_MOVE_PAUSE_MS;

	for (unsigned i = VAIN_FREE; i < vain && pause < GW_MOVE_PAUSE_MOST_MS; i++)
		pause *= 2;
	return pause < GW_MOVE_PAUSE_MOST_MS ? pause : GW_MOVE_PAUSE_MOST_MS;
}

/* The one that was asked last: has it been seen elsewhere? */
static void
settle(struct gw_rebalance *b, uint64_t own, uint64_t others, uint64_t now_ms)
{
	uint64_t waited = now_ms - b->asked_ms;

	if (others > b->others_then) {
		b->waiting = false;
		b->vain = 0;
		b->moved++;
	} else if (waited >= GW_MOVE_WAIT_MS || (own >= b->own_then && waited >= GW_MOVE_PAUSE_MS)) {
		b->waiting = false;
		b->vain++;
		b->came_to_nothing++;
		b->next_ms = now_ms + pause_after(b->vain);
	}
}

bool
gw_rebalance_due(struct gw_rebalance *b, uint64_t own, uint64_t now_ms)
{
	struct gw_share s = gw_rebalance_share(b, own, now_ms);

	if (b->waiting)
		settle(b, own, s.others, now_ms);
	return !b->waiting && now_ms >= b->next_ms && s.ready > 0 && own > s.limit;
}

void
gw_rebalance_asked(struct gw_rebalance *b, uint64_t own, uint64_t now_ms)
{
	b->others_then = gw_rebalance_share(b, own, now_ms).others;
	b->own_then = own;
	b->asked_ms = now_ms;
	b->next_ms = now_ms + GW_MOVE_PAUSE_MS;
	b->waiting = true;
}
