/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemd's readiness protocol, against a socket of our own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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

/* A message is one datagram to the socket that NOTIFY_SOCKET names. */
static void
a_message_is_one_datagram(void **state)
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
static void
an_abstract_socket_is_named_with_an_at(void **state)
{
	char path[100];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "@informer-notify-test-%ld", (long)getpid());
	fd = receiver(path, strlen(path));
	setenv("NOTIFY_SOCKET", path, 1);
	assert_int_equal(notify("STOPPING=1"), 1);
	expect(fd, "STOPPING=1");
	close(fd);
}

/* Nobody who wants to know, or a name that can be none, is no accident. */
static void
nobody_need_want_to_know(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "relative/path", 1);
	assert_int_equal(notify("READY=1"), -EINVAL);
	setenv("NOTIFY_SOCKET", temp_path(*state, "nobody-listens"), 1);
	assert_int_equal(notify("READY=1"), -ENOENT);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(a_message_is_one_datagram, temp_dir_setup, temp_dir_teardown),
	cmocka_unit_test_setup_teardown(an_abstract_socket_is_named_with_an_at, temp_dir_setup,
					temp_dir_teardown),
	cmocka_unit_test_setup_teardown(nobody_need_want_to_know, temp_dir_setup, temp_dir_teardown),
};
TEST_GROUP(tests, NULL, NULL);
