/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands of informerctl share: flags from one table each (parser, help and hints), messages,
 * attaching.
 *
 * Exit codes: EXIT_SUCCESS done; 1 what was asked for is not so (not found, not synced, damaged); 2 usage, or
 * no daemon.
 */
#ifndef TOOLS_INFORMERCTL_CLI_H
#define TOOLS_INFORMERCTL_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "reader-lib/informer.h"
#include "tools/flags/flags.h"

#define EXIT_CONDITION 1
#define EXIT_USAGE 2

struct cli_command {
	const char *name;
	const char *summary;  /* for the list of commands */
	const char *usage;    /* lines of its help, after the name of the command */
	const char *details;  /* more lines, behind the flags; may be NULL */
	const struct flag *flags; /* CLI_FLAGS last; they set a struct that begins with struct cli_args */
	size_t flag_count;
	int (*run)(const struct cli_command *command, int argc, char **argv);
};

extern const struct cli_command command_changes, command_get, command_stat, command_verify, command_wait;

/* Say on stderr, with "informerctl: " in front and a line feed behind. Always returns EXIT_USAGE. */
int
cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What every command has on its command line. Each has a struct of its own that begins with this one. */
struct cli_args {
	const char **items; /* what is no flag; free() */
	size_t count;
	const char *socket; /* or NULL */
	bool help;
};

#define CLI_FLAGS                                                                                            \
	{"socket", 0, "PATH",                                                                                \
	 "informerd's socket (default: $INFORMER_SOCKET, else /run/informer/informer.sock, or\n"             \
	 "$XDG_RUNTIME_DIR/informer/informer.sock when not root)",                                           \
	 FLAG_TEXT(struct cli_args, socket)},                                                                \
	{                                                                                                    \
		"help", 'h', NULL, "print this", FLAG_ON(struct cli_args, help)                              \
	}

/*
 * Parse a command's flags, which may stand anywhere, into its struct.
 *
 * args         the struct's beginning; zeroed, or with its defaults
 * Returns      -1 to go on, else the exit code (after help, or a message)
 */
int
cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args);

/* Attach under the name informerctl. Returns NULL after a message. */
struct informer *
cli_attach(const struct cli_args *args, unsigned flags);

/* The daemon's report (informer_stat_json()). Returns -1 with it, else the exit code, after a message. */
int
cli_ask(struct informer *inf, const struct cli_args *args, char **ret_text, size_t *ret_length);

/*
 * Begin a snapshot; while the daemon is about to publish its first arena, for a moment of patience.
 *
 * Returns -1 with a snapshot, else the exit code, after a message that says what to do.
 */
int
cli_begin(struct informer *inf, const struct cli_args *args, struct informer_snapshot *ret_snapshot);

/*
 * What a resource is. While informerd still asks the API server what it is configured to cache, it is waited
 * for, and the snapshot begun anew.
 *
 * ms        how long at most; negative: for ever, and it is said that one waits
 * ret_info  its size set; what it refers to is the snapshot's
 * Returns   0, or the library's failure: INFORMER_E_NO_RESOURCE, INFORMER_E_NOT_READY when the time is over
 */
int cli_resource(struct informer *inf, const char *name, int ms, struct informer_snapshot *snap,
		 struct informer_resource **ret_resource, struct informer_resource_info *ret_info);

/* Of INFORMER_E_NOT_READY: what is waited for, and why it takes so long. Returns EXIT_CONDITION. */
int cli_fail_not_known(struct informer *inf, const char *name);

/* A failure of the library as a message, with its remedy. Returns EXIT_USAGE. */
int cli_fail_code(int code, const char *what);

/* Where the library looks for the daemon, for messages. */
const char *
cli_socket(const struct cli_args *args);

/* After the last write: 0, or a message and EXIT_USAGE. A reader that went away is no failure. */
struct text;
int
cli_finish(struct text *out);

/*
 * "30s", "2m", "1h30m", "500ms", "0": milliseconds; "-1s" or less means for ever (-1). False when it makes no
 * sense.
 */
bool
cli_duration(const char *text, int *ret_ms);

/* The resource's nearest name in a snapshot; NULL when none is near. Valid until the next call. */
const char *
cli_nearest_resource(const struct informer_snapshot *snap, const char *name);

#endif
