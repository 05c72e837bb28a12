/* SPDX-License-Identifier: Apache-2.0 */
/* A loop whose table of descriptors has room: libuv needs no memory to watch a descriptor later. */
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "tests/room.h"
#include "writer/base/descriptor_limit.h"
#include "writer/base/loop_room.h"

static unsigned grown;

static void *
count_growth(void *memory, size_t bytes)
{
	grown += bytes > 0;
	return realloc(memory, bytes ? bytes : 1); /* is freed by free() */
}

static void
ignore(uv_poll_t *poll, int status, int events)
{
	(void)poll;
	(void)status;
	(void)events;
}

/* Watch a descriptor of this number, or the next free one. True if the loop's table grew. */
static bool
grows_by(uv_loop_t *loop, int fd, int number)
{
	int at = fcntl(fd, F_DUPFD_CLOEXEC, number);
	uv_poll_t poll;

	assert_true(at >= number);
	grown = 0;
	assert_int_equal(uv_poll_init(loop, &poll, at), 0);
	assert_int_equal(uv_poll_start(&poll, UV_READABLE, ignore), 0);
	uv_close((uv_handle_t *)&poll, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
	close(at);
	return grown > 0;
}

static void
end(uv_loop_t *loop, int fd)
{
	uv_run(loop, UV_RUN_NOWAIT);
	assert_int_equal(uv_loop_close(loop), 0);
	close(fd);
}

TEST_CASE(no_descriptor_below_makes_the_table_grow)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uv_loop_t loop;

	assert_int_equal(uv_replace_allocator(malloc, count_growth, calloc, free), 0);
	descriptor_limit_raise();
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(loop_room_make(&loop, 900, fd), 0);
	assert_false(grows_by(&loop, fd, 20));
	assert_false(grows_by(&loop, fd, 500));
	assert_false(grows_by(&loop, fd, 899));
	assert_true(grows_by(&loop, fd, 4000));
	end(&loop, fd);
}

/* A number beyond the process's limit counts as the limit. */
TEST_CASE(the_limit_bounds_the_table)
{
	struct rlimit limit = {.rlim_cur = 300, .rlim_max = 300};
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uv_loop_t loop;

	assert_int_equal(uv_replace_allocator(malloc, count_growth, calloc, free), 0);
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(loop_room_make(&loop, 1000000, fd), 0);
	assert_false(grows_by(&loop, fd, 299));
	end(&loop, fd);
}

/* A descriptor that cannot be polled is an error that leaves nothing behind. */
TEST_CASE(unpollable_descriptors_are_refused)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), file = memfd_create("x", MFD_CLOEXEC);
	uv_loop_t loop;

	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(loop_room_make(&loop, 100, file), -EPERM);
	assert_int_equal(loop_room_make(&loop, 100, -1), -EBADF);
	assert_int_equal(fcntl(99, F_GETFD), -1);
	close(file);
	end(&loop, fd);
}
