/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who wants which changes of one resource: watchers, found by what a change is about.
 *
 *	                       ┌─ all ───────────────▶ every watcher without a key
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

enum gw_interest { GW_ALL, GW_NAMESPACE, GW_KEY, GW_FIELD };

LIST_HEAD(gw_watchers, gw_watcher);

/*
 * kind, field, value   what it asks for: GW_FIELD: which of resource->fields, and its value; GW_KEY: the
 *                      object's key; GW_NAMESPACE: the namespace. value is copied
 * read_to              the log from its position up to here has to be read; 0: none of it
 * noted_from, _to      behind that: the same; noted_to 0: none
 */
struct gw_watcher {
	struct gw_interests *interests;
	enum gw_interest kind;
	unsigned field;
	char *value;
	uint64_t hash;
	LIST_ENTRY(gw_watcher) place;  /* among those with the same hash, or those of all */
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
	size_t count;    /* of watchers in them */
	struct gw_watchers all, waking;
	unsigned by_namespace, by_key, by_field[API_FIELDS_MAX]; /* how many watchers */
	bool wake_all;                                           /* something concerns those without a key */
	/* a bit for each field that keeps its value once it has one: then the state before need not be known
	 */
	unsigned lasting;
};

void gw_interests_init(struct gw_interests *interests, const struct gw_change_log *log);
/* No watcher is left. */
void gw_interests_done(struct gw_interests *interests);

/*
 * Register. From now on the watcher is told of what concerns it; what is in the log already it reads.
 *
 * watcher   zeroed, but for kind, field, wake and context
 * value     of the kind; NULL with GW_ALL. Copied
 */
void gw_watcher_add(struct gw_interests *interests, struct gw_watcher *watcher, const char *value);
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
