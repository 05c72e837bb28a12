/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the broker that cost what a test says; see given_cost.h. */
#include "tests/writer/serve/given_cost.h"

#include <sys/socket.h>
#include <unistd.h>

#include "writer/serve/eventfd_signal.h"

struct given_cost given_cost;

int __real_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
ssize_t __real_write(int fd, const void *data, size_t length);
ssize_t __wrap_write(int fd, const void *data, size_t length);
size_t __real_eventfd_signal_all(struct eventfd_signal *s, const int *fds, size_t count);
size_t __wrap_eventfd_signal_all(struct eventfd_signal *s, const int *fds, size_t count);

static void
pay_signal(int fd)
{
	unsigned ms = fd == given_cost.dear_fd ? given_cost.signal_ms : 0;

	test_clock_move(ms);
	test_work(ms * 1000000ull);
}

int
__wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
	int r = __real_accept4(fd, address, length, flags);

	if (r >= 0) {
		given_cost.accepted++;
		test_work(given_cost.accept_us * 1000ull);
	}
	return r;
}

ssize_t
__wrap_write(int fd, const void *data, size_t length)
{
	pay_signal(fd);
	return __real_write(fd, data, length);
}

size_t
__wrap_eventfd_signal_all(struct eventfd_signal *s, const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pay_signal(fds[i]);
	return __real_eventfd_signal_all(s, fds, count);
}

int
given_cost_set_up(void **state)
{
	test_clock_stop();
	test_work_stop();
	return broker_fixture_set_up(state);
}
