/* SPDX-License-Identifier: Apache-2.0 */
/* A small file's content in sealed memory; see sealed_text.h. */
#include "writer/base/sealed_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "writer/base/file.h"
#include "writer/base/message.h"
#include "writer/base/number.h"

#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

int
sealed_text_read(const char *path, size_t max, int *ret_fd, char **ret_error)
{
	size_t length = 0, written = 0;
	char *data;
	int fd, r;

	*ret_fd = -1;
	if (!path)
		return 0;
	r = file_read(path, max, &data, &length, ret_error);
	if (r < 0)
		return r;
	fd = memfd_create("informer-text", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	r = fd < 0 ? -errno : 0;
	while (r == 0 && written < length) {
		ssize_t n = write(fd, data + written, length - written);

		if (n < 0 && errno != EINTR)
			r = -errno;
		written += n > 0 ? (size_t)n : 0;
	}
	file_wipe(data, length);
	if (r == 0 && fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		r = -errno;
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		return message_set(ret_error, r, "%s cannot be kept in memory: %s", path, strerror(-r));
	}
	*ret_fd = fd;
	return 0;
}

int
sealed_text_receive(const char *variable)
{
	const char *text = getenv(variable);
	uint64_t number;
	int fd = -1, seals;

	if (text && number_parse(text, INT_MAX, &number, NULL) == 0) {
		seals = fcntl((int)number, F_GET_SEALS);
		/* the number may be that of another descriptor by now */
		if (seals >= 0 && (seals & SEALS) == SEALS && fcntl((int)number, F_SETFD, FD_CLOEXEC) == 0)
			fd = (int)number;
	}
	unsetenv(variable);
	return fd;
}

int
sealed_text_get(int fd, char **ret_data, size_t *ret_length)
{
	off_t length = lseek(fd, 0, SEEK_END);
	char *data;

	if (length < 0)
		return -errno;
	data = malloc((size_t)length + 1);
	if (!data)
		return -ENOMEM;
	if (pread(fd, data, (size_t)length, 0) != length) {
		free(data);
		return -EIO;
	}
	data[length] = '\0';
	*ret_data = data;
	*ret_length = (size_t)length;
	return 0;
}
