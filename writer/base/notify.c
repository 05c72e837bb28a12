/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends systemd the daemon's state. Without NOTIFY_SOCKET nothing is sent. A message that cannot be sent is
 * not an error: informerd also runs without systemd.
 */
#include "writer/base/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int
notify(const char *message)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length;
	ssize_t sent;
	int fd, error;

	if (!path || !*path)
		return 0;
	length = strlen(path);
	if ((path[0] != '/' && path[0] != '@') || length >= sizeof(address.sun_path))
		return -EINVAL;
	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	sent = sendto(fd, message, strlen(message), MSG_NOSIGNAL | MSG_DONTWAIT,
		      (const struct sockaddr *)&address,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	error = errno;
	close(fd);
	return sent < 0 ? -error : 1;
}

int
notify_format(const char *format, ...)
{
	char message[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return notify(message);
}
