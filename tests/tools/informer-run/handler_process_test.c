/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer-run's handler processes: real ones, /bin/sh.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/room.h"
#include "tools/informer-run/handler_process.h"

struct fixture {
	struct loop loop;
	struct process process;
	struct text lines; /* each with its line feed; one that was too long is "TOO LONG" */
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

static void
end(struct fixture *f)
{
	process_done(&f->process);
	text_done(&f->lines);
	loop_done(&f->loop);
}

static void
run_shell(struct fixture *f, const char *script)
{
	char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, strdup(script), NULL};
	char *const environment[] = {(char[]){"GREETING=hello"}, NULL};

	assert_int_equal(process_start(&f->process, argv, environment, true), 0);
	free(argv[2]);
}

/* Until this many lines have come. */
static void
wait_lines(struct fixture *f, size_t wanted)
{
	uint64_t end_ms = loop_now() + 20000;

	for (;;) {
		size_t count = 0;

		for (size_t i = 0; i < f->lines.length; i++)
			count += f->lines.data[i] == '\n';
		if (count >= wanted)
			return;
		assert_true(loop_now() < end_ms);
		loop_once(&f->loop, end_ms);
	}
}

static void
wait_end(struct fixture *f)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)f->process.pid, &info, WEXITED | WNOWAIT), 0);
}

/*
 * A process reads what is written to it, its lines are told one by one, its environment is what was asked
 * for.
 */
static void
lines_go_in_and_out(void **state)
{
	struct fixture f;
	char why[64];

	(void)state;
	begin(&f);
	run_shell(&f, "echo $GREETING; while read -r line; do echo \"got $line\"; done; exit 3");
	assert_int_equal(process_write(&f.process, "one\ntwo\n", 8), 0);
	wait_lines(&f, 3);
	assert_string_equal(f.lines.data, "hello\ngot one\ngot two\n");
	process_close_input(&f.process);
	wait_end(&f);
	assert_int_equal(WEXITSTATUS(process_reap(&f.process, why, sizeof(why))), 3);
	assert_string_equal(why, "exit code 3");
	end(&f);
}

/* What it said last before it ended is told when it is reaped. */
static void
last_words_are_heard(void **state)
{
	struct fixture f;
	char why[64];

	(void)state;
	begin(&f);
	run_shell(&f, "echo ack 1; echo ack 2; kill -9 $$");
	wait_end(&f);
	process_reap(&f.process, why, sizeof(why));
	assert_string_equal(f.lines.data, "ack 1\nack 2\n");
	assert_string_equal(why, "signal 9 (Killed)");
	end(&f);
}

/* A line that is longer than any answer is told as such, and the next ones are whole. */
static void
a_line_that_is_too_long_is_dropped(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	run_shell(&f, "printf '%01000d\\nack 5\\n' 0; read -r line");
	wait_lines(&f, 2);
	assert_string_equal(f.lines.data, "TOO LONG\nack 5\n");
	end(&f);
}

/* Events that the pipe does not hold are kept, and written as it is read; nothing blocks meanwhile. */
static void
a_slow_reader_gets_everything(void **state)
{
	struct fixture f;
	char *line = malloc(100001);

	(void)state;
	begin(&f);
	assert_non_null(line);
	memset(line, 'x', 100000);
	line[100000] = '\n';
	run_shell(&f, "read -r go; wc -c");
	assert_int_equal(process_write(&f.process, "go\n", 3), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(process_write(&f.process, line, 100001), 0);
	process_close_input(&f.process);
	wait_lines(&f, 1);
	assert_int_equal(atoi(f.lines.data), 20 * 100001);
	free(line);
	end(&f);
}

/* Writing to one that reads no more kills nobody. */
static void
writing_to_the_deaf_is_harmless(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	run_shell(&f, "exec 0<&-; echo closed; sleep 60");
	wait_lines(&f, 1);
	for (int i = 0; i < 3; i++)
		process_write(&f.process, "event\n", 6);
	assert_int_equal(process_write(&f.process, "event\n", 6), -EBADF);
	end(&f);
}

/* A command that is not there is a failure to start, with its cause; nothing is left behind. */
static void
what_cannot_be_executed_is_told(void **state)
{
	char *const argv[] = {(char[]){"/nonexistent/handler"}, NULL};
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(process_start(&f.process, argv, NULL, true), -ENOENT);
	assert_int_equal(f.process.pid, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(process_check("/nonexistent/handler"), -ENOENT);
	assert_int_equal(process_check("/etc"), 0); /* the start will tell */
	assert_int_equal(process_check("sh"), 0);
	end(&f);
}

static bool
is_gone(pid_t pid)
{
	char path[64], text[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return true;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strstr(text, ") Z ") != NULL; /* whose parent has not looked yet */
}

static void
wait_gone(pid_t pid)
{
	for (uint64_t end_ms = loop_now() + 20000; !is_gone(pid); usleep(1000))
		assert_true(loop_now() < end_ms);
}

/* What a process started in its group goes with it. */
static void
children_of_a_process_go_with_it(void **state)
{
	struct fixture f;
	char why[64];
	pid_t child;

	(void)state;
	begin(&f);
	run_shell(&f, "sleep 1000 & echo $!; kill -9 $$");
	wait_lines(&f, 1);
	child = atoi(f.lines.data);
	assert_true(child > 0);
	wait_end(&f);
	process_reap(&f.process, why, sizeof(why));
	wait_gone(child);
	end(&f);
}

/* When informer-run is killed, its handlers go too. */
static void
handlers_go_with_informer_run(void **state)
{
	int ends[2];
	pid_t parent, handler = 0;

	(void)state;
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

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(lines_go_in_and_out),
	cmocka_unit_test(last_words_are_heard),
	cmocka_unit_test(a_line_that_is_too_long_is_dropped),
	cmocka_unit_test(a_slow_reader_gets_everything),
	cmocka_unit_test(writing_to_the_deaf_is_harmless),
	cmocka_unit_test(what_cannot_be_executed_is_told),
	cmocka_unit_test(children_of_a_process_go_with_it),
	cmocka_unit_test(handlers_go_with_informer_run),
};
TEST_GROUP(tests, NULL, NULL);
