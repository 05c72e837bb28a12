/* SPDX-License-Identifier: Apache-2.0 */
/* Wraps calls of the broker, which cost what a test sets; see given_cost.h. */
#include "tests/writer/serve/given_cost.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct given_cost given_cost;

int __real_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
ssize_t __real_write(int fd, const void *data, size_t length);
ssize_t __wrap_write(int fd, const void *data, size_t length);
int __real_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event);

int
__wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
	int r = __real_accept4(fd, address, length, flags);

	if (r >= 0) {
		given_cost.accepted++;
		test_clock_move(given_cost.accept_ms);
	}
	return r;
}

ssize_t
__wrap_write(int fd, const void *data, size_t length)
{
	if (fd == given_cost.slow_fd) {
		test_clock_move(given_cost.wall_ms);
		test_work(given_cost.cpu_ms * 1000000ull);
	}
	return __real_write(fd, data, length);
}

int
__wrap_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	if (operation != EPOLL_CTL_ADD || given_cost.watch_error == 0)
		return __real_epoll_ctl(epoll, operation, fd, event);
	errno = given_cost.watch_error;
	return -1;
}

int
given_cost_set_up(void **state)
{
	int r;

	test_clock_stop();
	test_work_stop();
	r = broker_fixture_set_up(state);
	if (r == 0)
		((struct broker_fixture *)*state)->judges_wakes = true;
	return r;
}
