/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a path with O_PATH, which does not open the file itself, and checks its type. Then opens that same
 * file, even if another file has its name by now.
 */
#include "shm-layout/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int
plain_file_open(const char *path, struct stat *ret_st)
{
	int place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd;
	char again[sizeof("/proc/self/fd/") + 3 * sizeof(place)];

	memset(ret_st, 0, sizeof(*ret_st));
	if (place < 0)
		return -errno;
	fd = fstat(place, ret_st) < 0 ? -errno : S_ISREG(ret_st->st_mode) ? 0 : -EINVAL;
	if (fd == 0) {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
		fd = open(again, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	close(place);
	return fd;
}
