/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restart: informerd executes itself anew (execve), with the same pid and arguments. Lock and listening
 * socket stay open across it: no other writer can come between, and readers that connect meanwhile wait in
 * the socket's queue.
 *
 *	finish, arena STALE ─▶ restart() ─▶ main() ─▶ restart_receive() ─▶ the lock is ours, adoption
 *
 * After a SIGHUP the next run is the program on disk, with the configuration text that its --check accepted.
 * After any other restart (a new generation, a resource that no name means or that was defined anew) it is
 * the running program with the running text: nobody has checked what is on disk by then.
 */
#ifndef WRITER_DAEMON_RESTART_H
#define WRITER_DAEMON_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/daemon/lock.h"

/* Names the text of the configuration to the next run, and to a check (sealed_text.h). */
#define RESTART_TEXT_VARIABLE "INFORMERD_CONFIG"

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

/* By what it begins. */
struct restart_what {
	bool from_disk; /* the program that arguments[0] means now, else the one that runs */
	int text;	/* of the configuration (sealed_text.h); -1: it reads the file, if there is one */
};

/* What the run before left, by the environment, which is cleared of it. Nothing is left: zeroed. */
void restart_receive(struct inheritance *ret);

/*
 * Execute arguments[0], found as a shell finds it, or this very program where that is not wanted or cannot be
 * executed. A signal that is blocked waits for the next run.
 *
 * Returns  negative errno: it could not be done, and the inheritance is still here
 */
int restart(char *const *arguments, struct restart_what what, const struct inheritance *inheritance);

/* Let go of what was left. A zeroed one is fine. */
void inheritance_release(struct inheritance *inheritance);

#endif
