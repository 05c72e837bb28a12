/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts a tmpfs without a name, which ends with its descriptor. */
#include "tests/support/full_tmpfs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

int
small_tmpfs(const char *options)
{
	char directory[] = "/tmp/informer-tmpfs-XXXXXX";
	int fd = -1;

	if (mkdtemp(directory) && mount("informer-test", directory, "tmpfs", 0, options) == 0) {
		fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		umount2(directory, MNT_DETACH);
	}
	rmdir(directory);
	return fd;
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
	int directory = small_tmpfs("size=64k"), fd;

	if (directory < 0)
		return memfd_create("beyond-its-end", MFD_CLOEXEC);
	fd = openat(directory, "hole", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	fill(openat(directory, "full", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	close(directory);
	if (ftruncate(fd, (off_t)bytes) < 0) {
		perror("full_tmpfs: a file of holes");
		abort();
	}
	return fd;
}
