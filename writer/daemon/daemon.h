/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Daemon: informerd from the first lock to the last commit, on one loop.
 *
 *	daemon_begin()       the lock: inherited, taken, or waited for (--standby)
 *	local_state_open()   key, arena: what was known is published before anything else, server or not
 *	broker               readers attach, and find the resources as they come
 *	discovery            tried again until the server answers; a name that nobody knows ends the daemon
 *	resources            LIST, or WATCH from the adopted RV, each on its own
 *	  each turn          read what is there, pop, apply, commit, wake
 *	SIGTERM, SIGINT      the last commit is finished, the arena marked STALE and left
 *	SIGHUP               the same, if the configuration is good (daemon_reload.c), and this process
 *	                     executes informerd anew (restart.h), which adopts the arena
 *	a stuck reader       the same, where it leaves no address space (daemon_room.c)
 *	discovery            the same, where no name means a resource that was adopted (daemon_resources.c)
 *
 * Ready is one thing, for systemd (READY=1), /readyz and the metric: every resource was whole once, but for
 * those on demand that nobody asked for and optional ones that the server lacks. One that the server refuses
 * was not. Until then systemd is asked for more time.
 */
#ifndef WRITER_DAEMON_DAEMON_H
#define WRITER_DAEMON_DAEMON_H

#include "writer/config/options.h"

/* DAEMON_UNANSWERED: --check could not ask the API server. */
enum daemon_exit { DAEMON_OK = 0, DAEMON_RUNTIME = 1, DAEMON_USAGE = 2, DAEMON_UNANSWERED = 3 };

/*
 * Run until a signal, or an error that cannot be waited out (logged). SIGPIPE must be ignored, SIGHUP,
 * SIGTERM and SIGINT be blocked, and sodium_init() have been called.
 *
 * options    with which the configuration was built; borrowed
 * text       of the file that it was built of (sealed_text.h), or -1; borrowed
 * config     borrowed
 *
 * Returns    what the process should exit with; not at all where it executes informerd anew
 */
int daemon_run(const struct options *options, int text, struct config *config);

#endif
