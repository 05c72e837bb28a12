/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Daemon: informerd from the first lock to the last commit, on one loop.
 *
 *	daemon_succeed()     the lock: taken, waited for, or handed over by who serves (succession.h)
 *	local_state_open()   key, arena: what was known is published before anything else, server or not
 *	broker               readers attach, and find the resources as they come
 *	discovery            tried again until the server answers; a name that nobody knows ends the daemon
 *	resources            LIST, or WATCH from the adopted RV, each on its own
 *	  each turn          read what is there, pop, apply, commit, wake
 *	SIGHUP               the configuration is read again (reload.h)
 *	SIGTERM, SIGINT      the last commit is finished, the arena marked STALE and left
 *
 *	a successor          the same, and lock and socket are handed over to it
 *	a stuck reader       all is ended in good order and begun again, over a new generation
 *	                     (snapshot_limit.h)
 *
 * Ready is one thing, for systemd (READY=1), /readyz and the metric: every resource was whole once, but for
 * those on demand that nobody asked for and optional ones that the server lacks. One that the server refuses
 * was not. Until then systemd is asked for more time.
 */
#ifndef WRITER_DAEMON_DAEMON_H
#define WRITER_DAEMON_DAEMON_H

#include "writer/config/options.h"

enum daemon_exit { DAEMON_OK = 0, DAEMON_RUNTIME = 1, DAEMON_USAGE = 2 };

/*
 * Run until a signal, or an error that cannot be waited out (logged). SIGPIPE must be ignored, and
 * sodium_init() have been called.
 *
 * options    with which the configuration was built, and is built again on SIGHUP (reload.h); borrowed
 * config     becomes the one that is in force at the end; the caller's to free
 * hangup     hangup_open()'s descriptor, or negative: nobody reloads
 *
 * Returns what the process should exit with
 */
int daemon_run(const struct options *options, struct config *config, int hangup);

#endif
