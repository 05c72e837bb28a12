/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pulled handler records each call as a change and leaves off; informer_changes_next() returns the change.
 *
 *	informer_changes_next()   claim ─▶ conclude the last change ─▶ turns until a call came ─▶ let go
 *
 * Invariant: between two calls of informer_changes_next() the handler does nothing, and the snapshot of the
 * change's objects stays open. If the arena is taken back meanwhile, the next call notices and tells of the
 * object again.
 */
#ifndef READER_LIB_EVENTS_CHANGES_H
#define READER_LIB_EVENTS_CHANGES_H

#include "reader-lib/events/watch_error.h"
#include "reader-lib/informer-handlers.h"

/*
 * taken        the change is lent to the caller: no further call
 * object, old  targets of the change's pointers
 * met          target of the status's texts
 */
struct changes {
	bool taken;
	struct informer_change change;
	struct informer_object object, old;
	struct informer_watch_status status;
	struct watch_error met;
};

/* Make the options' functions record calls in `changes`, which lives as long as the handler. */
void changes_listen(struct changes *changes, struct informer_handler_options *options);

#endif
