/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler for informer-run, for its tests: notes each event in the file $OUT ("PID SEQ TYPE NAMESPACE/NAME
 * RESOURCEVERSION", of a RESYNC its id), then acknowledges it. By the environment it is worse than that:
 *
 *	POISON=TEXT      aborts on an event of a name with TEXT in it
 *	HANG=TEXT        never answers such an event
 *	RETRY=TEXT       asks once for another try of it in 50 ms: where $OUT.retried is not there yet
 *	HOLD=FILE        acknowledges nothing while FILE exists
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int out;

/* The text after a mark, up to its quote; "" without the mark. */
static void
text_behind(const char *line, const char *mark, char *buffer, size_t size)
{
	const char *at = strstr(line, mark), *end = at ? strchr(at + strlen(mark), '"') : NULL;

	snprintf(buffer, size, "%.*s", end ? (int)(end - at - (long)strlen(mark)) : 0,
		 end ? at + strlen(mark) : "");
}

/* The digits after a mark; "" without the mark. */
static void
number_behind(const char *line, const char *mark, char *buffer, size_t size)
{
	const char *at = strstr(line, mark);

	at = at ? at + strlen(mark) : "";
	snprintf(buffer, size, "%.*s", (int)strspn(at, "0123456789"), at);
}

static void
note(const char *what)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "%d %s\n", (int)getpid(), what);

	if (write(out, line, (size_t)n) != n)
		_exit(3);
}

static int
is(const char *variable, const char *name)
{
	const char *part = getenv(variable);

	return part && *part && strstr(name, part);
}

/* True once. */
static int
first_time(void)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.retried", getenv("OUT"));
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void
handle(const char *line)
{
	char type[32], name[300], ns[300], rv[64], what[900];
	unsigned long long seq = 0;
	const char *metadata = strstr(line, "\"metadata\":{"), *hold = getenv("HOLD");

	if (sscanf(line, "{\"seq\":%llu,", &seq) != 1)
		_exit(4);
	text_behind(line, "\"type\":\"", type, sizeof(type));
	if (!metadata) {
		number_behind(line, "\"id\":", rv, sizeof(rv));
		snprintf(what, sizeof(what), "%llu %s%s%s", seq, type, *rv ? " " : "", rv);
		note(what);
		return;
	}
	text_behind(metadata, "\"name\":\"", name, sizeof(name));
	text_behind(metadata, "\"namespace\":\"", ns, sizeof(ns));
	text_behind(metadata, "\"resourceVersion\":\"", rv, sizeof(rv));
	snprintf(what, sizeof(what), "%llu %s %s/%s %s", seq, type, ns, name, rv);
	note(what);
	if (is("POISON", name))
		abort();
	if (is("HANG", name))
		pause();
	while (hold && access(hold, F_OK) == 0)
		usleep(10000);
	if (is("RETRY", name) && first_time())
		printf("retry %llu 50\n", seq);
	else
		printf("ack %llu\n", seq);
	fflush(stdout);
}

int
main(void)
{
	const char *path = getenv("OUT");
	char *line = NULL;
	size_t size = 0;

	out = open(path ? path : "/dev/null", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (out < 0)
		return 1;
	while (getline(&line, &size, stdin) > 0)
		if (line)
			handle(line);
	free(line);
	return 0;
}
