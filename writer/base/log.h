/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's log: one line for each event, to standard error.
 *
 * Under systemd (JOURNAL_STREAM names the device and inode of standard error) a line starts with sd-daemon's
 * "<N>" priority. Otherwise it starts with the time (ISO 8601, UTC, to the millisecond) and the level.
 * Control characters are written as \xNN, so that a server's text cannot forge a second line. In JSON a line
 * is {"time":"2026-11-28T02:20:46.413Z","level":"info","msg":"..."}, after the journal's priority. Secrets
 * are never logged. A failure is logged only where it is decided about; libraries below return errors.
 *
 * Logging never blocks: a line that cannot be written at once is dropped and counted, and the count is
 * written when there is room again.
 */
#ifndef WRITER_BASE_LOG_H
#define WRITER_BASE_LOG_H

#include <stdbool.h>

enum log_level {
	LOG_LEVEL_ERROR,   /* an operator must act: a resource or the daemon does not work */
	LOG_LEVEL_WARNING, /* something failed and is tried again */
	LOG_LEVEL_INFO,    /* started, listed, adopted, moved: for operators */
	LOG_LEVEL_DEBUG,   /* each request and each decision */
};

#define log_error(...)   log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   (log_enabled(LOG_LEVEL_DEBUG) ? log_write(LOG_LEVEL_DEBUG, __VA_ARGS__) : (void)0)

/*
 * Set the least important level that is written (LOG_LEVEL_INFO before the first call) and the descriptor,
 * and check whether that is the journal. Call once, before threads start.
 */
void log_open(enum log_level level, int fd);

/*
 * The same, for a program that a person calls: to standard error, each line with only this word in front.
 * word is borrowed for good.
 */
void log_open_plain(enum log_level level, const char *word);

enum log_format { LOG_FORMAT_NOT_SAID, LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

/* How lines look from now on, until log_open_plain(). Text before the first call. Before threads start. */
void log_use(enum log_format format);

bool log_enabled(enum log_level level);

/*
 * Write one line. Lines longer than 4096 bytes are cut and end in "...".
 *
 * Threads   any; a line is one write(2), lines do not mix
 * Errors    a line that cannot be written is dropped; errno is preserved
 */
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Parse "error", "warning" (or "warn"), "info", "debug", for a flag: 0, or -EINVAL with message. */
int log_level_take(void *ret_level, const char *text, char **ret_error);
/* Parse "text", "json" into an enum log_format. */
int log_format_take(void *ret_format, const char *text, char **ret_error);

#endif
