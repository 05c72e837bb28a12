/* SPDX-License-Identifier: Apache-2.0 */
/* systemd's watchdog hears of a loop that turns, if it wants to. */
#include "writer/base/watchdog.h"

#include <sys/un.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"

/* Runs a loop with a watchdog until NOTIFY_SOCKET has a message; or, if none is due, until the loop ends. */
static const char *
heard(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	static char text[64];
	uv_timer_t timer;
	uv_loop_t loop;

	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	setenv("NOTIFY_SOCKET", path, 1);
	assert_int_equal(uv_loop_init(&loop), 0);
	watchdog_begin(&loop, &timer);
	memset(text, 0, sizeof(text));
	if (uv_is_active((uv_handle_t *)&timer)) {
		uv_ref((uv_handle_t *)&timer);
		while (recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT) < 0)
			uv_run(&loop, UV_RUN_ONCE);
	}
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	close(fd);
	unlink(path);
	return text;
}

#define TEST(name) TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, name)

TEST(the_watchdog_of_this_process_hears_of_it)
{
	const char *path = temp_path(*state, "notify");
	char pid[32];

	unsetenv("WATCHDOG_PID");
	setenv("WATCHDOG_USEC", "30000", 1);
	assert_string_equal(heard(path), "WATCHDOG=1");
	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	setenv("WATCHDOG_PID", pid, 1);
	assert_string_equal(heard(path), "WATCHDOG=1");
}

TEST(without_a_watchdog_nothing_is_sent)
{
	static const char *const rows[][2] = {{"30000", "1"}, {"", ""}, {"0", ""}, {"soon", ""}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setenv("WATCHDOG_USEC", rows[i][0], 1);
		setenv("WATCHDOG_PID", rows[i][1], 1);
		assert_string_equal(heard(temp_path(*state, "notify")), "");
	}
}
