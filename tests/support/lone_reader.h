/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of the library's over an arena and a slot that a test has at hand: nobody gave them to it over a
 * socket, and nobody looks at the slot.
 */
#ifndef TESTS_SUPPORT_LONE_READER_H
#define TESTS_SUPPORT_LONE_READER_H

#include "reader-lib/informer.h"
#include "shm-layout/slot.h"
#include "writer/arena/arena.h"

/* A slot's file and the slot in it. Aborts when it cannot be had. */
struct slot *lone_slot_new(int *ret_fd);

/*
 * The arena's own descriptor and the slot's are duplicated. flags: INFORMER_VERIFY has the arena's keys.
 * NULL: the arena was refused, or cannot be mapped.
 */
struct informer *lone_reader_new(const struct arena *arena, int arena_fd, int slot_fd, uint32_t flags);

/*
 * Arena and slot, as their files have them, become this process's own, where they are mapped: it may write
 * there, and no other sees it. A forked child has its own again, and may use the handle.
 */
void lone_reader_own(struct informer *inf, int slot_fd);

/*
 * Who verifies believes no arena in which he met damage: what was damaged is put back, and he is to believe
 * it again. all: nothing counts as checked either. Without INFORMER_VERIFY there is nothing to do.
 */
void lone_reader_trust_again(struct informer *inf, bool all);

/* The file as it is, in place of the zeros that a reader mapped when the header said that it is revoked. */
void lone_reader_map_again(struct informer *inf);

#endif
