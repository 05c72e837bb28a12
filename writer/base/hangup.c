/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns SIGHUP into an eventfd for the daemon's loop. The handler does nothing but one write, which is
 * allowed in it; several signals before the loop looks count as one.
 */
#include "writer/base/hangup.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>

static int told = -1;

static void
on_hangup(int number)
{
	int saved_errno = errno;

	(void)number;
	eventfd_write(told, 1);
	errno = saved_errno;
}

int
hangup_open(void)
{
	struct sigaction action = { .sa_handler = on_hangup, .sa_flags = SA_RESTART };

	told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (told < 0)
		return -errno;
	sigemptyset(&action.sa_mask);
	return sigaction(SIGHUP, &action, NULL) < 0 ? -errno : told;
}

bool
hangup_take(int fd)
{
	eventfd_t count;

	return eventfd_read(fd, &count) == 0;
}
