/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the store answered when it was asked about a draft (store_look), in one word that travels with the
 * draft: whoever changes the store need not ask again. Only a change of the draft's own key makes it untrue.
 *
 *	FOUND_UNASKED     nobody asked, or the answer is no longer good
 *	ref               the known object with its key; the draft is a newer state of it
 *	FOUND_NEW | ref   the draft is a new object; another one, of another UID, still has its key
 *	FOUND_NEW         the draft is a new object, and nothing is known under its key
 */
#ifndef WRITER_STORE_FOUND_H
#define WRITER_STORE_FOUND_H

#include <stdint.h>

#include "shm-layout/block.h"

#define FOUND_UNASKED 0u
#define FOUND_NEW     0x80000000u
_Static_assert((FOUND_NEW & REF_MAX) == 0, "found: a ref takes its bit");

/* The known object with the draft's key, or 0. */
static inline uint32_t
found_known(uint32_t found)
{
	return found & REF_MAX;
}

#endif
