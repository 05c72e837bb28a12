/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a handler may be told, as a model: each step must be one that its object really took, in order, from
 * the state that was told before unless COALESCED or RESYNC said otherwise, and in the end what was told is
 * what is there. The first step that is not stands in view.error. For tests of events.
 */
#ifndef TESTS_SUPPORT_HANDLER_VIEW_H
#define TESTS_SUPPORT_HANDLER_VIEW_H

#include "tests/support/recorder_world.h"

#define KEYS 24
#define VERSIONS 40000

/* What was: of each version, which key, whether it is labelled "web"; and of each key what came after it. */
struct history {
	_Atomic unsigned last;				/* version given out */
	unsigned char key[VERSIONS], web[VERSIONS];
	unsigned uid[VERSIONS];				/* which incarnation */
	unsigned now[KEYS];				/* version present, 0: none */
	_Atomic bool was_deleted[VERSIONS];			/* it was the last of its incarnation */
	unsigned incarnation[KEYS];
};

/* What a handler believes. */
struct view {
	const char *what;
	struct history *history;
	struct informer *inf;
	struct informer_handler *handler;
	struct informer_handler_options options;
	bool web_only;
	_Atomic unsigned told[KEYS];		/* version that was told and stands, 0: none */
	unsigned newest[KEYS];			/* of all that were told */
	bool met[KEYS];				/* since on_resync_begin */
	_Atomic bool resyncing, synced;
	bool coalesced;
	uint64_t calls, overflows, resyncs, initials, updates, again;
	unsigned stall; /* gives way this often, of 1,000 calls */
	char error[200];
};

/*
 * Change a key and note it; no commit. A put creates, or updates; anew: deleted and created unseen. On the
 * broker's loop, as store_fixture.
 */
void history_put(struct history *history, struct broker_fixture *fx, unsigned key, bool web, bool anew);
void history_delete(struct history *history, struct broker_fixture *fx, unsigned key);
/* Put what is there again, as a list does. */
void history_list(const struct history *history, struct broker_fixture *fx);

/*
 * Add a handler of pods that is seen through v: zeroed, but web_only (label app=web), options and stall. Its
 * queue has 64 entries.
 */
void view_add(struct view *v, const char *what, struct history *history, struct informer *inf);
/* Whether what was told is what is there. */
bool view_agrees(const struct view *v);

#endif
