/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reload plan: what differs between the configuration that is in force and the one that was just read, and
 * what that costs.
 *
 *	fields     now      what a running daemon takes over as it is
 *	           later    what it cannot: it stays as it was, and is said
 *	entries    of the new configuration, each with the old one that it continues (or none), and how they
 *	           differ
 *	gone       old entries that none continues
 *
 * An entry continues the one of the same resource and namespace; what is left is paired in order, resource by
 * resource: their selection is another one, but what both select need not come again. Of one resource there
 * is never more than one entry a namespace (config_check_resolved()).
 *
 * A pure function of its arguments: nothing is read, nothing touched.
 */
#ifndef WRITER_RESOURCE_RELOAD_PLAN_H
#define WRITER_RESOURCE_RELOAD_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "writer/config/config.h"

#define RELOAD_NEW    SIZE_MAX	/* continues nothing */
#define RELOAD_FIELDS 64u

enum reload_change {
	/* another namespace, selector or version of the API: LIST, and a Replace as a difference */
	RELOAD_SELECTION = 1 << 0,
	RELOAD_KEEPS = 1 << 1,		/* more of each object is kept, which only the server has: LIST */
	RELOAD_DROPS = 1 << 2,		/* less of each object is kept: from what the store has, no LIST */
	RELOAD_INDEXES = 1 << 3,	/* from what the store has, no LIST */
	RELOAD_WORDS = 1 << 4,		/* only what is said about it: on demand, the order of things */
	RELOAD_CHOICES = 1 << 5,	/* watchList, pageSize, resourceVersion: with the next list */
	RELOAD_TOMBSTONES = 1 << 6,
	RELOAD_OPTIONAL = 1 << 7,
};
#define RELOAD_LISTS (RELOAD_SELECTION | RELOAD_KEEPS)

struct reload_entry {
	size_t from;			/* of the old configuration, or RELOAD_NEW */
	unsigned changes;		/* enum reload_change; 0 with RELOAD_NEW */
};

struct reload_plan {
	struct reload_entry *entries;
	size_t n_entries;
	size_t *gone;
	size_t n_gone;
	const char *now[RELOAD_FIELDS], *later[RELOAD_FIELDS];	/* as in the file: "arena.maxBytes" */
	size_t n_now, n_later;
};

/* resolved  what the names mean, as for config_check_resolved(): NULL where it is not known (yet) */
struct reload_side {
	const struct config *config;
	const struct kube_resource *const *resolved;
};

/* Returns 0, -ENOMEM. Give *ret to reload_plan_done(). */
int reload_plan_make(const struct reload_side *before, const struct reload_side *after,
		     struct reload_plan *ret);
void reload_plan_done(struct reload_plan *plan);

/* Nothing differs, or only what has to wait for a restart. */
bool reload_plan_is_empty(const struct reload_plan *plan);

/*
 * "logLevel; pods: indexes, drops; services: new; nodes: gone", for people; malloc'ed, NULL without memory.
 * "" for an empty plan.
 */
char *reload_plan_text(const struct reload_plan *plan, const struct config *before,
		       const struct config *after);
/* The fields that have to wait for a restart: "socket, arena.maxBytes". The same. */
char *reload_plan_later_text(const struct reload_plan *plan);

/*
 * What cannot change in a running daemon goes from the configuration in force into the new one, in
 * exchange.
 */
void reload_keep_later(struct config *before, struct config *after);

#endif
