/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's log; see log.h. */
#include "writer/base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "writer/base/message.h"

#define LOG_MAX_LINE 4096

static struct {
	_Atomic enum log_level level;
	_Atomic unsigned lost; /* lines dropped because a write would block */
	int fd;
	bool journal;
	const char *word; /* in front of each line instead of time and level; or NULL */
} out = {.level = LOG_LEVEL_INFO, .fd = STDERR_FILENO};

static const char *const level_names[] = {[LOG_LEVEL_ERROR] = "error",
					  [LOG_LEVEL_WARNING] = "warning",
					  [LOG_LEVEL_INFO] = "info",
					  [LOG_LEVEL_DEBUG] = "debug"};
static const int journal_priority[] = {
	[LOG_LEVEL_ERROR] = 3, [LOG_LEVEL_WARNING] = 4, [LOG_LEVEL_INFO] = 6, [LOG_LEVEL_DEBUG] = 7};

/* systemd's rule: standard error is the journal when JOURNAL_STREAM still names its device and inode. */
static bool
is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;
	char rest;

	if (!stream || sscanf(stream, "%llu:%llu%c", &device, &inode, &rest) != 2)
		return false;
	return fstat(fd, &st) == 0 && st.st_dev == (dev_t)device && st.st_ino == (ino_t)inode;
}

void
log_open(enum log_level level, int fd)
{
	out.level = level;
	out.fd = fd;
	out.journal = is_journal(fd);
	out.word = NULL;
}

void
log_open_plain(enum log_level level, const char *word)
{
	out.level = level;
	out.fd = STDERR_FILENO;
	out.word = word;
}

bool
log_enabled(enum log_level level)
{
	return level <= out.level;
}

int
log_level_take(void *ret_level, const char *text, char **ret_error)
{
	if (strcmp(text, "warn") == 0)
		text = level_names[LOG_LEVEL_WARNING];
	for (size_t i = 0; i < sizeof(level_names) / sizeof(*level_names); i++)
		if (strcmp(text, level_names[i]) == 0) {
			*(enum log_level *)ret_level = (enum log_level)i;
			return 0;
		}
	return message_set(ret_error, -EINVAL, "'%s' is none of error, warning, info, debug", text);
}

static size_t
write_prefix(char *line, size_t size, enum log_level level)
{
	struct timespec now;
	struct tm utc;
	int n;

	if (out.word) {
		n = snprintf(line, size, "%s", out.word);
	} else if (out.journal) {
		n = snprintf(line, size, "<%d>", journal_priority[level]);
	} else {
		clock_gettime(CLOCK_REALTIME, &now);
		gmtime_r(&now.tv_sec, &utc);
		n = snprintf(line, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ %s ", utc.tm_year + 1900,
			     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
			     now.tv_nsec / 1000000, level_names[level]);
	}
	return n > 0 ? (size_t)n : 0;
}

/* False: a write would block. */
static bool
put(const char *line, size_t length)
{
	struct pollfd ready = {.fd = out.fd, .events = POLLOUT};
	ssize_t written;

	if (poll(&ready, 1, 0) == 0)
		return false;
	do
		written = write(out.fd, line, length);
	while (written < 0 && errno == EINTR);
	return true;
}

/* Log how many lines were lost. True: none is lost any more. */
static bool
tell_lost(void)
{
	unsigned lost = out.lost;
	char line[128];
	size_t at;

	if (lost == 0)
		return true;
	at = write_prefix(line, sizeof(line), LOG_LEVEL_WARNING);
	at += (size_t)snprintf(line + at, sizeof(line) - at,
			       "%u lines of this log are lost: nobody read it\n", lost);
	if (!put(line, at))
		return false;
	out.lost -= lost;
	return true;
}

void
log_write(enum log_level level, const char *format, ...)
{
	char text[LOG_MAX_LINE], line[LOG_MAX_LINE];
	int saved_errno = errno;
	size_t at;
	va_list ap;
	int n;

	if (!log_enabled(level))
		return;
	va_start(ap, format);
	n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (n < 0)
		goto out;

	at = write_prefix(line, sizeof(line), level);
	bool cut = (size_t)n >= sizeof(text);
	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;
		bool control = c < 0x20 || c == 0x7f;

		if (at + (control ? 4 : 1) + sizeof("...\n") > sizeof(line)) {
			cut = true;
			break;
		}
		if (control)
			at += (size_t)snprintf(line + at, sizeof(line) - at, "\\x%02x", c);
		else
			line[at++] = *p;
	}
	if (cut) {
		memcpy(line + at, "...", 3);
		at += 3;
	}
	line[at++] = '\n';
	if (!tell_lost() || !put(line, at))
		out.lost++;
out:
	errno = saved_errno;
}
