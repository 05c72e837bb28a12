/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the key file for local_state.c, and makes it when there is none. A new file appears whole or not at
 * all.
 */
#include "writer/daemon/key_load.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new file appears with its whole content or not at all: written beside, then linked to its name. */
static int
make_key_file(const char *path, char *why, size_t why_size)
{
	char beside[4096];
	uint8_t key[TAG_MASTER_BYTES];
	int fd, r = 0;

	if ((size_t)snprintf(beside, sizeof(beside), "%s.%ld", path, (long)getpid()) >= sizeof(beside))
		return -ENAMETOOLONG;
	unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		r = -errno;
		snprintf(why, why_size, "key file %s: cannot create it: %s", path, strerror(errno));
		return r;
	}
	randombytes_buf(key, sizeof(key));
	if (fchmod(fd, 0600) < 0 || write(fd, key, sizeof(key)) != sizeof(key) || link(beside, path) < 0)
		r = errno == EEXIST ? 0 : -errno;
	if (r < 0)
		snprintf(why, why_size, "key file %s: cannot write it: %s", path, strerror(-r));
	sodium_memzero(key, sizeof(key));
	close(fd);
	unlink(beside);
	return r;
}

int
key_load(const char *path, uint8_t ret_master[TAG_MASTER_BYTES], char *why, size_t why_size)
{
	int r = key_file_read(path, geteuid(), ret_master, why, why_size);

	if (r != -ENOENT)
		return r;
	r = make_key_file(path, why, why_size);
	return r < 0 ? r : key_file_read(path, geteuid(), ret_master, why, why_size);
}
