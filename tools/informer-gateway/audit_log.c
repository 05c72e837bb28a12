/* SPDX-License-Identifier: Apache-2.0 */
/* Lines into a file; see audit_log.h. */
#include "tools/informer-gateway/audit_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/serving/buf.h"
#include "writer/base/log.h"
#include "writer/base/message.h"

struct gw_audit_log {
	char *file; /* NULL: standard output */
	uint64_t max_bytes;
	unsigned keep;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct api_buf waiting;     /* by the lock */
	uint64_t lost, lost_untold; /* by the lock */
	bool reopen, ending;        /* by the lock */

	/* the thread's own */
	int fd;
	uint64_t size;
	bool failing; /* said already */
};

/* ---- the file ---- */

static int
open_file(struct gw_audit_log *log)
{
	struct stat st;

	log->fd = log->file ? open(log->file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600)
			    : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (log->fd < 0)
		return -errno;
	log->size = fstat(log->fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return 0;
}

static void
close_file(struct gw_audit_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

static void
old_name(const struct gw_audit_log *log, unsigned age, char *out, size_t size)
{
	if (age == 0)
		snprintf(out, size, "%s", log->file);
	else
		snprintf(out, size, "%s.%u", log->file, age);
}

/* FILE becomes FILE.1, FILE.1 FILE.2; what was the oldest goes. */
static void
rotate(struct gw_audit_log *log)
{
	size_t size = strlen(log->file) + 16;
	char *from = api_alloc(size), *to = api_alloc(size);

	close_file(log);
	for (unsigned age = log->keep; age > 0; age--) {
		old_name(log, age - 1, from, size);
		old_name(log, age, to, size);
		(void)rename(from, to);
	}
	if (log->keep == 0)
		(void)unlink(log->file);
	free(from);
	free(to);
}

/* ---- the thread ---- */

/* Once an episode. */
static void
failed(struct gw_audit_log *log, int error)
{
	if (!log->failing)
		log_error("audit log %s: %s; lines are lost until it can be written to",
			  log->file ? log->file : "(standard output)", strerror(error));
	log->failing = true;
}

static bool
write_all(struct gw_audit_log *log, const char *data, size_t length)
{
	while (length > 0) {
		ssize_t n = write(log->fd, data, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			failed(log, n < 0 ? errno : EIO);
			return false;
		}
		data += n;
		length -= (size_t)n;
		log->size += (size_t)n;
	}
	log->failing = false;
	return true;
}

static uint64_t
count_lines(const char *data, size_t length)
{
	uint64_t lines = 0;

	for (const char *at = data; (at = memchr(at, '\n', length - (size_t)(at - data))); at++)
		lines++;
	return lines;
}

/* Whole lines, as many as fit into this file; at least one. */
static size_t
fitting(const struct gw_audit_log *log, const char *data, size_t length)
{
	size_t room, end = 0;

	if (!log->file || log->max_bytes == 0 || log->size + length <= log->max_bytes)
		return length;
	room = log->max_bytes > log->size ? (size_t)(log->max_bytes - log->size) : 0;
	while (end < length) {
		const char *newline = memchr(data + end, '\n', length - end);
		size_t next = newline ? (size_t)(newline - data) + 1 : length;

		if (next > room && (end > 0 || log->size > 0))
			break;
		end = next;
		if (next > room)
			break;
	}
	return end;
}

/* What could not be written, in lines. */
static uint64_t
put(struct gw_audit_log *log, const char *data, size_t length)
{
	bool rotated = false;

	while (length > 0) {
		int r = log->fd >= 0 ? 0 : open_file(log);
		size_t part = r < 0 ? 0 : fitting(log, data, length);

		if (r < 0) {
			failed(log, -r);
			return count_lines(data, length);
		}
		if (part == 0 && !rotated) {
			rotate(log);
			rotated = true;
			continue;
		}
		part = part > 0 ? part : length; /* it could not be renamed: better too long than lost */
		rotated = false;
		if (!write_all(log, data, part)) {
			close_file(log);
			return count_lines(data, length);
		}
		data += part;
		length -= part;
	}
	return 0;
}

static uint64_t
put_lost(struct gw_audit_log *log, uint64_t lost)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "{\"lost\":%" PRIu64 "}\n", lost);

	return lost > 0 && put(log, line, (size_t)length) > 0 ? lost : 0;
}

static void *
run(void *ctx)
{
	struct gw_audit_log *log = ctx;
	struct api_buf mine = {0};
	uint64_t lost;
	bool ending, reopen;

	do {
		pthread_mutex_lock(&log->lock);
		while (log->waiting.len == 0 && !log->ending && !log->reopen)
			pthread_cond_wait(&log->more, &log->lock);
		struct api_buf swapped = log->waiting;

		log->waiting = mine;
		mine = swapped;
		lost = log->lost_untold;
		log->lost_untold = 0;
		ending = log->ending;
		reopen = log->reopen;
		log->reopen = false;
		pthread_mutex_unlock(&log->lock);
		if (reopen)
			close_file(log);
		lost = put_lost(log, lost);
		uint64_t fresh = put(log, mine.data, mine.len);

		api_buf_reset(&mine);
		pthread_mutex_lock(&log->lock);
		log->lost += fresh;
		log->lost_untold += lost + fresh;
		pthread_mutex_unlock(&log->lock);
	} while (!ending);
	api_buf_done(&mine);
	return NULL;
}

/* ---- outside ---- */

/* Signals are the loop's. */
static int
start_thread(struct gw_audit_log *log)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&log->thread, NULL, run, log);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

int
gw_audit_log_open(const char *file, uint64_t max_bytes, unsigned keep, struct gw_audit_log **ret_log,
		  char **ret_error)
{
	struct gw_audit_log *log = api_alloc(sizeof(*log));
	int r;

	*log = (struct gw_audit_log){.max_bytes = max_bytes, .keep = keep, .fd = -1};
	if (strcmp(file, "-") != 0)
		log->file = api_strndup(file, strlen(file));
	pthread_mutex_init(&log->lock, NULL);
	pthread_cond_init(&log->more, NULL);
	r = open_file(log);
	if (r == 0)
		r = start_thread(log);
	if (r < 0) {
		r = message_set(ret_error, r, "audit log %s: %s", file, strerror(-r));
		close_file(log);
		free(log->file);
		free(log);
		return r;
	}
	*ret_log = log;
	return 0;
}

void
gw_audit_log_close(struct gw_audit_log *log)
{
	if (!log)
		return;
	pthread_mutex_lock(&log->lock);
	log->ending = true;
	pthread_cond_signal(&log->more);
	pthread_mutex_unlock(&log->lock);
	pthread_join(log->thread, NULL);
	close_file(log);
	api_buf_done(&log->waiting);
	pthread_cond_destroy(&log->more);
	pthread_mutex_destroy(&log->lock);
	free(log->file);
	free(log);
}

void
gw_audit_log_write(struct gw_audit_log *log, const char *line, size_t length)
{
	pthread_mutex_lock(&log->lock);
	if (log->waiting.len + length <= GW_AUDIT_WAITING_MAX) {
		api_buf_put(&log->waiting, line, length);
		pthread_cond_signal(&log->more);
	} else {
		log->lost++;
		log->lost_untold++;
	}
	pthread_mutex_unlock(&log->lock);
}

void
gw_audit_log_reopen(struct gw_audit_log *log)
{
	pthread_mutex_lock(&log->lock);
	log->reopen = true;
	pthread_cond_signal(&log->more);
	pthread_mutex_unlock(&log->lock);
}

uint64_t
gw_audit_log_lost(struct gw_audit_log *log)
{
	uint64_t lost;

	pthread_mutex_lock(&log->lock);
	lost = log->lost;
	pthread_mutex_unlock(&log->lock);
	return lost;
}
