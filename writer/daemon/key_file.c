/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the key file, and makes it when there is none, for local_state.c. A new file appears whole or not
 * at all; one that others could read, or of another length, is refused.
 */
#include "writer/daemon/key_file.h"

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
key_file_load(const char *path, uint8_t ret_master[TAG_MASTER_BYTES], char *why, size_t why_size)
{
	uint8_t key[TAG_MASTER_BYTES + 1];
	struct stat st;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), r;

	if (fd < 0 && errno == ENOENT) {
		r = make_key_file(path, why, why_size);
		if (r < 0)
			return r;
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd < 0) {
		r = -errno;
		snprintf(why, why_size, "key file %s: %s", path,
			 errno == ELOOP ? "it is a symbolic link" : strerror(errno));
		return r;
	}
	n = fstat(fd, &st) < 0 ? -1 : read(fd, key, sizeof(key));
	close(fd);
	r = -EPERM;
	if (n < 0)
		r = -errno, snprintf(why, why_size, "key file %s: %s", path, strerror(-r));
	else if (!S_ISREG(st.st_mode))
		snprintf(why, why_size, "key file %s: not a regular file", path);
	else if (st.st_uid != geteuid())
		snprintf(why, why_size, "key file %s: it belongs to user %u; remove it, or run as that user",
			 path, (unsigned)st.st_uid);
	else if (st.st_mode & 077)
		snprintf(why, why_size,
			 "key file %s: others may read it (mode %04o); remove it and start again", path,
			 (unsigned)st.st_mode & 07777);
	else if (n != TAG_MASTER_BYTES)
		snprintf(why, why_size, "key file %s: not %d bytes long; remove it, and a new one is made",
			 path, TAG_MASTER_BYTES);
	else
		r = 0;
	if (r == 0)
		memcpy(ret_master, key, TAG_MASTER_BYTES);
	sodium_memzero(key, sizeof(key));
	return r;
}
