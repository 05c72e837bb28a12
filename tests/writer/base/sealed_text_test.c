/* SPDX-License-Identifier: Apache-2.0 */
/* A sealed text keeps what its file held when it was read. The environment hands it to the next program. */
#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/base/message.h"
#include "writer/base/sealed_text.h"

#define TEST(name) TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, name)
#define VARIABLE "INFORMER_TEST_TEXT"

static int
read_text(const char *path, size_t max)
{
	_cleanup_(message_freep) char *error = NULL;
	int fd = -2, r = sealed_text_read(path, max, &fd, &error);

	assert_true(r == 0 || (fd == -1 && error && strstr(error, path ? path : "")));
	return r < 0 ? r : fd;
}

static void
assert_holds(int fd, const char *expected)
{
	size_t length;
	char *data;

	assert_int_equal(sealed_text_get(fd, &data, &length), 0);
	assert_int_equal(length, strlen(expected));
	assert_string_equal(data, expected);
	free(data);
}

static int
receive(const char *number)
{
	int fd;

	assert_int_equal(setenv(VARIABLE, number, 1), 0);
	fd = sealed_text_receive(VARIABLE);
	assert_null(getenv(VARIABLE));
	return fd;
}

TEST(a_sealed_text_never_changes)
{
	int fd = read_text(temp_file(*state, "f", "resources: [pods]"), 100);

	temp_file(*state, "f", "oops");
	assert_holds(fd, "resources: [pods]");
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(fd, 3), -1);
	assert_holds(fd, "resources: [pods]");
	close(fd);
}

TEST(an_unreadable_file_is_no_text)
{
	assert_int_equal(read_text(NULL, 100), -1);
	assert_int_equal(read_text(temp_path(*state, "none"), 100), -ENOENT);
	assert_int_equal(read_text(temp_file(*state, "f", "1234"), 3), -EFBIG);
}

/* An empty text is handed over, too. */
TEST(a_text_is_handed_over)
{
	static const char *const contents[] = {"", "a: b\n"};
	char number[16];

	for (size_t i = 0; i < 2; i++) {
		int fd = read_text(temp_file(*state, "f", contents[i]), 100);

		assert_int_equal(fcntl(fd, F_SETFD, 0), 0);
		snprintf(number, sizeof(number), "%d", fd);
		assert_int_equal(receive(number), fd);
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
		assert_holds(fd, contents[i]);
		close(fd);
		assert_int_equal(receive(number), -1); /* it is closed */
	}
}

/* A descriptor of that number that is no sealed text stays open. */
TEST(other_descriptors_are_not_received)
{
	int fd = open(temp_file(*state, "f", "a: b"), O_RDONLY);
	char number[16], *data;
	size_t length;

	snprintf(number, sizeof(number), "%d", fd);
	assert_int_equal(receive(number), -1);
	assert_int_equal(fcntl(fd, F_GETFD), 0);
	close(fd);
	assert_int_equal(receive(""), -1);
	assert_int_equal(receive("-1"), -1);
	assert_int_equal(receive("99999999999"), -1);
	assert_int_equal(sealed_text_receive(VARIABLE), -1);
	assert_int_equal(sealed_text_get(-1, &data, &length), -EBADF);
}
