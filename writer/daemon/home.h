/*
 * Home: what the daemon keeps on this machine: lock, key file, arena and store; opened in this order, closed in the
 * other one.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_HOME_H
#define WRITER_HOME_H

#include <stdbool.h>

#include "writer/store/adopt.h"
#include "writer/config/config.h"
#include "writer/daemon/lock.h"
#include "writer/arena/slots.h"
#include "writer/store/store.h"

struct home {
	struct lock lock;
	struct arena_place place;
	struct arena arena;
	bool has_arena;
	struct slots *slots;
	struct store *store;
	struct adoption adoption;
};

/*
 * Take the lock of the configured socket, find or make the arena, and publish it: the new generation is LIVE, what an
 * adopted one holds can be read at once. What there is to tell about adoption is logged.
 *
 * Returns 0, or negative errno with message; on failure nothing stays open
 */
int home_open(struct home *home, const struct config *config, char **ret_error);

/*
 * The arena stays, marked STALE: whole, and without a writer; but for one without any resource, which is worth nothing to
 * anybody. A zeroed home is fine.
 */
void home_close(struct home *home);

#endif
