/* SPDX-License-Identifier: Apache-2.0 */
/* informer-run's handler processes, with real processes of /bin/sh. */
#include <poll.h>
#include <sys/syscall.h>

#include "tests/room.h"
#include "tools/informer-run/handler_process.h"

struct fixture {
	struct loop loop;
	struct process process;
	struct text lines; /* each with its line feed; "TOO LONG" for a line that was too long */
};

static void
take_line(void *context, char *line)
{
	struct fixture *f = context;

	text_adds(&f->lines, line ? line : "TOO LONG");
	text_addc(&f->lines, '\n');
}

static void
begin(struct fixture *f)
{
	signal(SIGPIPE, SIG_IGN);
	*f = (struct fixture){.lines = TEXT_INIT(-1)};
	assert_int_equal(loop_init(&f->loop), 0);
	process_init(&f->process, &f->loop, take_line, f);
}

static int
set_up(void **state)
{
	static struct fixture f;

	begin(&f);
	*state = &f;
	return 0;
}

static void
end(struct fixture *f)
{
	process_done(&f->process);
	text_done(&f->lines);
	loop_done(&f->loop);
}

TEAR_DOWN(tear_down, end)
#define TEST(name) TEST_CASE_OF(struct fixture *f, set_up, tear_down, name)

static void
run_shell(struct fixture *f, const char *script)
{
	char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, strdup(script), NULL};
	char *const environment[] = {(char[]){"GREETING=hello"}, NULL};

	assert_int_equal(process_start(&f->process, argv, environment, true), 0);
	free(argv[2]);
}

static size_t
count_lines(const struct fixture *f)
{
	size_t count = 0;

	for (size_t i = 0; i < f->lines.length; i++)
		count += f->lines.data[i] == '\n';
	return count;
}

/* Wait until this many lines have come. */
static void
wait_lines(struct fixture *f, size_t wanted)
{
	while (count_lines(f) < wanted)
		loop_once(&f->loop, UINT64_MAX);
}

static void
wait_end(struct fixture *f)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)f->process.pid, &info, WEXITED | WNOWAIT), 0);
}

/* A process reads the lines written to it, its own lines are reported, and its environment is as given. */
TEST(lines_go_in_and_out)
{
	char why[64];

	run_shell(f, "echo $GREETING; while read -r line; do echo \"got $line\"; done; exit 3");
	assert_int_equal(process_write(&f->process, "one\ntwo\n", 8), 0);
	wait_lines(f, 3);
	assert_string_equal(f->lines.data, "hello\ngot one\ngot two\n");
	process_close_input(&f->process);
	wait_end(f);
	assert_int_equal(WEXITSTATUS(process_reap(&f->process, why, sizeof(why))), 3);
	assert_string_equal(why, "exit code 3");
}

/* Lines that a process wrote just before its end are reported when it is reaped. */
TEST(lines_before_the_end_are_reported)
{
	char why[64];

	run_shell(f, "echo ack 1; echo ack 2; kill -9 $$");
	wait_end(f);
	process_reap(&f->process, why, sizeof(why));
	assert_string_equal(f->lines.data, "ack 1\nack 2\n");
	assert_string_equal(why, "signal 9 (Killed)");
}

/* A line longer than any answer is reported as too long, and later lines are complete. */
TEST(a_line_that_is_too_long_is_dropped)
{
	run_shell(f, "printf '%01000d\\nack 5\\n' 0; read -r line");
	wait_lines(f, 2);
	assert_string_equal(f->lines.data, "TOO LONG\nack 5\n");
}

/* Events beyond the pipe's room are kept and written as the process reads. No call blocks. */
TEST(a_slow_reader_gets_everything)
{
	char *line = malloc(100001);

	assert_non_null(line);
	memset(line, 'x', 100000);
	line[100000] = '\n';
	run_shell(f, "read -r go; wc -c");
	assert_int_equal(process_write(&f->process, "go\n", 3), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(process_write(&f->process, line, 100001), 0);
	process_close_input(&f->process);
	wait_lines(f, 1);
	assert_int_equal(atoi(f->lines.data), 20 * 100001);
	free(line);
}

TEST(writing_to_a_closed_pipe_is_harmless)
{
	run_shell(f, "exec 0<&-; echo closed; sleep 60");
	wait_lines(f, 1);
	for (int i = 0; i < 3; i++)
		process_write(&f->process, "event\n", 6);
	assert_int_equal(process_write(&f->process, "event\n", 6), -EBADF);
}

/* A command that does not exist fails to start with its cause, and leaves nothing behind. */
TEST(a_command_that_does_not_exist_is_reported)
{
	char *const argv[] = {(char[]){"/nonexistent/handler"}, NULL};

	assert_int_equal(process_start(&f->process, argv, NULL, true), -ENOENT);
	assert_int_equal(f->process.pid, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(process_check("/nonexistent/handler"), -ENOENT);
	assert_int_equal(process_check("/etc"), 0); /* starting it will fail */
	assert_int_equal(process_check("sh"), 0);
}

/* Wait until a process, perhaps not our child, has ended. */
static void
wait_gone(pid_t pid)
{
	struct pollfd ended = {(int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0};

	if (ended.fd < 0) {
		assert_int_equal(errno, ESRCH);
		return;
	}
	assert_int_equal(poll(&ended, 1, -1), 1);
	close(ended.fd);
}

/* Processes that a handler started in its group are killed with it. */
TEST(children_of_a_process_go_with_it)
{
	char why[64];
	pid_t child;

	run_shell(f, "sleep 1000 & echo $!; kill -9 $$");
	wait_lines(f, 1);
	child = atoi(f->lines.data);
	assert_true(child > 0);
	wait_end(f);
	process_reap(&f->process, why, sizeof(why));
	wait_gone(child);
}

TEST_CASE(handlers_are_killed_with_informer_run)
{
	int ends[2];
	pid_t parent, handler = 0;

	assert_int_equal(pipe(ends), 0);
	parent = fork();
	assert_true(parent >= 0);
	if (parent == 0) {
		struct fixture f;

		begin(&f);
		run_shell(&f, "trap '' TERM HUP; echo up; exec sleep 1000");
		wait_lines(&f, 1);
		if (write(ends[1], &f.process.pid, sizeof(pid_t)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ends[0], &handler, sizeof(handler)), sizeof(handler));
	kill(parent, SIGKILL);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	wait_gone(handler);
	close(ends[0]);
	close(ends[1]);
}
