/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who wants which changes of one resource: watchers, found by what a change is about.
 *
 *	                       ┌─ all ───────────────▶ every watcher without a value
 *	change ──▶ a look-up ──┼─ namespace ─────────▶ those of "default"
 *	                       ├─ key ───────────────▶ those of "default/web-0"
 *	                       └─ field=value ───────▶ those of spec.nodeName=n1 (now, or before)
 *
 * A watcher registers with the most selective thing it asks for; what else its selectors say, it looks at
 * itself. A change costs those it concerns, whatever the number of others: a watcher that sleeps is moved on
 * without a look at what passed it by.
 *
 * From the first position to the last that was noted for a watcher, and from where it began, it reads the log
 * itself, by its key.
 *
 * Ownership  a watcher is its owner's, and in the table until gw_watcher_remove()
 * Threads    one. wake() is called from gw_interests_wake() alone, and may add and remove any watcher
 * Cost       a change: a look-up for each kind that somebody asked for, and its watchers; 0.4 us with 5,000
 *            watchers of nodes. 120 bytes a watcher
 */
#ifndef TOOLS_INFORMER_GATEWAY_HISTORY_INTEREST_H
#define TOOLS_INFORMER_GATEWAY_HISTORY_INTEREST_H

#include <sys/queue.h>

#include "tools/informer-gateway/history/change_log.h"

/* What a watcher asks for. GW_FIELD + i: the i-th of resource->fields */
enum gw_interest { GW_ALL, GW_NAMESPACE, GW_KEY, GW_FIELD, GW_INTERESTS = GW_FIELD + API_FIELDS_MAX };

LIST_HEAD(gw_watchers, gw_watcher);

/*
 * read_to          the log from its position up to here has to be read; 0: none of it
 * noted_from, _to  behind that: the same; noted_to 0: none
 */
struct gw_watcher {
	struct gw_interests *interests;
	unsigned kind;
	char *value;
	uint64_t hash;
	LIST_ENTRY(gw_watcher) place;  /* in its bucket */
	LIST_ENTRY(gw_watcher) waking; /* among those to be woken, if woken */
	bool woken;
	uint64_t read_to, noted_from, noted_to, era;
	void (*wake)(void *context);
	void *context;
};

struct gw_interests {
	const struct gw_change_log *log;
	struct gw_watchers *buckets;
	size_t capacity; /* of buckets, a power of two, or 0 */
	size_t count;    /* of watchers */
	unsigned of_kind[GW_INTERESTS];
	struct gw_watchers waking;
};

void gw_interests_init(struct gw_interests *interests, const struct gw_change_log *log);
/* No watcher is left. */
void gw_interests_done(struct gw_interests *interests);

/*
 * Register. From now on the watcher is told of what concerns it; what is in the log already it reads.
 *
 * watcher   zeroed, but for wake and context
 * kind      enum gw_interest
 * value     of the field; the object's key; the namespace; "" with GW_ALL. Copied
 */
void gw_watcher_add(struct gw_interests *interests, struct gw_watcher *watcher, unsigned kind,
		    const char *value);
/* One that is not registered is fine. */
void gw_watcher_remove(struct gw_watcher *watcher);

/* It comes back with a position of its own choice: all that is in the log behind it has to be read. */
void gw_watcher_restart(struct gw_watcher *watcher);

/* A change was put into the log. Nobody is woken yet. */
void gw_interests_note(struct gw_interests *interests, uint64_t position);
/* The log began anew, or more than changes happened: everybody is to be woken. */
void gw_interests_note_all(struct gw_interests *interests);
/* Wake those who have something to look at, each once. Returns how many. */
unsigned gw_interests_wake(struct gw_interests *interests);

/*
 * The next change that concerns the watcher.
 *
 * position  where it stands; moved to the change that was found, or, where there is none, to the log's end
 * Returns   1 there is one at *position: the caller moves behind it; 0 there is none;
 *           -ESTALE: one that concerned it may be no longer in the log
 */
int gw_watcher_next(struct gw_watcher *watcher, uint64_t *position);

#endif
