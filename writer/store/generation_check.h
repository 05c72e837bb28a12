/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an arena file that a writer finds is whole: its identity, its root, the tag of each block that the
 * root reaches.
 */
#ifndef WRITER_STORE_GENERATION_CHECK_H
#define WRITER_STORE_GENERATION_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "writer/arena/arena_copy.h"
#include "writer/arena/intern.h"
#include "writer/store/generation.h"

/* Is the identity the one that the holder of our key wrote? 0; -EBADMSG, why is set to a constant text. */
int generation_check_identity(const struct arena_place *place, const struct header *h, const char **why);

/*
 * Check a copy (arena_copy.h), and rebuild its books by the walk that does it.
 *
 * newest   epoch of the newest root, as the source's header says it; 0: it does not
 * Returns  0; -EBADMSG with a sentence in message; -ENOMEM, other negative errno
 */
int generation_check_copy(struct arena *a, uint64_t newest, struct intern **ret_intern, uint64_t *ret_blocks,
			  char *message, size_t size);

#endif
