/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches and dispatches handles, and counts the handlers of each handle. */
#include "tools/informer-gateway/arena/arena_handles.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* below libinformer's limit of 64 handlers for one handle */
#define HANDLERS_MAX 60u
/* Dispatch calls for each handle in one gw_handles_dispatch(). */
#define TURNS_MAX 16u

uint64_t
gw_arena_now_ms(const struct gw_arena *arena)
{
	return arena->options.now_ms();
}

static int
listen_to(struct gw_arena *arena, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(arena->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int
attach(struct gw_arena *arena, const char *suffix, struct informer **ret_informer)
{
	_cleanup_(api_buf_done) struct api_buf name = {0};
	struct informer_options options = {
		.size = sizeof(options),
		.socket_path = arena->options.socket_path,
		.log = arena->options.log,
		.log_context = arena->options.context,
	};
	int r;

	api_buf_printf(&name, "%s%s", arena->options.reader_name, suffix);
	options.reader_name = name.data;
	r = informer_attach(&options, ret_informer);
	return r < 0 ? r : listen_to(arena, informer_fd(*ret_informer));
}

int
gw_handles_open(struct gw_arena *arena)
{
	int r = 0;

	arena->epoll = epoll_create1(EPOLL_CLOEXEC);
	arena->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (arena->epoll < 0 || arena->kick < 0)
		r = -errno;
	if (r == 0)
		r = listen_to(arena, arena->kick);
	if (r == 0)
		r = attach(arena, "", &arena->events[0]);
	if (r == 0)
		r = attach(arena, " (lists)", &arena->reads);
	return r;
}

static void
close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void
gw_handles_close(struct gw_arena *arena)
{
	for (unsigned i = 0; i < GW_HANDLES_MAX; i++)
		informer_detach(arena->events[i]);
	informer_detach(arena->reads);
	close_fd(arena->epoll);
	close_fd(arena->kick);
}

void
gw_handles_dispatch(struct gw_arena *arena)
{
	bool more = true;

	for (unsigned turn = 0; more && turn < TURNS_MAX; turn++) {
		more = false;
		for (unsigned i = 0; i < GW_HANDLES_MAX; i++)
			more |= arena->events[i] && informer_dispatch(arena->events[i]) > 0;
	}
	for (unsigned turn = 0; informer_dispatch(arena->reads) > 0 && turn < TURNS_MAX; turn++)
		;
}

void
gw_handles_kick(struct gw_arena *arena)
{
	eventfd_write(arena->kick, 1);
}

void
gw_handles_rest(struct gw_arena *arena)
{
	eventfd_t kicked;

	eventfd_read(arena->kick, &kicked);
}

int
gw_handles_take_room(struct gw_arena *arena)
{
	unsigned i = 0;
	int r = 0;

	while (i < GW_HANDLES_MAX && arena->handlers[i] == HANDLERS_MAX)
		i++;
	if (i == GW_HANDLES_MAX)
		return -EUSERS;
	if (!arena->events[i])
		r = attach(arena, "", &arena->events[i]);
	if (r < 0)
		return r;
	arena->handlers[i]++;
	return (int)i;
}

void
gw_handles_give_room(struct gw_arena *arena, unsigned handle)
{
	arena->handlers[handle]--;
}
