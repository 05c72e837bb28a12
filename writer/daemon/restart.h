/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restart: informerd replaces itself by the program on disk (execve), with the same pid and arguments. Lock
 * and listening socket stay open across it: no other writer can come between, and readers that connect
 * meanwhile wait in the socket's queue.
 *
 *	finish, arena STALE ─▶ restart() ─▶ main() ─▶ restart_receive() ─▶ the lock is ours, adoption
 *
 * A reload (SIGHUP), an upgrade, the move to a new generation, and the drop of a resource that no name means
 * all are this.
 */
#ifndef WRITER_DAEMON_RESTART_H
#define WRITER_DAEMON_RESTART_H

#include <stdint.h>

#include "writer/daemon/lock.h"

/* What became of reloads so far. Zeroed: there were none. */
struct reload_record {
	uint64_t succeeded, refused;
	uint64_t last_wall_ns; /* when the last one was decided; 0: never */
};

/* What the next run begins with. Zeroed: nothing. */
struct inheritance {
	struct lock lock;
	int listener; /* 0: none */
	struct reload_record reloads;
};

/* What the run before left, by the environment, which is cleared of it. Nothing is left: zeroed. */
void restart_receive(struct inheritance *ret);

/*
 * Execute arguments[0], found as a shell finds it, or this very program where that cannot be executed. A
 * signal that is blocked waits for the next run.
 *
 * Returns  negative errno: it could not be done, and the inheritance is still here
 */
int restart(char *const *arguments, const struct inheritance *inheritance);

/* Let go of what was left. A zeroed one is fine. */
void inheritance_release(struct inheritance *inheritance);

#endif
