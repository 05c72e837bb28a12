/* SPDX-License-Identifier: Apache-2.0 */
/* An object as a reader sees it, in the words of the tests' records (tests/support/event_model.h). */
#ifndef TESTS_SUPPORT_TOLD_STATE_H
#define TESTS_SUPPORT_TOLD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "reader-lib/informer.h"

/* Unknown texts are "-". */
struct told_state {
	char key[128], uid[64], rv[32];
	uint64_t hash;	/* event_model_hash(); 0: only the key is known */
	uint64_t seq;
	bool expired;	/* expired while it was read: only a key other than "?" is valid */
};

void told_state_of(const struct informer_object *object, struct told_state *ret);

#endif
