/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local state: what the daemon keeps on this machine: lock, key file, arena and store; the lock comes first
 * (lock.h) and is let go last.
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

#define DEFAULT_ARENA_DIR "/dev/shm"

struct local_state {
	struct lock lock;
	struct arena_place place;
	struct arena arena;
	bool has_arena;
	struct pins *pins;
	struct store *store;
	struct adoption adoption;
	uint64_t system_bytes;		/* the size of its file system, as it was seen last */
};

/*
 * What can be seen to be wrong before the lock is ours: nothing is touched. Returns 0, or negative errno with
 * message; local_state_close() is fine after both.
 */
int local_state_prepare(struct local_state *local, const struct config *config, char **ret_error);

/*
 * Find or make the arena, and publish it: the new generation is LIVE, what an adopted one holds can be read
 * at once. What there is to tell about adoption is logged. It has been prepared.
 *
 * lock      of the configured socket; belongs to the local state in any case
 * Returns   0, or negative errno with message; on failure nothing stays open
 */
int local_state_open(struct local_state *local, const struct config *config, struct lock lock,
		     char **ret_error);

/*
 * See anew what memory the arena may have (arena_budget.h). Some system calls.
 * configured  arena.maxBytes
 * Returns     whether it is more than before
 */
bool local_state_fit_budget(struct local_state *local, uint64_t configured);

/*
 * With each heartbeat: the generation that ours replaced goes as soon as nobody reads there; beyond
 * patience_ns its readers are revoked. Logs.
 */
void local_state_expire(struct local_state *local, uint64_t patience_ns);

/* Room is wanted: what ours replaced goes at once. False: nothing did. Logs. */
bool local_state_make_room(struct local_state *local);

/*
 * The arena stays, marked STALE: whole, and without a writer; but for one without any resource, which is
 * worth nothing to anybody. A zeroed one is fine.
 */
void local_state_close(struct local_state *local);

#endif
