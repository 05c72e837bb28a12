/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loop room: watches the highest descriptor once, so that the loop's table grows to it.
 */
#include "writer/base/loop_room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void
on_event(uv_poll_t *poll, int status, int events)
{
	(void)poll;
	(void)status;
	(void)events;
}

static void
on_closed(uv_handle_t *handle)
{
	free(handle);
}

int
loop_room_make(uv_loop_t *loop, unsigned count, int fd)
{
	struct rlimit limit;
	uv_poll_t *poll;
	int highest, r;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	if (count > limit.rlim_cur)
		count = (unsigned)limit.rlim_cur;
	highest = fcntl(fd, F_DUPFD_CLOEXEC, count > 0 ? (int)count - 1 : 0);
	if (highest < 0)
		return -errno;
	poll = malloc(sizeof(*poll));
	r = poll ? uv_poll_init(loop, poll, highest) : -ENOMEM;
	if (r < 0) {
		free(poll);
		close(highest);
		return r;
	}
	uv_poll_start(poll, UV_READABLE, on_event);
	uv_poll_stop(poll);
	uv_close((uv_handle_t *)poll, on_closed);
	close(highest);
	return 0;
}
