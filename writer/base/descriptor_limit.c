/* SPDX-License-Identifier: Apache-2.0 */
/* Raises our soft limit of open descriptors, and restores the old limit in programs that we start. */
#include "writer/base/descriptor_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rlimit before; /* all 0: not raised */

int
descriptor_limit_ask(unsigned count)
{
	int fds[DESCRIPTORS_ASKED_MAX], r = 0;
	unsigned n = 0;

	while (r == 0 && n < count) {
		fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fds[n] < 0)
			r = -errno;
		else
			n++;
	}
	while (n > 0)
		close(fds[--n]);
	return r;
}

void
descriptor_limit_raise(void)
{
	struct rlimit limit, raised;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
		return;
	raised = limit;
	raised.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
		before = limit;
}

void
descriptor_limit_give_back(pid_t pid)
{
	if (before.rlim_max > 0)
		prlimit(pid, RLIMIT_NOFILE, &before, NULL);
}
