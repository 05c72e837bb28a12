/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by informerctl's commands: parsing flags (one table for each command: parser, help and hints),
 * messages, attaching.
 *
 * Exit codes: EXIT_SUCCESS done; 1 condition not met (not found, not synced, damaged); 2 usage error, or no
 * daemon.
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
	const char *usage;    /* help lines after the command's name */
	const char *details;  /* help lines after the flags; may be NULL */
	const struct flag *flags; /* CLI_FLAGS last; they set a struct that begins with struct cli_args */
	size_t flag_count;
	int (*run)(const struct cli_command *command, int argc, char **argv);
};

extern const struct cli_command command_changes, command_get, command_purge, command_rbac, command_stat,
	command_verify, command_wait, command_whois;

/* Print on stderr, after "informerctl: " and with a line feed. Always returns EXIT_USAGE. */
int
cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Arguments of every command. Each command's own struct begins with this one. */
struct cli_args {
	const char **items; /* non-flag arguments; free() */
	size_t count;
	const char *socket; /* or NULL */
	int start_ms;       /* --start-timeout; negative: no limit */
	bool help;
};

#define CLI_FLAGS                                                                                            \
	{"socket", 0, "PATH",                                                                                \
	 "informerd's socket (default: $INFORMER_SOCKET, else the user's own, in $XDG_RUNTIME_DIR,\n"        \
	 "else /run/informer/informer.sock)",                                                                \
	 FLAG_TEXT(struct cli_args, socket)},                                                                \
	{                                                                                                    \
		"help", 'h', NULL, "print this", FLAG_ON(struct cli_args, help)                              \
	}
/* Of commands that begin with cli_begin() or cli_ask(): before CLI_FLAGS. */
#define CLI_START_FLAG(lists)                                                                                \
	{                                                                                                    \
		"start-timeout", 0, "TIME",                                                                  \
			"how long to wait for an informerd that starts" lists " (default: 3s; 0: not)",      \
			cli_take_duration, offsetof(struct cli_args, start_ms), false                        \
	}

/*
 * Parse a command's flags, at any position, into its struct.
 *
 * args         the struct's beginning; zeroed, or with its defaults
 * Returns      -1 to continue, else the exit code (after help, or a message)
 */
int
cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args);
/* The same, for a command that takes flags only: an argument is a usage error. */
int
cli_parse_flags(const struct cli_command *command, int argc, char **argv, struct cli_args *args);

/* Attach under the name informerctl. Returns NULL after a message. */
struct informer *
cli_attach(const struct cli_args *args, unsigned flags);

/* flag_take: a duration as cli_duration() reads it, to an int of milliseconds. */
flag_take cli_take_duration;

/*
 * The daemon's report (informer_stat_json()). While no daemon listens, wait up to args->start_ms.
 *
 * Returns -1 with it, else the exit code, after a message
 */
int
cli_ask(struct informer *inf, const struct cli_args *args, char **ret_text, size_t *ret_length);

/*
 * Begin a snapshot. If no daemon runs, wait up to args->start_ms for one; if a daemon runs and has not
 * published its first arena, wait up to 5 s, or args->start_ms if that is longer. A wait of more than 0.3 s
 * is announced on stderr.
 *
 * Returns -1 with a snapshot, else the exit code, after a message that says what to do.
 */
int
cli_begin(struct informer *inf, const struct cli_args *args, struct informer_snapshot *ret_snapshot);

/*
 * Open a resource. While informerd is still asking the API server about a configured resource, wait, and
 * renew the snapshot.
 *
 * ms        longest wait; negative: no limit, and print that we wait
 * ret_info  its size set; borrows from the snapshot
 * Returns   0, or the library's error: INFORMER_E_NO_RESOURCE, INFORMER_E_NOT_READY when the time is over
 */
int cli_resource(struct informer *inf, const char *name, int ms, struct informer_snapshot *snap,
		 struct informer_resource **ret_resource, struct informer_resource_info *ret_info);

/*
 * Wait until the resource's first list is in, at most ms (negative: no limit), and renew the snapshot, which
 * says whether it is in. A wait of more than 0.3 s is announced on stderr.
 *
 * Returns -1, else the exit code, after a message and without a snapshot
 */
int cli_wait_synced(struct informer *inf, const struct cli_args *args, const char *name, int ms,
		    struct informer_snapshot *snap);

/* Print what INFORMER_E_NOT_READY waits for, and why. Returns EXIT_CONDITION. */
int cli_fail_not_known(struct informer *inf, const char *name);

/* Print a failure of the library, with its remedy. Returns EXIT_USAGE. */
int cli_fail_code(int code, const char *what);

/* The daemon's socket, for messages. */
const char *
cli_socket(struct informer *inf);

/* Finish the output. Returns 0, or EXIT_USAGE after a message. A closed pipe is no failure. */
struct text;
int
cli_finish(struct text *out);

/*
 * Parse "30s", "2m", "1h30m", "500ms", "0" to milliseconds. A negative duration gives -1: no limit. False:
 * invalid.
 */
bool
cli_duration(const char *text, int *ret_ms);

#endif
