/* SPDX-License-Identifier: Apache-2.0 */
/* Appends dead letters; see dead_letters.h. */
#include "tools/informer-run/dead_letters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void
make_folders(char *path)
{
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0700); /* open() reports failures */
		*at = '/';
	}
}

int
dead_letters_open(const char *path)
{
	char *copy = strdup(path);
	int fd;

	if (!copy)
		return -ENOMEM;
	make_folders(copy);
	free(copy);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	return fd < 0 ? -errno : fd;
}

static void
add_member(struct text *line, const char *name, const char *value)
{
	text_addf(line, "\"%s\":", name);
	change_string(value, strlen(value), line);
	text_addc(line, ',');
}

int
dead_letters_add(int fd, const char *consumer, const char *resource, const struct event *event,
		 const char *why)
{
	struct text line = TEXT_INIT(-1);
	time_t now = time(NULL);
	struct stat before;
	struct tm utc;
	char stamp[32];
	ssize_t n;
	int r = 0;

	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	text_addc(&line, '{');
	add_member(&line, "time", stamp);
	add_member(&line, "consumer", consumer);
	add_member(&line, "resource", resource);
	add_member(&line, "why", why);
	text_addf(&line, "\"crashes\":%u,\"event\":", event->crashes);
	event_line(event, &line);
	if (line.error == 0)
		line.length--; /* without its newline */
	text_adds(&line, "}\n");
	if (line.error < 0) {
		text_done(&line);
		return line.error;
	}
	if (fstat(fd, &before) < 0) {
		r = -errno;
		goto out;
	}
	do
		n = write(fd, line.data, line.length);
	while (n < 0 && errno == EINTR);
	if (n < 0 || (size_t)n < line.length) {
		r = n < 0 ? -errno : -ENOSPC;
		/* remove a partial line from a file; a pipe or device keeps it */
		if (n > 0 && S_ISREG(before.st_mode) && ftruncate(fd, before.st_size) < 0)
			r = -errno;
	} else if (fdatasync(fd) < 0 && errno != EINVAL && errno != EROFS) {
		r = -errno;
	}
out:
	text_done(&line);
	return r;
}
