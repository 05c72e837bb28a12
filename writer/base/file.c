/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a small file whole; see file.h. */
#include "writer/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/base/message.h"

void
file_wipe(char *data, size_t len)
{
	if (data)
		explicit_bzero(data, len);
	free(data);
}

void
file_wipe_text(char *text)
{
	file_wipe(text, text ? strlen(text) : 0);
}

int
file_read(const char *path, size_t max, char **ret_data, size_t *ret_len, char **ret_error)
{
	size_t len = 0, size = 4096;
	char *data = NULL;
	int fd, r;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return message_set(ret_error, -errno, "%s: %s", path, strerror(errno));
	data = malloc(size + 1);
	r = data ? 0 : -ENOMEM;
	while (r == 0) {
		ssize_t n;

		if (len == size) {
			/* not realloc(): it would leave a copy of a secret behind */
			char *larger = malloc(2 * size + 1);

			if (!larger) {
				r = -ENOMEM;
				break;
			}
			memcpy(larger, data, len);
			file_wipe(data, len);
			data = larger;
			size *= 2;
		}
		n = read(fd, data + len, size - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			r = message_set(ret_error, -errno, "%s: %s", path, strerror(errno));
		if (n <= 0)
			break;
		len += (size_t)n;
		if (len > max)
			r = message_set(ret_error, -EFBIG, "%s: larger than %zu bytes", path, max);
	}
	close(fd);
	if (r < 0) {
		file_wipe(data, len);
		return r;
	}
	data[len] = '\0';
	*ret_data = data;
	*ret_len = len;
	return 0;
}
