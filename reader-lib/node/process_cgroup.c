/* SPDX-License-Identifier: Apache-2.0 */
#include "reader-lib/node/process_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader-lib/base/error.h"

#define START_TIME_FIELD 22

/* Read what fits. Returns the length, or a negative errno. */
static ssize_t
read_file(int folder, const char *name, char *to, size_t size)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (length < size && ((n = read(fd, to + length, size - length)) > 0 || (n < 0 && errno == EINTR)))
		length += n > 0 ? (size_t)n : 0;
	n = n < 0 ? -errno : (ssize_t)length;
	close(fd);
	return n;
}

/* The second field is the program's name in parentheses, and may hold anything: count from its end. */
static int
check_start(int folder, uint64_t expected)
{
	char stat[1024];
	ssize_t length = read_file(folder, "stat", stat, sizeof(stat) - 1);
	const char *at;

	if (length < 0)
		return (int)length;
	stat[length] = '\0';
	at = strrchr(stat, ')');
	for (int field = 2; at && field < START_TIME_FIELD; field++)
		at = strchr(at + 1, ' ');
	return at && strtoull(at + 1, NULL, 10) == expected ? 0 : -ESRCH;
}

int
process_cgroup_read(pid_t pid, uint64_t start_time, char *ret_text, size_t size, size_t *ret_length)
{
	const char *proc = getenv("HOST_PROC");
	char path[256];
	ssize_t length = 0;
	int folder, r;

	if (!proc || !*proc)
		proc = "/proc";
	if ((size_t)snprintf(path, sizeof(path), "%s/%ld", proc, (long)pid) >= sizeof(path))
		return -ENAMETOOLONG;
	/* All files of an open folder are of one process: reads fail once that process is gone. */
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = folder < 0 ? -errno : 0;
	if (r == 0 && start_time != 0)
		r = check_start(folder, start_time);
	if (r == 0)
		length = read_file(folder, "cgroup", ret_text, size);
	if (folder >= 0)
		close(folder);
	if (r == 0 && length < 0)
		r = (int)length;
	if (r == -ENOENT || r == -ESRCH)
		return error_set(-ESRCH, "%s: no such process, or another one has this number now", path);
	if (r < 0)
		return error_set(r, "%s: %s", path, strerror(-r));
	*ret_length = (size_t)length;
	return 0;
}
