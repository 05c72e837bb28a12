/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a room's tests (room.h), each in a process of its own.
 *
 *	build/tests/ROOM [-l] [-v] [PART...]
 *
 * Without PART all of them, else those whose name, ROOM/FILE/TEST, contains one of the PARTs. -l lists the
 * names. Each test's output is shown when the test fails, with -v always. A test that runs for more than
 * TEST_SECONDS (300, in the long half 1800) is ended. Exits with 0 when no test failed.
 */
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "tests/room.h"

#define SECONDS 1e-9

struct output {
	char *text;
	size_t length;
};

struct tally {
	unsigned passed, failed, skipped;
	double slowest;
	char slowest_name[256];
};

static struct test_group *groups;

void
test_group_add(struct test_group *group)
{
	struct test_group **at = &groups;

	while (*at != NULL && strcmp((*at)->file, group->file) <= 0)
		at = &(*at)->next;
	group->next = *at;
	*at = group;
}

bool
test_is_long(void)
{
	const char *text = getenv("LONG");

	return text != NULL && *text != '\0';
}

uint64_t
test_seed(uint64_t fixed)
{
	const char *text = getenv("SEED");

	return text != NULL && *text != '\0' ? strtoull(text, NULL, 0) : fixed;
}

/* Of "tests/writer/store/found_test.c" and "what_is_gone_is_added":
 * "writer/store/found/what_is_gone_is_added". */
static void
name_of(char *buffer, size_t size, const struct test_group *group, const struct CMUnitTest *test)
{
	const char *file = group->file + strlen("tests/");

	snprintf(buffer, size, "%.*s/%s", (int)(strlen(file) - strlen("_test.c")), file, test->name);
}

static bool
is_wanted(const char *name, char **parts)
{
	if (*parts == NULL)
		return true;
	for (; *parts != NULL; parts++)
		if (strstr(name, *parts) != NULL)
			return true;
	return false;
}

static unsigned
seconds_allowed(void)
{
	const char *text = getenv("TEST_SECONDS");

	if (text != NULL && *text != '\0')
		return (unsigned)strtoul(text, NULL, 10);
	return test_is_long() ? 1800 : 300;
}

/* The test's process: does not return. Its output goes to `out`. */
static void
run_here(const struct test_group *group, const struct CMUnitTest *test, int out)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	close(out);
	alarm(seconds_allowed());
	exit(_cmocka_run_group_tests(group->file, test, 1, group->set_up, group->tear_down) == 0 ? 0 : 1);
}

/* All that can be read without waiting; false at the end of the file. */
static bool
take(struct output *output, int fd)
{
	char buffer[4096];
	ssize_t n = read(fd, buffer, sizeof(buffer));

	if (n <= 0)
		return n < 0 && errno == EINTR;
	output->text = realloc(output->text, output->length + (size_t)n + 1);
	memcpy(output->text + output->length, buffer, (size_t)n);
	output->length += (size_t)n;
	output->text[output->length] = '\0';
	return true;
}

/* Reads until the test's process has ended. What the process started may live on and hold the pipe open: not
 * waited for. */
static int
wait_for(pid_t pid, int fd, struct output *output)
{
	struct pollfd readable = {fd, POLLIN, 0};
	bool open = true, ended = false;
	int status = 0;

	while (!ended) {
		ended = waitpid(pid, &status, open ? WNOHANG : 0) == pid;
		while (open && poll(&readable, 1, ended ? 0 : 20) > 0)
			open = take(output, fd);
	}
	return status;
}

/* Why it failed, as far as cmocka has not said so itself. */
static void
print_end(int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		printf("did not end within %u s (TEST_SECONDS)\n", seconds_allowed());
	else if (WIFSIGNALED(status))
		printf("ended by signal %d, %s\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		printf("ended with exit code %d\n", WEXITSTATUS(status));
}

static void
run(const struct test_group *group, const struct CMUnitTest *test, bool verbose, struct tally *tally)
{
	struct output output = {0};
	char name[sizeof(tally->slowest_name)];
	uint64_t start = time_ns(CLOCK_MONOTONIC);
	double took;
	int pipe_ends[2], status;
	pid_t pid;

	name_of(name, sizeof(name), group, test);
	fflush(NULL);
	if (pipe(pipe_ends) != 0 || (pid = fork()) < 0) {
		perror("pipe or fork");
		exit(2);
	}
	if (pid == 0) {
		close(pipe_ends[0]);
		run_here(group, test, pipe_ends[1]);
	}
	close(pipe_ends[1]);
	status = wait_for(pid, pipe_ends[0], &output);
	close(pipe_ends[0]);

	took = (double)(time_ns(CLOCK_MONOTONIC) - start) * SECONDS;
	if (took > tally->slowest) {
		tally->slowest = took;
		strcpy(tally->slowest_name, name);
	}
	if (status != 0) {
		tally->failed++;
		printf("FAIL  %s (%.2f s)\n%s", name, took, output.text ? output.text : "");
		print_end(status);
	} else if (output.text != NULL && strstr(output.text, "[  SKIPPED ] ") != NULL) {
		tally->skipped++;
		if (verbose)
			printf("SKIP  %s\n", name);
	} else {
		tally->passed++;
		if (verbose)
			printf("ok    %s (%.2f s)\n%s", name, took, output.text ? output.text : "");
	}
	free(output.text);
}

int
main(int argc, char **argv)
{
	struct tally tally = {0};
	bool verbose = false, list = false;
	uint64_t start = time_ns(CLOCK_MONOTONIC);
	char name[256];
	int option;

	while ((option = getopt(argc, argv, "lv")) != -1) {
		if (option == '?') {
			fprintf(stderr, "usage: %s [-l] [-v] [PART...]\n", argv[0]);
			return 2;
		}
		list |= option == 'l';
		verbose |= option == 'v';
	}
	if (sodium_init() < 0)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (const struct test_group *group = groups; group != NULL; group = group->next)
		for (const struct CMUnitTest *test = group->tests; test < group->tests + group->count;
		     test++) {
			name_of(name, sizeof(name), group, test);
			if (!is_wanted(name, argv + optind))
				continue;
			if (list)
				puts(name);
			else
				run(group, test, verbose, &tally);
		}
	if (!list)
		printf("%u tests passed, %u failed, %u skipped in %.1f s; the slowest: %s %.2f s\n",
		       tally.passed, tally.failed, tally.skipped,
		       (double)(time_ns(CLOCK_MONOTONIC) - start) * SECONDS, tally.slowest_name,
		       tally.slowest);
	return tally.failed != 0;
}
