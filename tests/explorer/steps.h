/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps that threads of several explored programs share. This file is compiled as the explored sources are,
 * so that the explorer sees its accesses. Its claims are explorer_claim()s.
 */
#ifndef TESTS_EXPLORER_STEPS_H
#define TESTS_EXPLORER_STEPS_H

#include "tests/explorer/pair.h"

/* The writer commits this pod, with a version from 1 to 9. */
void steps_put(const char *name, unsigned version);

/* The same, and frees memory that no reader needs. */
void steps_replace(const char *name, unsigned version);

/* Commits enough further pods, one by one, that the resource gets a shortcut. */
void steps_put_many(void);

/* The writer commits a resourceVersion of three digits, and frees memory that no reader needs. */
void steps_commit(const char *version);

/* Make each add and update of pods call on_state(). */
void steps_listen(struct informer_handler_options *options,
		  void (*on_state)(const struct informer_object *o));

/* Dispatch until *told is `last`; sleep while there is nothing to do. */
void steps_hear(const unsigned *told, unsigned last);

/* The version of a pod that steps_put() made. */
unsigned steps_version(const struct informer_object *object);

/* The reader begins a snapshot, reads its root, and ends it. */
void steps_read(void);

#endif
