/* SPDX-License-Identifier: Apache-2.0 */
/* systemd's readiness protocol, against a socket of the test. */
#include <sys/un.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/base/notify.h"

static int
receiver(const char *path, size_t length)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = 0;
	assert_int_equal(bind(fd, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
			 0);
	return fd;
}

static void
expect(int fd, const char *message)
{
	char got[600] = "";

	assert_int_equal(recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT), strlen(message));
	assert_string_equal(got, message);
}

#define TEST(name) TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, name)

/* A message is one datagram to the socket in NOTIFY_SOCKET. */
TEST(a_message_is_one_datagram)
{
	const char *path = temp_path(*state, "notify");
	int fd = receiver(path, strlen(path));

	setenv("NOTIFY_SOCKET", path, 1);
	assert_int_equal(notify("READY=1"), 1);
	expect(fd, "READY=1");
	assert_int_equal(notify_format("STATUS=%d objects", 42), 1);
	expect(fd, "STATUS=42 objects");
	close(fd);
}

/* An abstract socket is named with @. */
TEST(an_abstract_socket_is_named_with_an_at)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "@informer-notify-test-%ld", (long)getpid());
	fd = receiver(path, strlen(path));
	setenv("NOTIFY_SOCKET", path, 1);
	assert_int_equal(notify("STOPPING=1"), 1);
	expect(fd, "STOPPING=1");
	close(fd);
}

/* A missing NOTIFY_SOCKET, or an impossible name, is no error. */
TEST(a_missing_socket_is_no_error)
{
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "relative/path", 1);
	assert_int_equal(notify("READY=1"), -EINVAL);
	setenv("NOTIFY_SOCKET", temp_path(*state, "nobody-listens"), 1);
	assert_int_equal(notify("READY=1"), -ENOENT);
}
