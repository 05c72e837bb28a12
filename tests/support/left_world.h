/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a writer leaves that is gone, or that does not answer: its lock file with the note, the key file, its
 * arena with the pod default/a; no broker. For tests of readers that nobody serves.
 */
#ifndef TESTS_SUPPORT_LEFT_WORLD_H
#define TESTS_SUPPORT_LEFT_WORLD_H

#include <sys/types.h>

#include "reader-lib/informer.h"
#include "tests/support/generations.h"
#include "tests/support/store_fixture.h"
#include "writer/daemon/lock.h"

struct left_world {
	void *dir;
	char *socket, *lock_path, *key_path;
	struct generations generations;
	struct lock lock;
	struct arena *arena;
	struct store_fixture *store;
};

/* For cmocka: *state is the world; a writer lives, has published, and does not listen. */
int left_world_set_up(void **state);
int left_world_tear_down(void **state);

/* A writer starts: takes the lock, adopts what is there, publishes, and says where. */
void left_world_start(struct left_world *w);
/* It puts default/NAME, and commits. */
void left_world_put(struct left_world *w, const char *name);
/* It is gone, as by kill -9: nobody writes, the header still says that it lives. */
void left_world_die(struct left_world *w);
/* The lock is free, but the test may look at the arena. */
void left_world_release(struct left_world *w);
/* Its key file: so many bytes of this value. That of the arena is 32 of 7. */
void left_world_key(const struct left_world *w, int value, size_t length, mode_t mode);

struct informer *left_world_attach(const struct left_world *w, uint32_t flags);
/* What a lookup of default/NAME says, by a handle that is made for it (INFORMER_ORPHAN) when inf is NULL. */
int left_world_get(const struct left_world *w, struct informer *inf, const char *name);

#endif
