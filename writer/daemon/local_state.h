/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local state: what the daemon keeps on this machine: lock, key file, arena and store. The lock is taken
 * first (lock.h) and released last.
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
	uint64_t system_bytes; /* size of the arena's file system, as last seen */
	bool shared;           /* other programs use that file system */
};

/*
 * Check what can be checked before we have the lock; changes nothing on disk. Returns 0, or negative errno
 * with message. local_state_close() is fine after both.
 */
int local_state_prepare(struct local_state *local, const struct config *config, char **ret_error);

/* After local_state_prepare(): log a warning if the arena's directory is not in memory. */
void local_state_warn_of_disk(const struct local_state *local, const struct config *config);

/*
 * After local_state_prepare(): find or make the arena, and publish it. The new generation is LIVE, and the
 * content of an adopted arena can be read at once. Logs how adoption went.
 *
 * lock     of the configured socket; taken over, also on failure
 * Returns  0, or negative errno with message; on failure nothing stays open
 */
int local_state_open(struct local_state *local, const struct config *config, struct lock lock,
		     char **ret_error);

/*
 * Set the arena's budget anew (arena_budget.h). Some system calls.
 * configured  arena.maxBytes
 * Returns     whether the budget grew
 */
bool local_state_fit_budget(struct local_state *local, uint64_t configured);

/* Whether the next informerd cannot copy the arena for want of the `held` bytes (arena_budget.h). */
bool local_state_is_held_up(const struct local_state *local, uint64_t held);

/*
 * Why the arena cannot grow, and what to do: "cannot grow the arena /dev/shm/informer.1 beyond 63 MiB:
 * /dev/shm has …". After local_state_open().
 */
void local_state_explain_budget(const struct local_state *local, const struct config *config, char *text,
				size_t size);

/*
 * Called with each heartbeat: free the generation that ours replaced when nobody reads there. After
 * patience_ns its readers are revoked. Logs.
 */
void local_state_expire(struct local_state *local, uint64_t patience_ns);

/* Room is needed: free the generation that ours replaced at once. False: there was none. Logs. */
bool local_state_make_room(struct local_state *local);

/*
 * Close everything. The arena stays, complete and marked STALE; an arena without any resource is removed. A
 * zeroed struct is fine.
 */
void local_state_close(struct local_state *local);

#endif
