/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hangup: SIGHUP as a descriptor, from the process' first moment to its last.
 *
 * A loop's own signal handle would not do: the daemon ends one loop and begins another
 * (daemon/snapshot_limit.h), and between the two, as before the first, the signal would end the process.
 */
#ifndef WRITER_BASE_HANGUP_H
#define WRITER_BASE_HANGUP_H

#include <stdbool.h>

/*
 * From now on SIGHUP makes this descriptor readable, and does nothing else. Once a process. The descriptor,
 * or negative errno.
 */
int hangup_open(void);

/* Whether there was one since the last call; several count as one. */
bool hangup_take(int fd);

#endif
