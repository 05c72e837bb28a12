/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leftovers: arena files of dead informerds that no process uses. They hold memory until the next informerd
 * of their name, or the next boot.
 *
 * A leftover is a regular file DIR/NAME.N or DIR/NAME.bad with an arena's header, of this user or, for root,
 * of any. Two conditions hold:
 * - A write lease is granted: no other process has the file open or mapped. A live informerd has, and each
 *   reader. The lease is held until the file is unlinked. An informerd that starts then begins without it.
 * - The last heartbeat is older than a minute. An informerd that executes itself anew, or is being restarted,
 *   has no arena open for a moment.
 */
#ifndef TOOLS_INFORMERCTL_LEFTOVERS_H
#define TOOLS_INFORMERCTL_LEFTOVERS_H

#include <stdbool.h>
#include <stdint.h>

#define LEFTOVERS_QUIET_NS UINT64_C(60000000000)

struct leftover {
	const char *path;
	uint64_t bytes;    /* of memory */
	uint64_t quiet_ns; /* since the last heartbeat */
	int result;        /* 0, or the negative errno of its removal */
};

/*
 * Tell of each leftover, after its removal if `remove`. Returns 0; negative errno: the directory cannot be
 * read.
 */
int leftovers_find(const char *directory, bool remove, void (*tell)(void *context, const struct leftover *),
		   void *context);

#endif
