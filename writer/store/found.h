/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's answer about a draft (store_look()) in one word. The word travels with the draft, so the store
 * need not be asked again. It stays true until the draft's own key changes in the store.
 *
 *	FOUND_UNASKED     the store was not asked, or the answer is no longer true
 *	ref               the known object with its key; the draft is a newer state of it
 *	FOUND_NEW | ref   the draft is a new object; an object with another UID still has its key
 *	FOUND_NEW         the draft is a new object, and no object has its key
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
