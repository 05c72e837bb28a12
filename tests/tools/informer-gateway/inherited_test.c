/* SPDX-License-Identifier: Apache-2.0 */
/* Inherited sockets: by systemd's names, by number, and invalid ones. */
#include "tests/room.h"
#include "tools/informer-gateway/http/inherited.h"

static void
set_number(const char *name, long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", value);
	setenv(name, text, 1);
}

static int
listening(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd >= 0 && listen(fd, 1) == 0 ? fd : -1;
}

/* Runs in its own process, with descriptors 3 and 4 as systemd passes them. Returns 0 or the failed check. */
static int
as_systemd_starts_it(void)
{
	int one = listening(), two = listening();

	if (one < 0 || two < 0 || dup2(one, 13) < 0 || dup2(two, 14) < 0 || dup2(13, 3) < 0 ||
	    dup2(14, 4) < 0)
		return 1;
	set_number("LISTEN_FDS", 2);
	set_number("LISTEN_PID", getpid());
	setenv("LISTEN_FDNAMES", "agents:relays", 1);
	if (gw_inherited_systemd("relays") != 4 || gw_inherited_systemd("agents") != 3)
		return 2;
	if (gw_inherited_systemd(NULL) != -ENOENT)
		return 3;
	if (gw_inherited_systemd("agent") != -ENOENT || gw_inherited_systemd("agentsx") != -ENOENT)
		return 4;
	if (!(fcntl(3, F_GETFD) & FD_CLOEXEC) || !(fcntl(3, F_GETFL) & O_NONBLOCK))
		return 5;
	/* sockets for another process */
	set_number("LISTEN_PID", getpid() + 1);
	if (gw_inherited_systemd("agents") != -ENOENT)
		return 6;
	set_number("LISTEN_PID", getpid());
	setenv("LISTEN_FDS", "2x", 1);
	return gw_inherited_systemd("agents") == -ENOENT ? 0 : 7;
}

TEST_CASE(systemd_passes_sockets_by_name)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(as_systemd_starts_it());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_CASE(a_descriptor_that_does_not_listen_is_refused)
{
	int fd = listening(), fds[2];

	assert_int_equal(gw_inherited_number(fd), fd);
	close(fd);
	assert_int_equal(gw_inherited_number(fd), -EBADF);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(gw_inherited_number(fds[0]), -ENOTSOCK);
	close(fds[0]);
	close(fds[1]);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(gw_inherited_number(fd), -ENOTSOCK);
	close(fd);
}
