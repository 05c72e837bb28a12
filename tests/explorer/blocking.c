/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks, conditions, sleep and time for threads that are contexts of one real thread. The linker leads these
 * calls here (--wrap).
 *
 * A lock is a word that one thread owns; unlocking passes on what that thread knows. Descriptors are the
 * kernel's own: poll() sleeps until it would return. The woken thread then learns what all threads knew that
 * wrote to a descriptor before, because the kernel's locks order the two. A time-out never comes. The clock
 * stands still.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "tests/explorer/machine.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define LOCKS 64u

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end);
int __real_pthread_cond_signal(pthread_cond_t *cond);
int __real_pthread_cond_broadcast(pthread_cond_t *cond);
int __real_poll(struct pollfd *fds, nfds_t count, int ms);
int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *ret_before);
ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
int __real_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event);
void __real_uv_close(uv_handle_t *handle, uv_close_cb closed);
int __real_uv_poll_start(uv_poll_t *poll, int events, uv_poll_cb polled);
int __real_uv_timer_start(uv_timer_t *timer, uv_timer_cb ring, uint64_t after, uint64_t every);
int __real_uv_queue_work(uv_loop_t *loop, uv_work_t *request, uv_work_cb work, uv_after_work_cb after);
int __real_shutdown(int fd, int how);
ssize_t __real_write(int fd, const void *data, size_t length);

/* mutex or condition. signals: how often a condition was signalled in this run */
struct lock {
	const void *address;
	unsigned long run;
	const struct thread *owner;
	unsigned long signals;
	struct view view;
};

static struct {
	OWN_PAGES struct lock locks[LOCKS];
	unsigned long kernel_run, received_run, timer_run;
	uv_timer_t *timer;
	uv_timer_cb ring;
	struct view kernel; /* what every thread knew that called the kernel */
} blocking;

static struct lock *
lock_at(const void *address)
{
	for (unsigned i = 0; i < LOCKS; i++) {
		struct lock *l = &blocking.locks[i];

		if (l->address && l->address != address)
			continue;
		if (!l->address || l->run != run_number()) {
			memset(l, 0, sizeof(*l));
			l->address = address;
			l->run = run_number();
		}
		return l;
	}
	explorer_bad("more than %u locks", LOCKS);
}

static bool
is_free(void *lock)
{
	return !((struct lock *)lock)->owner;
}

int
__wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	struct lock *l;

	if (!running)
		return __real_pthread_mutex_lock(mutex);
	l = lock_at(mutex);
	may_switch();
	explorer_claim(l->owner != running, "%s locks what it has locked", running->name);
	while (l->owner)
		sleep_until(is_free, l);
	l->owner = running;
	model_take(&l->view);
	return 0;
}

int
__wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	struct lock *l;

	if (!running)
		return __real_pthread_mutex_trylock(mutex);
	l = lock_at(mutex);
	may_switch();
	if (l->owner)
		return EBUSY;
	l->owner = running;
	model_take(&l->view);
	return 0;
}

int
__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	struct lock *l;

	if (!running)
		return __real_pthread_mutex_unlock(mutex);
	l = lock_at(mutex);
	explorer_claim(l->owner == running, "%s unlocks what it has not locked", running->name);
	model_give(&l->view);
	l->owner = NULL;
	return 0;
}

struct wait {
	struct lock *condition;
	unsigned long seen;
};

static bool
is_signalled(void *what)
{
	const struct wait *w = what;

	return w->condition->signals != w->seen;
}

/* A signal wakes all waiting threads: the standard allows a wait to end without cause. */
int
__wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	struct wait w;

	if (!running)
		return __real_pthread_cond_wait(cond, mutex);
	w = (struct wait){lock_at(cond), lock_at(cond)->signals};
	__wrap_pthread_mutex_unlock(mutex);
	sleep_until(is_signalled, &w);
	return __wrap_pthread_mutex_lock(mutex);
}

int
__wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end)
{
	return running ? __wrap_pthread_cond_wait(cond, mutex)
		       : __real_pthread_cond_timedwait(cond, mutex, end);
}

int
__wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	if (!running)
		return __real_pthread_cond_signal(cond);
	lock_at(cond)->signals++;
	return 0;
}

int
__wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
	return running ? __wrap_pthread_cond_signal(cond) : __real_pthread_cond_broadcast(cond);
}

/* ---- the kernel ---- */

/*
 * A thread that calls the kernel passes on what it knows, and learns what other threads passed on. The kernel
 * promises slightly less.
 */
static void
meet_in_kernel(void)
{
	if (blocking.kernel_run != run_number()) {
		memset(&blocking.kernel, 0, sizeof(blocking.kernel));
		blocking.kernel_run = run_number();
	}
	model_give(&blocking.kernel);
}

struct waited {
	struct pollfd *fds;
	nfds_t count;
};

static bool
is_readable(void *what)
{
	const struct waited *w = what;

	return __real_poll(w->fds, w->count, 0) > 0;
}

int
__wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
	struct waited w = {fds, count};
	int r;

	if (!running)
		return __real_poll(fds, count, ms);
	may_switch();
	if (ms != 0)
		sleep_until(is_readable, &w);
	r = __real_poll(fds, count, 0);
	if (r > 0) {
		meet_in_kernel();
		model_take(&blocking.kernel);
	}
	return r;
}

/* Signals to eventfds. */
ssize_t
__wrap_write(int fd, const void *data, size_t length)
{
	if (running) {
		may_switch();
		meet_in_kernel();
	}
	return __real_write(fd, data, length);
}

/* The packet stays in the socket for the next run: this run peeks, once. Its descriptors are new ones. */
ssize_t
__wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t n;

	if (!running)
		return __real_recvmsg(fd, message, flags);
	may_switch();
	if (blocking.received_run == run_number()) {
		errno = EAGAIN;
		return -1;
	}
	n = __real_recvmsg(fd, message, flags | MSG_PEEK);
	if (n > 0) {
		blocking.received_run = run_number();
		descriptors_came();
		meet_in_kernel();
		model_take(&blocking.kernel);
	}
	return n;
}

/* The set of polled descriptors does not change in a run. */
int
__wrap_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	return running ? 0 : __real_epoll_ctl(epoll, operation, fd, event);
}

/*
 * libuv's own state is not put back after a run, so libuv is not told: what a run closes, polls or starts
 * ends with the run. A timer rings when the program calls explorer_ring().
 */
void
__wrap_uv_close(uv_handle_t *handle, uv_close_cb closed)
{
	if (!running)
		__real_uv_close(handle, closed);
}

int
__wrap_uv_poll_start(uv_poll_t *poll, int events, uv_poll_cb polled)
{
	return running ? 0 : __real_uv_poll_start(poll, events, polled);
}

int
__wrap_uv_timer_start(uv_timer_t *timer, uv_timer_cb ring, uint64_t after, uint64_t every)
{
	if (!running)
		return __real_uv_timer_start(timer, ring, after, every);
	blocking.timer_run = run_number();
	blocking.timer = timer;
	blocking.ring = ring;
	return 0;
}

/* libuv would use another thread; here the work is done at once. */
int
__wrap_uv_queue_work(uv_loop_t *loop, uv_work_t *request, uv_work_cb work, uv_after_work_cb after)
{
	if (!running)
		return __real_uv_queue_work(loop, request, work, after);
	may_switch();
	work(request);
	after(request, 0);
	return 0;
}

void
explorer_ring(void)
{
	if (blocking.timer_run == run_number())
		blocking.ring(blocking.timer);
}

int
__wrap_shutdown(int fd, int how)
{
	return running ? 0 : __real_shutdown(fd, how);
}

/* Time stands still, so no timer rings. */
int
__wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *ret_before)
{
	return running ? 0 : __real_timerfd_settime(fd, flags, when, ret_before);
}

int
__wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (!running)
		return __real_clock_gettime(clock, ret);
	*ret = (struct timespec){.tv_sec = 1000000};
	return 0;
}
