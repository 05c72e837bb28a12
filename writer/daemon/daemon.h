/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon is informerd from the first lock to the last commit, on one loop.
 *
 *	daemon_begin()       gets the lock: inherited, taken, or waited for (--standby)
 *	local_state_open()   key and arena: what was known is published first, with or without an API server
 *	broker               readers attach, and find the resources as they come
 *	discovery            repeated until the server answers; a name that nobody knows ends the daemon
 *	resources            each one's LIST, or WATCH from the adopted RV
 *	  each turn          read what is there, pop, apply, commit, wake
 *	SIGTERM, SIGINT      finish the last commit, mark the arena STALE and leave it
 *	SIGHUP               the same if the configuration is good (daemon_reload.c); then the process
 *	                     executes informerd anew (restart.h), which adopts the arena
 *	a stuck reader       as SIGHUP, when the reader leaves no address space (daemon_room.c)
 *	discovery            as SIGHUP, when no name means an adopted resource any more (daemon_resources.c)
 *
 * "Ready" means the same for systemd (READY=1), /readyz and the metric: every resource was complete once.
 * Resources on demand that no reader asked for, and optional ones that the server lacks, do not count. A
 * resource that the server refuses is not complete. Until the daemon is ready it asks systemd for more time.
 */
#ifndef WRITER_DAEMON_DAEMON_H
#define WRITER_DAEMON_DAEMON_H

#include "writer/config/options.h"

/* DAEMON_UNANSWERED: --check or --estimate could not ask the API server. */
enum daemon_exit { DAEMON_OK = 0, DAEMON_RUNTIME = 1, DAEMON_USAGE = 2, DAEMON_UNANSWERED = 3 };

/*
 * Run until a signal, or an error that waiting does not solve (logged). The caller ignores SIGPIPE, blocks
 * SIGHUP, SIGTERM and SIGINT, and has called sodium_init().
 *
 * options  the options that built the configuration; borrowed
 * text     of the file that built it (sealed_text.h), or -1; borrowed
 * config   borrowed
 * Returns  the process's exit code; does not return when it executes informerd anew
 */
int daemon_run(const struct options *options, int text, struct config *config);

#endif
