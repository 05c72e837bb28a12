/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptors that the environment hands to the next run of this process, and to no other process.
 * (tests/e2e has the rest of a restart.)
 */
#include "tests/room.h"
#include "writer/daemon/restart.h"

#define VARIABLE "INFORMERD_INHERITED"

static __attribute__((format(printf, 1, 2))) struct inheritance
receive(const char *format, ...)
{
	struct inheritance is;
	char text[160];
	va_list args;

	memset(&is, 0xee, sizeof(is));
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	assert_int_equal(setenv(VARIABLE, text, 1), 0);
	restart_receive(&is);
	assert_null(getenv(VARIABLE));
	return is;
}

static void
assert_nothing(const struct inheritance *is)
{
	assert_int_equal(is->lock.fd, 0);
	assert_int_equal(is->listener, 0);
	assert_int_equal(is->reloads.succeeded + is->reloads.refused + is->reloads.last_wall_ns, 0);
}

/* Open without close-on-exec. */
static int
some_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);

	assert_true(fd > 0);
	return fd;
}

static bool
closes_on_exec(int fd)
{
	return fcntl(fd, F_GETFD) & FD_CLOEXEC;
}

TEST_CASE(the_next_run_receives_the_descriptors)
{
	int lock = some_descriptor(), listener = some_descriptor();
	struct inheritance is = receive("%ld %d %d 3 4 5", (long)getpid(), lock, listener);

	assert_int_equal(is.lock.fd, lock);
	assert_int_equal(is.listener, listener);
	assert_true(closes_on_exec(lock));
	assert_true(closes_on_exec(listener));
	assert_int_equal(is.reloads.succeeded, 3);
	assert_int_equal(is.reloads.refused, 4);
	assert_int_equal(is.reloads.last_wall_ns, 5);
	inheritance_release(&is);
	assert_nothing(&(struct inheritance){.lock = is.lock, .listener = is.listener});
	assert_int_equal(fcntl(lock, F_GETFD), -1);
	assert_int_equal(fcntl(listener, F_GETFD), -1);
}

/* A closed or missing descriptor is left out; other descriptors are received. */
TEST_CASE(a_closed_descriptor_is_not_received)
{
	int gone = some_descriptor(), open = some_descriptor();
	struct inheritance is;

	close(gone);
	is = receive("%ld %d %d 3 4 5", (long)getpid(), gone, open);
	assert_int_equal(is.lock.fd, 0);
	assert_int_equal(is.listener, open);
	is = receive("%ld %d %d 3 4 5", (long)getpid(), open, 0);
	assert_int_equal(is.lock.fd, open);
	assert_int_equal(is.listener, 0);
	assert_int_equal(is.reloads.succeeded, 3);
	close(open);
}

/* A child inherits the variable, but its descriptors of those numbers are its own. */
TEST_CASE(another_process_receives_nothing)
{
	int fd = some_descriptor();
	struct inheritance is = receive("%ld %d %d 3 4 5", (long)getppid(), fd, fd);

	assert_nothing(&is);
	assert_false(closes_on_exec(fd));
	close(fd);
}

#define NOTHING(...)                                                                                         \
	do {                                                                                                 \
		struct inheritance is_ = receive(__VA_ARGS__);                                               \
		assert_nothing(&is_);                                                                        \
	} while (0)

TEST_CASE(nonsense_gives_no_descriptor)
{
	int fd = some_descriptor();
	long pid = (long)getpid();
	struct inheritance is;

	NOTHING("%s", "");
	NOTHING("x");
	NOTHING("%ld", pid);
	NOTHING("%ld %d %d 3 4", pid, fd, fd);
	NOTHING("%ld %d x%d 3 4 5", pid, fd, fd);
	NOTHING("%ld -%d %d 3 4 5", pid, fd, fd);
	NOTHING("%ld %d -%d 3 4 5", pid, fd, fd);
	assert_false(closes_on_exec(fd));
	close(fd);
	memset(&is, 0xee, sizeof(is));
	restart_receive(&is); /* without the variable */
	assert_nothing(&is);
}
