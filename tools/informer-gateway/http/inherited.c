/* SPDX-License-Identifier: Apache-2.0 */
/* Checking inherited descriptors; see inherited.h. */
#include "tools/informer-gateway/http/inherited.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST 3 /* SD_LISTEN_FDS_START */

/* Parse a whole text as a decimal number of 0..max; -1: it is none. */
static long
number(const char *text, long max)
{
	char *end;
	long value;

	if (!text || text[0] < '0' || text[0] > '9')
		return -1;
	errno = 0;
	value = strtol(text, &end, 10);
	return *end || errno || value > max ? -1 : value;
}

int
gw_inherited_number(int fd)
{
	int listens = 0, type = 0, flags = fcntl(fd, F_GETFL);
	socklen_t length = sizeof(int);

	if (flags < 0)
		return -EBADF;
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) < 0 || !listens ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0 || type != SOCK_STREAM)
		return -ENOTSOCK;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return fd;
}

/* The index of `name` in a list "a:b:c"; -1: not in it. */
static long
index_of(const char *names, const char *name)
{
	size_t length = strlen(name);

	for (long i = 0; names; i++) {
		size_t n = strcspn(names, ":");

		if (n == length && !memcmp(names, name, n))
			return i;
		names = names[n] ? names + n + 1 : NULL;
	}
	return -1;
}

int
gw_inherited_systemd(const char *name)
{
	long count = number(getenv("LISTEN_FDS"), GW_INHERITED_MAX);
	long at = name ? index_of(getenv("LISTEN_FDNAMES"), name) : -1;

	if (number(getenv("LISTEN_PID"), INT_MAX) != getpid() || at < 0 || at >= count)
		return -ENOENT;
	return gw_inherited_number(FIRST + (int)at);
}
