/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler that is pulled: its functions put each call down as a change, after which the handler leaves off;
 * informer_changes_next() gives the change away, and goes on behind it with its next call.
 *
 *	informer_changes_next()   claim ─▶ conclude the last change ─▶ turns until a call came ─▶ let go
 *
 * Invariant: between two calls of informer_changes_next() nothing of the handler moves, and the snapshot of
 * the change's objects stays open; the arena may be taken back, which the next call finds, and tells of the
 * object again.
 */
#ifndef READER_LIB_EVENTS_CHANGES_H
#define READER_LIB_EVENTS_CHANGES_H

#include "reader-lib/events/watch_error.h"
#include "reader-lib/informer-handlers.h"

/*
 * taken        the change is lent: no further call
 * object, old  what the change's pointers mean
 * met          what the status's texts mean
 */
struct changes {
	bool taken;
	struct informer_change change;
	struct informer_object object, old;
	struct informer_watch_status status;
	struct watch_error met;
};

/* Let the options' functions put calls down in `changes`, which stays as long as the handler. */
void changes_listen(struct changes *changes, struct informer_handler_options *options);

#endif
