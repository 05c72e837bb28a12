/* SPDX-License-Identifier: Apache-2.0 */
/* The queue and its thread; see audit_log.h. */
#include "tools/informer-gateway/gate/audit_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/serving/buf.h"
#include "writer/base/log.h"
#include "writer/base/message.h"

struct gw_audit_log {
	char *file; /* NULL: standard output */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct api_buf waiting; /* under the lock */
	_Atomic uint64_t lost;  /* lines lost so far */
	bool reopen, ending;    /* under the lock */

	/* used only by the thread */
	int fd;
	bool failing; /* the failure is already logged */
};

static void
close_file(struct gw_audit_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

/*
 * Write all bytes, and open the file if necessary. Returns 0 or a negative errno; after an error the file is
 * closed.
 */
static int
append(struct gw_audit_log *log, const char *data, size_t length)
{
	int r = 0;

	if (log->fd < 0)
		log->fd = log->file ? open(log->file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY,
					   0600)
				    : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (log->fd < 0)
		return -errno;
	while (length > 0 && r == 0) {
		ssize_t n = write(log->fd, data, length);

		if (n > 0) {
			data += n;
			length -= (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			r = n == 0 ? -EIO : -errno;
		}
	}
	if (r < 0)
		close_file(log);
	return r;
}

/* ---- the thread ---- */

/* Append. Only the first of consecutive failures is logged. */
static bool
put(struct gw_audit_log *log, const char *data, size_t length)
{
	int r = append(log, data, length);

	if (r < 0 && !log->failing)
		log_error("audit log %s: %s; lines are lost until it can be written to",
			  log->file ? log->file : "(standard output)", strerror(-r));
	log->failing = r < 0;
	return r == 0;
}

static void *
run(void *ctx)
{
	struct gw_audit_log *log = ctx;
	struct api_buf mine = {0}, empty;
	uint64_t lost, told = 0;
	char line[64];
	bool ending, reopen;

	do {
		pthread_mutex_lock(&log->lock);
		while (log->waiting.len == 0 && !log->ending && !log->reopen)
			pthread_cond_wait(&log->more, &log->lock);
		empty = mine;
		mine = log->waiting;
		log->waiting = empty;
		lost = log->lost - told;
		ending = log->ending;
		reopen = log->reopen;
		log->reopen = false;
		pthread_mutex_unlock(&log->lock);
		if (reopen)
			close_file(log);
		snprintf(line, sizeof(line), "{\"lost\":%" PRIu64 "}\n", lost);
		if (lost > 0 && put(log, line, strlen(line)))
			told += lost;
		if (!put(log, mine.data, mine.len))
			for (size_t i = 0; i < mine.len; i++)
				log->lost += mine.data[i] == '\n';
		api_buf_reset(&mine);
	} while (!ending);
	api_buf_done(&mine);
	return NULL;
}

/* ---- other threads ---- */

/* Set `reopen` or `ending`. */
static void
ask(struct gw_audit_log *log, bool *flag)
{
	pthread_mutex_lock(&log->lock);
	*flag = true;
	pthread_cond_signal(&log->more);
	pthread_mutex_unlock(&log->lock);
}

static void
let_go(struct gw_audit_log *log)
{
	close_file(log);
	api_buf_done(&log->waiting);
	pthread_cond_destroy(&log->more);
	pthread_mutex_destroy(&log->lock);
	free(log->file);
	free(log);
}

int
gw_audit_log_open(const char *file, struct gw_audit_log **ret_log, char **ret_error)
{
	struct gw_audit_log *log = api_alloc(sizeof(*log));
	int r;

	*log = (struct gw_audit_log){.fd = -1};
	if (strcmp(file, "-") != 0)
		log->file = api_strndup(file, strlen(file));
	pthread_mutex_init(&log->lock, NULL);
	pthread_cond_init(&log->more, NULL);
	r = append(log, "", 0);
	if (r == 0)
		r = -pthread_create(&log->thread, NULL, run, log);
	if (r < 0) {
		let_go(log);
		return message_set(ret_error, r, "audit log %s: %s", file, strerror(-r));
	}
	*ret_log = log;
	return 0;
}

void
gw_audit_log_close(struct gw_audit_log *log)
{
	if (!log)
		return;
	ask(log, &log->ending);
	pthread_join(log->thread, NULL);
	let_go(log);
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
	}
	pthread_mutex_unlock(&log->lock);
}

void
gw_audit_log_reopen(struct gw_audit_log *log)
{
	ask(log, &log->reopen);
}

uint64_t
gw_audit_log_lost(const struct gw_audit_log *log)
{
	return log->lost;
}
