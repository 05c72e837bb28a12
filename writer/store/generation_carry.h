/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carrying an arena's content over into a new generation (generation.h says which, and what follows).
 *
 * Each takes and sets in `ret`: generation, the number wished for, and the one that it got; bytes, blocks,
 * times; on failure a sentence in message.
 */
#ifndef WRITER_STORE_GENERATION_CARRY_H
#define WRITER_STORE_GENERATION_CARRY_H

#include "writer/arena/arena_copy.h"
#include "writer/arena/intern.h"
#include "writer/store/generation.h"

/*
 * A new arena file: empty (source NULL), or one that a source's content is to come to.
 * Returns as arena_create(), without a message
 */
int generation_create(const struct arena_place *place, const struct arena_source *source,
		      struct arena *ret_arena, struct adoption *ret);

/*
 * A new generation with source's content, checked.
 * Returns  0; -ENOSPC two do not fit; -EBADMSG it is damaged; other negative errno. On failure nothing is
 * left
 */
int generation_copy(const struct arena_place *place, const struct arena_source *source,
		    struct arena *ret_arena, struct intern **ret_intern, struct adoption *ret);

#endif
