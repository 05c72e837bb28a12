/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the threads of several explored programs do. It is compiled as what they drive is: each access to
 * memory that is made here is seen. What they claim is claimed by explorer_claim().
 */
#ifndef TESTS_EXPLORER_STEPS_H
#define TESTS_EXPLORER_STEPS_H

#include "tests/explorer/pair.h"

/* The writer commits this pod, of a version from 1 to 9. */
void steps_put(struct pair *p, const char *name, unsigned version);

/* The same, and what is waited for by nobody is used again. */
void steps_replace(struct pair *p, const char *name, unsigned version);

/* So many pods besides that the resource has a shortcut, a commit each. */
void steps_put_many(struct pair *p);

/* The writer commits another resourceVersion of the pods, of three digits, and reuses, as above. */
void steps_commit(struct pair *p, const char *version);

/* Each add and update of pods is told to on_state. */
void steps_listen(struct informer_handler_options *options,
		  void (*on_state)(const struct informer_object *o));

/* Dispatch, and sleep when there is nothing to do, until *told is `last`. */
void steps_hear(struct pair *p, const unsigned *told, unsigned last);

/* The version of such a pod. */
unsigned steps_version(const struct informer_object *object);

/* The reader begins a snapshot, reads its root, and ends it. */
void steps_read(struct pair *p);

#endif
