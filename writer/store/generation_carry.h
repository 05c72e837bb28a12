/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries an arena's content over into a new generation. generation.h says which arena, and what follows.
 *
 * Both functions use `ret`: they take the wished number in generation and set the number used, bytes, blocks
 * and times. On failure they set a sentence in message.
 */
#ifndef WRITER_STORE_GENERATION_CARRY_H
#define WRITER_STORE_GENERATION_CARRY_H

#include "writer/arena/arena_copy.h"
#include "writer/arena/intern.h"
#include "writer/store/generation.h"

/*
 * Make a new arena file: empty (source NULL), or for a source's content.
 * Returns as arena_create(), without a message
 */
int generation_create(const struct arena_place *place, const struct arena_source *source,
		      struct arena *ret_arena, struct adoption *ret);

/*
 * Make a new generation with source's content, checked.
 *
 * Returns  0; -ENOSPC no memory for both; -EBADMSG the content is damaged; other negative errno. On failure
 *          no file is left.
 */
int generation_copy(const struct arena_place *place, const struct arena_source *source,
		    struct arena *ret_arena, struct intern **ret_intern, struct adoption *ret);

#endif
