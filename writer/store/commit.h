/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root's tag. A commit makes it when it writes a root (commit.c). A new writer checks it when it adopts
 * an arena (generation_check.c).
 */
#ifndef WRITER_STORE_COMMIT_H
#define WRITER_STORE_COMMIT_H

#include <stdint.h>

#include "writer/arena/arena.h"

/* BLAKE2b over a root block's payload after the tag, its offset, and the arena's hash key. */
void commit_root_tag(const struct arena *arena, uint32_t ref, uint8_t ret_tag[TAG_ROOT_BYTES]);

#endif
