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

#include "shm-layout/utf8.h"
#include "writer/base/message.h"

#define LOG_MAX_LINE 4096
#define PIECE_MAX 6u /* \uNNNN */

static struct {
	_Atomic enum log_level level;
	_Atomic unsigned lost; /* lines dropped because a write would block */
	int fd;
	bool journal;
	bool json;
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
	out.json = false;
}

void
log_use(enum log_format format)
{
	out.json = format == LOG_FORMAT_JSON;
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

int
log_format_take(void *ret_format, const char *text, char **ret_error)
{
	bool json = strcmp(text, "json") == 0;

	if (!json && strcmp(text, "text") != 0)
		return message_set(ret_error, -EINVAL, "'%s' is neither text nor json", text);
	*(enum log_format *)ret_format = json ? LOG_FORMAT_JSON : LOG_FORMAT_TEXT;
	return 0;
}

/* ---- one line ---- */

static size_t
write_time(char *to, size_t size)
{
	struct timespec now;
	struct tm utc;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	return (size_t)snprintf(to, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ", utc.tm_year + 1900,
				utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
				now.tv_nsec / 1000000);
}

/* What stands before the message; line has room for it. */
static size_t
begin_line(char *line, size_t size, enum log_level level)
{
	size_t at = 0;

	if (out.word)
		return (size_t)snprintf(line, size, "%s", out.word);
	if (out.journal)
		at = (size_t)snprintf(line, size, "<%d>", journal_priority[level]);
	if (out.json) {
		at += (size_t)snprintf(line + at, size - at, "{\"time\":\"");
		at += write_time(line + at, size - at);
		at += (size_t)snprintf(line + at, size - at, "\",\"level\":\"%s\",\"msg\":\"",
				       level_names[level]);
	} else if (!out.journal) {
		at = write_time(line, size);
		at += (size_t)snprintf(line + at, size - at, " %s ", level_names[level]);
	}
	return at;
}

/* Write what stands for the message's next bytes: at most PIECE_MAX bytes. Returns how many it read. */
static size_t
write_piece(char *to, const char *text, size_t *ret_length)
{
	unsigned char c = (unsigned char)*text;
	int taken = out.json ? utf8_length(text, strnlen(text, 4)) : 1;

	if (c < 0x20 || c == 0x7f) {
		*ret_length = (size_t)snprintf(to, PIECE_MAX + 1, out.json ? "\\u%04x" : "\\x%02x", c);
	} else if (out.json && (c == '"' || c == '\\')) {
		*ret_length = (size_t)snprintf(to, PIECE_MAX + 1, "\\%c", c);
	} else if (taken < 1) {
		*ret_length = (size_t)snprintf(to, PIECE_MAX + 1, "\\ufffd");
	} else {
		memcpy(to, text, (size_t)taken);
		*ret_length = (size_t)taken;
		return (size_t)taken;
	}
	return 1;
}

static size_t
end_line(char *line, size_t at, bool cut)
{
	return at + (size_t)sprintf(line + at, "%s%s\n", cut ? "..." : "", out.json ? "\"}" : "");
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
	char line[256];
	size_t at;

	if (lost == 0)
		return true;
	at = begin_line(line, sizeof(line), LOG_LEVEL_WARNING);
	at += (size_t)snprintf(line + at, sizeof(line) - at,
			       "%u lines of this log are lost: nobody read it", lost);
	if (!put(line, end_line(line, at, false)))
		return false;
	out.lost -= lost;
	return true;
}

void
log_write(enum log_level level, const char *format, ...)
{
	char text[LOG_MAX_LINE], line[LOG_MAX_LINE];
	int saved_errno = errno;
	size_t at, length;
	va_list ap;
	bool cut;
	int n;

	if (!log_enabled(level))
		return;
	va_start(ap, format);
	n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (n < 0)
		goto out;

	at = begin_line(line, sizeof(line), level);
	cut = (size_t)n >= sizeof(text);
	for (const char *p = text; *p; at += length) {
		if (at + PIECE_MAX + sizeof("...\"}\n") > sizeof(line)) {
			cut = true;
			break;
		}
		p += write_piece(line + at, p, &length);
	}
	at = end_line(line, at, cut);
	if (!tell_lost() || !put(line, at))
		out.lost++;
out:
	errno = saved_errno;
}
