/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a writer that is gone or does not answer: the lock file with the note, the key file, and its
 * arena with the pod default/a. There is no broker. For tests of readers without a daemon.
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

/* A writer starts: takes the lock, adopts the arena, publishes, and writes the note. */
void left_world_start(struct left_world *w);
/* The writer puts default/NAME, and commits. */
void left_world_put(struct left_world *w, const char *name);
/* The writer dies, as by kill -9: the header still says that it lives. */
void left_world_die(struct left_world *w);
/* Free the lock; the test may still use the arena. */
void left_world_release(struct left_world *w);
/* Write the key file: this many bytes of this value. The arena's key is 32 bytes of 7. */
void left_world_key(const struct left_world *w, int value, size_t length, mode_t mode);

struct informer *left_world_attach(const struct left_world *w, uint32_t flags);
/* What a lookup of default/NAME says. inf NULL: by a handle made for the call (INFORMER_ORPHAN). */
int left_world_get(const struct left_world *w, struct informer *inf, const char *name);

#endif
