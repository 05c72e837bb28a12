/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handle: makes and frees this room's part, and writes lines to the caller's log.
 */
#include "reader-lib/attach/handle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "shm-layout/fnv.h"
#include "shm-layout/time_ns.h"

#define GUARD_BYTES 4096u
#define RETRY_AGAIN_NS 3600000000000ull

uint32_t
informer_api_version(void)
{
	return INFORMER_API_VERSION;
}

const char *
informer_library_version(void)
{
	return INFORMER_VERSION;
}

void
informer_free(struct informer *inf, void *memory)
{
	if (inf)
		memory_put(inf, memory);
}

static int
choose_places(struct informer *inf, const char *path)
{
	bool named = path && *path;
	int count = named ? socket_place_set(&inf->places[0], path) : socket_places_find(inf->places);

	if (count < 0)
		return count;
	inf->place_count = named ? 1 : (unsigned)count;
	return 0;
}

int
handle_options_read(struct informer_options *ret, const struct informer_options *given)
{
	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	if (!given)
		return 0;
	if (given->size < sizeof(given->size) + sizeof(given->flags))
		return -EINVAL;
	memcpy(ret, given, given->size < sizeof(*ret) ? given->size : sizeof(*ret));
	return ret->flags & ~(INFORMER_VERIFY | INFORMER_ORPHAN) ? -EINVAL : 0;
}

int
handle_fail(struct informer *inf, int error, const char *what)
{
	log_say(inf, INFORMER_LOG_ERROR, "cannot make %s: %s", what, errno_text(error));
	return error_set(-error, "cannot make %s: %s", what, errno_text(error));
}

static int
make_guard(struct informer *inf)
{
	void *page = mmap(NULL, GUARD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return handle_fail(inf, errno, "a page that tells a forked child");
	inf->alive = page;
	if (madvise(page, GUARD_BYTES, MADV_WIPEONFORK) < 0)
		return handle_fail(inf, errno, "a page that tells a forked child");
	atomic_store_explicit(inf->alive, 1, memory_order_relaxed);
	return 0;
}

static int
make_descriptors(struct informer *inf)
{
	struct epoll_event event = {.events = EPOLLIN};

	inf->epoll = epoll_create1(EPOLL_CLOEXEC);
	inf->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	inf->untold = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (inf->epoll < 0 || inf->timer < 0 || inf->untold < 0)
		return handle_fail(inf, errno, "a handle's epoll instance, timer and eventfd");
	if (epoll_ctl(inf->epoll, EPOLL_CTL_ADD, inf->timer, &event) < 0 ||
	    epoll_ctl(inf->epoll, EPOLL_CTL_ADD, inf->untold, &event) < 0)
		return handle_fail(inf, errno, "a handle's epoll instance");
	return 0;
}

int
handle_init(struct informer *inf, const struct informer_options *options)
{
	int r;

	inf->log = options->log;
	inf->log_context = options->log_context;
	inf->flags = options->flags;
	inf->socket = inf->epoll = inf->timer = inf->untold = -1;
	snprintf(inf->reader_name, sizeof(inf->reader_name), "%s",
		 options->reader_name ? options->reader_name : program_invocation_short_name);
	pthread_mutex_init(&inf->lock, NULL);
	r = choose_places(inf, options->socket_path);
	if (r == 0)
		r = make_guard(inf);
	return r < 0 ? r : make_descriptors(inf);
}

void
handle_close(struct informer *inf, bool in_child)
{
	const int fds[] = {inf->epoll, inf->timer, inf->untold};

	if (inf->alive)
		munmap((void *)(uintptr_t)inf->alive, GUARD_BYTES);
	for (unsigned i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	/* A forked child leaves it: another thread of the parent may have held it. */
	if (!in_child)
		pthread_mutex_destroy(&inf->lock);
}

void
log_say(struct informer *inf, enum informer_log_level level, const char *format, ...)
{
	char line[512];
	va_list args;

	if (!inf->log)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	inf->log(inf->log_context, level, line);
}

void
log_retry(struct informer *inf, enum informer_log_level level, const char *line)
{
	uint64_t hash = fnv64(FNV64_BEGIN, line, strlen(line)), now = time_ns(CLOCK_BOOTTIME);
	struct retry_line *last = &inf->retry_lines[hash % RETRY_LINES];

	if (last->hash == hash && now < last->again_ns)
		return;
	*last = (struct retry_line){.hash = hash, .again_ns = now + RETRY_AGAIN_NS};
	log_say(inf, level, "%s", line);
}

void
log_recovered(struct informer *inf)
{
	memset(inf->retry_lines, 0, sizeof(inf->retry_lines));
}
