/* SPDX-License-Identifier: Apache-2.0 */
/* Looks, under leases, and removes; see leftovers.h. */
#include "tools/informerctl/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shm-layout/header.h"
#include "shm-layout/plain_file.h"
#include "shm-layout/time_ns.h"

static bool
is_arena_name(const char *name)
{
	const char *suffix = strrchr(name, '.');

	return suffix && suffix != name &&
	       (strcmp(suffix, ".bad") == 0 || (suffix[1] && !suffix[1 + strspn(suffix + 1, "0123456789")]));
}

/* The time since the last heartbeat; 0: it is no arena, or its clock is not ours. */
static uint64_t
quiet_ns(int fd)
{
	uint64_t now = time_ns(CLOCK_BOOTTIME), last;
	struct header h;

	if (pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) || h.magic != HEADER_MAGIC)
		return 0;
	last = atomic_load_explicit(&h.heartbeat_boot_ns, memory_order_relaxed); /* of our copy */
	if (last < h.created_boot_ns)
		last = h.created_boot_ns;
	return last < now ? now - last : 0;
}

/* Take a write lease until fd is closed. The kernel signals us if a process opens the file: SIGURG is
 * ignored. */
static bool
take_lease(int fd)
{
	return fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
}

/* Whether the file behind fd is a leftover; holds the lease then. */
static bool
is_left(int fd, const struct stat *st, struct leftover *ret)
{
	ret->bytes = (uint64_t)st->st_blocks * 512;
	ret->quiet_ns = quiet_ns(fd);
	return (st->st_uid == geteuid() || geteuid() == 0) && st->st_nlink == 1 &&
	       ret->quiet_ns > LEFTOVERS_QUIET_NS && take_lease(fd);
}

int
leftovers_find(const char *directory, bool remove, void (*tell)(void *context, const struct leftover *),
	       void *context)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	char path[PATH_MAX];
	struct stat st;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		struct leftover found = {.path = path};
		int fd;

		if (!is_arena_name(entry->d_name) ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name) >= sizeof(path))
			continue;
		fd = plain_file_open(path, &st);
		if (fd < 0)
			continue;
		if (is_left(fd, &st, &found)) {
			found.result = remove && unlink(path) < 0 ? -errno : 0;
			tell(context, &found);
		}
		close(fd);
	}
	closedir(dir);
	return 0;
}
