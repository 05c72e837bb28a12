/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that an arena file is whole before a writer uses it: its identity, its root, and the tag of each
 * block that the root reaches.
 */
#ifndef WRITER_STORE_GENERATION_CHECK_H
#define WRITER_STORE_GENERATION_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "writer/arena/arena_copy.h"
#include "writer/arena/intern.h"
#include "writer/store/generation.h"

/* Was the identity written by the holder of our key? 0; -EBADMSG with a constant text in why */
int generation_check_identity(const struct arena_place *place, const struct header *h, const char **why);

/*
 * Check a copy (arena_copy.h) by a walk that also rebuilds its books.
 *
 * newest   epoch of the newest root by the source's header; 0: the header does not say
 * Returns  0; -EBADMSG with a sentence in message; -ENOMEM, other negative errno
 */
int generation_check_copy(struct arena *a, uint64_t newest, struct intern **ret_intern, uint64_t *ret_blocks,
			  char *message, size_t size);

#endif
