/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands lock and listening socket to the next run of this process. An environment variable holds our pid and
 * their descriptors; another variable holds the descriptor of the configuration's text.
 */
#include "writer/daemon/restart.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/base/log.h"

#define VARIABLE "INFORMERD_INHERITED"
#define THIS_PROGRAM "/proc/self/exe"

static int
set_close_on_exec(int fd, bool close_on_exec)
{
	return fcntl(fd, F_SETFD, close_on_exec ? FD_CLOEXEC : 0);
}

void
restart_receive(struct inheritance *ret)
{
	const char *text = getenv(VARIABLE);
	struct inheritance is = {0};
	long pid;

	*ret = (struct inheritance){0};
	if (text &&
	    sscanf(text, "%ld %d %d %" SCNu64 " %" SCNu64 " %" SCNu64, &pid, &is.lock.fd, &is.listener,
		   &is.reloads.succeeded, &is.reloads.refused, &is.reloads.last_wall_ns) == 6 &&
	    pid == (long)getpid() && is.lock.fd >= 0 && is.listener >= 0) {
		/* a descriptor that is not open is not inherited */
		if (is.lock.fd > 0 && set_close_on_exec(is.lock.fd, true) < 0)
			is.lock.fd = 0;
		if (is.listener > 0 && set_close_on_exec(is.listener, true) < 0)
			is.listener = 0;
		*ret = is;
	}
	unsetenv(VARIABLE);
}

int
restart(char *const *arguments, struct restart_what what, const struct inheritance *inheritance)
{
	const struct reload_record *reloads = &inheritance->reloads;
	char text[160], number[16];
	int r;

	snprintf(text, sizeof(text), "%ld %d %d %" PRIu64 " %" PRIu64 " %" PRIu64, (long)getpid(),
		 inheritance->lock.fd, inheritance->listener, reloads->succeeded, reloads->refused,
		 reloads->last_wall_ns);
	if (setenv(VARIABLE, text, 1) < 0)
		return -errno;
	if (inheritance->lock.fd > 0)
		set_close_on_exec(inheritance->lock.fd, false);
	if (inheritance->listener > 0)
		set_close_on_exec(inheritance->listener, false);
	if (what.text >= 0) {
		snprintf(number, sizeof(number), "%d", what.text);
		if (setenv(RESTART_TEXT_VARIABLE, number, 1) < 0 || set_close_on_exec(what.text, false) < 0)
			return -errno;
	}
	if (what.from_disk) {
		execvp(arguments[0], arguments);
		log_error("%s cannot be executed (%s): going on with the program that runs", arguments[0],
			  strerror(errno));
	}
	execv(THIS_PROGRAM, arguments);
	r = -errno;
	log_error("this program cannot be executed anew: %s", strerror(errno));
	return r;
}

void
inheritance_release(struct inheritance *inheritance)
{
	lock_release(&inheritance->lock);
	if (inheritance->listener > 0)
		close(inheritance->listener);
	inheritance->listener = 0;
}
