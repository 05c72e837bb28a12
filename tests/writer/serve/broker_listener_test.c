/* SPDX-License-Identifier: Apache-2.0 */
/* The listening socket passes from one broker to the next over a restart, and no connection is refused. */
#include <sys/un.h>

#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/raw_reader.h"

static void
pass_on(struct broker_fixture *fx, void *context)
{
	*(int *)context = broker_pass_on(fx->broker);
}

/* A reader that connects between two brokers waits for the second, which removes the file at its end. */
STARTED_BY_TEST(the_listener_passes_on)
{
	struct raw_answer a;
	struct stat before, after;
	int listener = -1, fd;

	broker_fixture_start(fx);
	assert_int_equal(lstat(fx->socket, &before), 0);
	broker_fixture_do(fx, pass_on, &listener);
	assert_true(listener > 0);
	assert_true(fcntl(listener, F_GETFD) & FD_CLOEXEC);
	broker_fixture_stop(fx);
	fd = raw_connect(fx);
	raw_hello(fd, 0);
	fx->options.listener = listener;
	assert_int_equal(chmod(fx->socket, 0600), 0);
	broker_fixture_start(fx);
	raw_hear(fd, &a);
	assert_int_equal(a.u.head.type, MESSAGE_WELCOME);
	raw_close(&a);
	close(fd);
	assert_int_equal(lstat(fx->socket, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(after.st_mode & 07777, 0666);
	fx->options.listener = 0;
	broker_fixture_stop(fx);
	assert_int_equal(lstat(fx->socket, &after), -1);
}

static int
listen_at(const char *path, int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, path, strlen(path) + 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

/* A socket of another type, or without its file, is replaced by a new one: no reader would find it. */
STARTED_BY_TEST(a_wrong_listener_is_replaced)
{
	int wrong;

	for (unsigned gone = 0; gone < 2; gone++) {
		wrong = listen_at(fx->socket, gone ? SOCK_SEQPACKET : SOCK_STREAM);
		if (gone)
			assert_int_equal(unlink(fx->socket), 0);
		fx->options.listener = wrong;
		broker_fixture_start(fx);
		raw_visit(fx);
		broker_fixture_stop(fx);
		assert_int_equal(access(fx->socket, F_OK), -1);
		assert_int_equal(fcntl(wrong, F_GETFD), -1);
	}
	fx->options.listener = 0;
}

/* If another file is in the socket's place, it is left alone. */
STARTED_BY_TEST(another_file_is_left_alone)
{
	struct broker_options options = fx->options;
	struct broker *broker;
	char *error = NULL;
	struct stat st;
	uv_loop_t loop;
	int fd;

	options.listener = listen_at(fx->socket, SOCK_SEQPACKET);
	assert_int_equal(unlink(fx->socket), 0);
	fd = open(fx->socket, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(fchmod(fd, 0640), 0);
	close(fd);
	uv_loop_init(&loop);
	assert_int_equal(broker_new(&loop, &options, &broker, &error), -EEXIST);
	assert_non_null(strstr(error, fx->socket));
	free(error);
	assert_int_equal(stat(fx->socket, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(fcntl(options.listener, F_GETFD), -1);
	assert_int_equal(uv_loop_close(&loop), 0);
	unlink(fx->socket);
}
