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
 * A new generation with source's content, checked; of that only these pages, or all (NULL).
 * Returns  0; -ENOSPC two do not fit; -EBADMSG it is damaged; other negative errno. On failure nothing is
 * left
 */
int generation_copy(const struct arena_place *place, const struct arena_source *source, const uint64_t *pages,
		    struct arena *ret_arena, struct intern **ret_intern, struct adoption *ret);

/*
 * The same where two do not fit: the old one is checked where it lies; then, if even what is in use there
 * does not fit beside it, whoever reads there is revoked, and it is moved over, page by page. Returns  0;
 * -EBADMSG it is damaged; other negative errno. Where ret->moved is false nothing has changed; where it is
 *          true both files are left, and generation_move_on() goes on there
 */
int generation_move(const struct arena_place *place, const struct arena_source *source,
		    struct arena *ret_arena, struct intern **ret_intern, struct adoption *ret);

/*
 * Go on with a move from where its journal says; `arena` is the file that the content comes to, and is closed
 * on failure. Returns as generation_move()
 */
int generation_move_on(const struct arena_source *source, struct arena *arena, struct intern **ret_intern,
		       struct adoption *ret);

#endif
