/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local state: what the daemon keeps on this machine: lock, key file, arena and store; opened in this order,
 * closed in the other one.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_DAEMON_LOCAL_STATE_H
#define WRITER_DAEMON_LOCAL_STATE_H

#include <stdbool.h>

#include "writer/store/generation.h"
#include "writer/config/config.h"
#include "writer/daemon/lock.h"
#include "writer/arena/pins.h"
#include "writer/store/store.h"

struct local_state {
	struct lock lock;
	struct arena_place place;
	struct arena arena;
	bool has_arena;
	struct pins *pins;
	struct store *store;
	struct adoption adoption;
};

/*
 * Take the lock of the configured socket, find or make the arena, and publish it: the new generation is LIVE,
 * what an adopted one holds can be read at once. What there is to tell about adoption is logged.
 *
 * Returns 0, or negative errno with message; on failure nothing stays open
 */
int local_state_open(struct local_state *local, const struct config *config, char **ret_error);

/*
 * The arena stays, marked STALE: whole, and without a writer; but for one without any resource, which is
 * worth nothing to anybody. A zeroed one is fine.
 */
void local_state_close(struct local_state *local);

#endif
