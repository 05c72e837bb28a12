/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place is looked at by O_PATH, which opens nothing, and then what was looked at is opened, not whatever
 * has the name by then.
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
