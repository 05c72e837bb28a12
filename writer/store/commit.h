/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root's tag: made by the commit that writes a root (commit.c), checked when a new process takes over
 * what the last one left (generation.c).
 */
#ifndef WRITER_STORE_COMMIT_H
#define WRITER_STORE_COMMIT_H

#include <stdint.h>

#include "writer/arena/arena.h"

/* BLAKE2b over a root block's payload after the tag, its offset, and the arena's hash key. */
void commit_root_tag(const struct arena *arena, uint32_t ref, uint8_t ret_tag[TAG_ROOT_BYTES]);

#endif
