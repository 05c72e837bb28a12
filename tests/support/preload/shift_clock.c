/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To be preloaded (LD_PRELOAD) by a process under test: another time, without a word to it.
 *
 *	SHIFT_CLOCK_SPEED=N	its monotonic clock, and what it waits for in epoll, runs N times as fast:
 *				backoffs, silences and timeouts are over sooner
 *	SHIFT_CLOCK_FILE=FILE	its wall clock is off by what stands in FILE, in seconds, at that moment; a
 *				file that is replaced is a clock that is stepped
 *
 * CLOCK_BOOTTIME stays as it is: other processes compare it with theirs.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static long long begin_ns;
static int speed = 1;
static const char *shift_file;

static long long
ns_of(const struct timespec *t)
{
	return t->tv_sec * 1000000000ll + t->tv_nsec;
}

static struct timespec
of_ns(long long ns)
{
	return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

/* Ask the kernel itself, past preloaded libraries and sanitizers. */
static int
ask_kernel(clockid_t clock, struct timespec *t)
{
	return (int)syscall(SYS_clock_gettime, clock, t);
}

__attribute__((constructor)) static void
set_up(void)
{
	const char *text = getenv("SHIFT_CLOCK_SPEED");
	struct timespec now;

	shift_file = getenv("SHIFT_CLOCK_FILE");
	if (text && atoi(text) > 0)
		speed = atoi(text);
	ask_kernel(CLOCK_MONOTONIC, &now);
	begin_ns = ns_of(&now);
}

static long long
shift_s(void)
{
	char text[32] = "";
	int fd = shift_file ? open(shift_file, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return atoll(text);
}

EXPORT int
clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = ask_kernel(clock, t);

	if (r < 0)
		return r;
	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		t->tv_sec += shift_s();
	else if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_MONOTONIC_RAW)
		*t = of_ns(begin_ns + (ns_of(t) - begin_ns) * speed);
	return 0;
}

EXPORT int
gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec t;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &t) < 0)
		return -1;
	*tv = (struct timeval){.tv_sec = t.tv_sec, .tv_usec = t.tv_nsec / 1000};
	return 0;
}

EXPORT time_t
time(time_t *ret)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_REALTIME, &t);
	if (ret)
		*ret = t.tv_sec;
	return t.tv_sec;
}

EXPORT int
epoll_pwait(int fd, struct epoll_event *events, int max, int timeout, const sigset_t *mask)
{
	if (timeout > 0)
		timeout = timeout / speed + 1;
	return (int)syscall(SYS_epoll_pwait, fd, events, max, timeout, mask, (size_t)NSIG / 8);
}

EXPORT int
epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	return epoll_pwait(fd, events, max, timeout, NULL);
}
