/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the key file as input: its bytes become a key only if owner, mode and length are right.
 */
#include "shm-layout/key_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "shm-layout/plain_file.h"

int
key_file_read(const char *path, uid_t owner, uint8_t ret_master[TAG_MASTER_BYTES], char *why, size_t why_size)
{
	uint8_t key[TAG_MASTER_BYTES + 1];
	struct stat st;
	ssize_t n;
	int fd = plain_file_open(path, &st), r = -EPERM;

	if (fd < 0 && fd != -EINVAL) {
		snprintf(why, why_size, "key file %s: %s", path, strerror(-fd));
		return fd;
	}
	n = fd < 0 ? 0 : read(fd, key, sizeof(key));
	if (n < 0)
		r = -errno, snprintf(why, why_size, "key file %s: %s", path, strerror(-r));
	else if (fd < 0)
		snprintf(why, why_size, "key file %s: %s", path,
			 S_ISLNK(st.st_mode) ? "it is a symbolic link" : "not a regular file");
	else if (st.st_uid != owner)
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
	if (fd >= 0)
		close(fd);
	if (r == 0)
		memcpy(ret_master, key, TAG_MASTER_BYTES);
	sodium_memzero(key, sizeof(key));
	return r;
}
