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

/* The version of such a pod. */
unsigned steps_version(const struct informer_object *object);

/* The reader begins a snapshot, reads its root, and ends it. */
void steps_read(struct pair *p);

#endif
