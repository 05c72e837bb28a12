/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error that a resource's Reflector last met, as the arena records it (LAYOUT.md, STATUS), for on_error
 * and for the message of a wait that timed out.
 */
#ifndef READER_LIB_EVENTS_WATCH_ERROR_H
#define READER_LIB_EVENTS_WATCH_ERROR_H

#include "reader-lib/attach/snapshot.h"

struct watch_error {
	bool recovered;         /* the Reflector has recovered */
	int code;		/* HTTP status, or 0 */
	uint64_t hash;          /* of the whole status document */
	char reason[128];
	char message[1024];
};

/* ref: a resource's status, not 0. Returns 0, INFORMER_E_CORRUPT, INFORMER_E_EXPIRED. */
int watch_error_read(const struct snapshot *s, uint32_t ref, struct watch_error *ret);

#endif
