/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: the handlers that informer-run runs, from the command line (run_flags.h) or a file
 * (handlers_file.h).
 */
#ifndef TOOLS_INFORMER_RUN_SETTINGS_H
#define TOOLS_INFORMER_RUN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETTINGS_HANDLERS_MAX 64
#define SETTINGS_WORKERS_MAX 256
#define SETTINGS_WINDOW_MAX 4096

/* Strings are allocated; unset members are NULL, zero or false. argv ends with NULL. */
struct handler_settings {
	char *name; /* default: the consumer's */
	char *resource;
	char *namespace_;
	char *labels;
	char *fields;
	char *consumer;
	char *dead_letters;
	uint32_t workers;
	uint32_t window;
	uint32_t deadline_ms;
	uint32_t max_crashes;
	uint32_t queue_entries;
	bool exec;
	char **argv;
};

struct settings {
	char *socket;
	uint32_t drain_ms;
	struct handler_settings *handlers;
	size_t count;
};

void
settings_done(struct settings *settings);
/*
 * Append a handler with all defaults, except those that depend on other settings: settings_check() sets them.
 * NULL: no memory, or there are SETTINGS_HANDLERS_MAX.
 */
struct handler_settings *
settings_add(struct settings *settings);

/* Copy a value. False: no memory. */
bool
settings_set(char **at, const char *value);

/* Parse "30s", "500ms", "1m30s", "2h" or "0" to milliseconds, at most 2,000,000,000 (23 days). */
bool
settings_duration(const char *text, uint32_t *ret_ms);

/*
 * Check that each handler is complete and consistent; set default names and dead-letter files.
 *
 * error    a sentence if it returns false
 */
bool
settings_check(struct settings *settings, char *error, size_t size);

#endif
