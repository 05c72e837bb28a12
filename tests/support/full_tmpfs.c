/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tmpfs that has no name any more as soon as it is there: it goes with the descriptor.
 */
#include "tests/support/full_tmpfs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

static int
open_there(const char *directory, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static void
fill(int fd)
{
	char page[4096];

	memset(page, 'x', sizeof(page));
	while (fd >= 0 && write(fd, page, sizeof(page)) > 0)
		;
	close(fd);
}

int
full_tmpfs_file(size_t bytes)
{
	char directory[] = "/tmp/informer-full-XXXXXX";
	int fd = -1;

	if (mkdtemp(directory) && mount("informer-test", directory, "tmpfs", 0, "size=64k") == 0) {
		fd = open_there(directory, "hole");
		fill(open_there(directory, "full"));
		umount2(directory, MNT_DETACH);
	}
	rmdir(directory);
	if (fd < 0)
		return memfd_create("beyond-its-end", MFD_CLOEXEC);
	if (ftruncate(fd, (off_t)bytes) < 0) {
		perror("full_tmpfs: a file of holes");
		abort();
	}
	return fd;
}
