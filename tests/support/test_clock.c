/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks that stand still until the test moves them, and timers that follow them. */
#include "tests/support/test_clock.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define CLOCKS (CLOCK_BOOTTIME + 1)
#define SETTLED_TURNS 8 /* uv_run() may register and call a watcher without poll() having seen it */
#define NS_A_MS 1000000u
#define NS_A_SECOND 1000000000u
#define DESCRIPTORS 1024

static struct timespec stopped_at[CLOCKS];
static _Atomic bool stands;
static _Atomic uint64_t passed_ns;
static _Atomic bool work_stands;
static _Thread_local uint64_t worked_ns;
/* The moment of the moved clock at which each timerfd fires; 0: none. */
static _Atomic uint64_t timer_ns[DESCRIPTORS];

__attribute__((visibility("default"))) int /* shared libraries call it too */
clock_gettime(clockid_t clock, struct timespec *ret)
{
	bool of_cpu = clock < 0 || clock >= CLOCKS || clock == CLOCK_PROCESS_CPUTIME_ID ||
		      clock == CLOCK_THREAD_CPUTIME_ID;
	uint64_t ns;

	if (clock == CLOCK_THREAD_CPUTIME_ID && atomic_load(&work_stands)) {
		ret->tv_sec = (time_t)(worked_ns / NS_A_SECOND);
		ret->tv_nsec = (long)(worked_ns % NS_A_SECOND);
		return 0;
	}
	if (of_cpu || !atomic_load(&stands)) {
		int r = (int)syscall(SYS_clock_gettime, clock, ret);

		if (of_cpu || r != 0)
			return r;
	} else {
		*ret = stopped_at[clock];
	}
	ns = (uint64_t)ret->tv_nsec + atomic_load(&passed_ns);
	ret->tv_sec += (time_t)(ns / NS_A_SECOND);
	ret->tv_nsec = (long)(ns % NS_A_SECOND);
	return 0;
}

static long
set_timer(int fd, uint64_t ns)
{
	struct itimerspec when = {.it_value = {(time_t)(ns / NS_A_SECOND), (long)(ns % NS_A_SECOND)}};

	return syscall(SYS_timerfd_settime, fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* The kernel's clock would fire the timer early or, while clocks stand, never. */
static long
follow(int fd, uint64_t ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (ns <= (uint64_t)now.tv_sec * NS_A_SECOND + (uint64_t)now.tv_nsec)
		return set_timer(fd, 1);
	return set_timer(fd, atomic_load(&stands) ? INT64_MAX : ns - atomic_load(&passed_ns));
}

int
timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *ret_before)
{
	uint64_t ns = (uint64_t)when->it_value.tv_sec * NS_A_SECOND + (uint64_t)when->it_value.tv_nsec;

	if (!(flags & TFD_TIMER_ABSTIME))
		ns = 0;
	if (fd >= 0 && fd < DESCRIPTORS)
		atomic_store(&timer_ns[fd], ns);
	if (ns == 0 || fd < 0 || fd >= DESCRIPTORS)
		return (int)syscall(SYS_timerfd_settime, fd, flags, when, ret_before);
	return (int)follow(fd, ns);
}

void
test_clock_stop(void)
{
	if (atomic_load(&stands))
		return;
	for (clockid_t clock = 0; clock < CLOCKS; clock++)
		syscall(SYS_clock_gettime, clock, &stopped_at[clock]);
	atomic_store(&stands, true);
}

void
test_clock_move(uint64_t ms)
{
	test_clock_move_ns(ms * NS_A_MS);
}

void
test_clock_move_ns(uint64_t ns)
{
	atomic_fetch_add(&passed_ns, ns);
	for (int fd = 0; fd < DESCRIPTORS; fd++) {
		struct itimerspec left;

		/* a timer that fired has no time left */
		if (timer_ns[fd] && syscall(SYS_timerfd_gettime, fd, &left) == 0 &&
		    (left.it_value.tv_sec || left.it_value.tv_nsec))
			follow(fd, timer_ns[fd]);
	}
}

void
test_work_stop(void)
{
	atomic_store(&work_stands, true);
}

void
test_work(uint64_t ns)
{
	worked_ns += ns;
}

/* True if there was something to do, as far as libuv shows before uv_run(). */
static bool
turn(uv_loop_t *loop, int wait_ms)
{
	struct pollfd io = {.fd = uv_backend_fd(loop), .events = POLLIN};
	bool came = uv_backend_timeout(loop) == 0 || poll(&io, 1, wait_ms) > 0;

	uv_run(loop, UV_RUN_NOWAIT);
	return came;
}

bool
test_loop_turn(uv_loop_t *loop)
{
	return turn(loop, 1);
}

void
test_loop_drain(uv_loop_t *loop)
{
	for (int idle = 0; idle < SETTLED_TURNS;)
		idle = turn(loop, 0) ? 0 : idle + 1;
}

void
test_clock_pass(uv_loop_t *loop, uint64_t ms)
{
	test_loop_drain(loop);
	while (ms > 0) {
		int next = uv_backend_timeout(loop);
		uint64_t step = next < 0 || (uint64_t)next > ms ? ms : next > 0 ? (uint64_t)next : 1;

		test_clock_move(step);
		ms -= step;
		uv_run(loop, UV_RUN_NOWAIT);
	}
}
