/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restart: informerd executes itself anew (execve), with the same pid and arguments. Lock and listening
 * socket stay open. So no other writer can come between, and readers that connect meanwhile wait in the
 * socket's queue.
 *
 *	finish, arena STALE ─▶ restart() ─▶ main() ─▶ restart_receive() ─▶ the lock is ours, adoption
 *
 * After a SIGHUP the next run is the program on disk, with the configuration text that its --check accepted.
 * After any other restart (a new generation, a resource that no name means or that was redefined) it is the
 * running program with the running text: what is on disk was not checked.
 */
#ifndef WRITER_DAEMON_RESTART_H
#define WRITER_DAEMON_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/daemon/lock.h"

/* Environment variable that gives the configuration's text to the next run and to a check (sealed_text.h). */
#define RESTART_TEXT_VARIABLE "INFORMERD_CONFIG"

/* Results of the reloads so far. Zeroed: none. */
struct reload_record {
	uint64_t succeeded, refused;
	uint64_t last_wall_ns; /* when the last one was decided; 0: none */
};

/* What the next run inherits. Zeroed: nothing. */
struct inheritance {
	struct lock lock;
	int listener; /* 0: none */
	struct reload_record reloads;
};

/* Which program and text the next run begins with. */
struct restart_what {
	bool from_disk; /* true: the program that arguments[0] means now; false: the running one */
	int text;       /* of the configuration (sealed_text.h); -1: read the file, if there is one */
};

/* Take what the previous run left in the environment, and remove it there. Zeroed: nothing was left. */
void restart_receive(struct inheritance *ret);

/*
 * Execute arguments[0], found as a shell finds it. If what.from_disk is false or that fails, execute the
 * running program. A blocked signal waits for the next run.
 *
 * Returns  negative errno: execution failed, and the inheritance is still here
 */
int restart(char *const *arguments, struct restart_what what, const struct inheritance *inheritance);

/* Release what was inherited. A zeroed one is fine. */
void inheritance_release(struct inheritance *inheritance);

#endif
