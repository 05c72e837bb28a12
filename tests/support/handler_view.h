/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of what a handler may be told. Each step must be one that its object took, in order, from the state
 * told before, unless COALESCED or RESYNC was told. In the end the last state told is the present one.
 * view.error names the first violation.
 */
#ifndef TESTS_SUPPORT_HANDLER_VIEW_H
#define TESTS_SUPPORT_HANDLER_VIEW_H

#include "tests/support/recorder_world.h"

#define KEYS 24
#define VERSIONS 40000

/* The history: of each version the key and the label "web"; of each key the present version. */
struct history {
	_Atomic unsigned last;				/* version in use */
	unsigned char key[VERSIONS], web[VERSIONS];
	unsigned uid[VERSIONS];				/* the key's incarnation */
	unsigned now[KEYS];				/* present version; 0: none */
	_Atomic bool was_deleted[VERSIONS];			/* the last version of its incarnation */
	unsigned incarnation[KEYS];
};

/* What a handler was told. */
struct view {
	const char *what;
	struct history *history;
	struct informer *inf;
	struct informer_handler *handler;
	struct informer_handler_options options;
	bool web_only;
	_Atomic unsigned told[KEYS];		/* version told last; 0: none */
	unsigned newest[KEYS];			/* newest version told */
	bool met[KEYS];				/* told since on_resync_begin */
	_Atomic bool resyncing, synced;
	bool coalesced;
	uint64_t calls, overflows, resyncs, initials, updates, again;
	unsigned stall; /* yields in this many of 1,000 calls */
	char error[200];
};

/*
 * Change a key and record it, without a commit. A put creates or updates; anew: deletes and creates unseen.
 * Runs on the broker's loop.
 */
void history_put(struct history *history, struct broker_fixture *fx, unsigned key, bool web, bool anew);
void history_delete(struct history *history, struct broker_fixture *fx, unsigned key);
/* Put all present objects again, as a list does. */
void history_list(const struct history *history, struct broker_fixture *fx);

/*
 * Add a handler of pods whose calls v checks. v is zeroed, but for web_only (label app=web), options and
 * stall. The handler's queue has 64 entries.
 */
void view_add(struct view *v, const char *what, struct history *history, struct informer *inf);
/* True if the handler was told the present state. */
bool view_agrees(const struct view *v);

#endif
