/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of a run; see remove_tree.h. */
#include "tests/bench/remove_tree.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

void
remove_tree(const char *directory)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
