/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags: parses the command lines of all our programs. One table of flags makes the parser, the text of
 * --help, and the hint after a misspelt flag. It uses only libc and prints no messages: it returns them to
 * the caller.
 *
 *	--flag VALUE   --flag=VALUE   -f VALUE   -fVALUE   -f=VALUE   --switch   --switch=false   -ab (-a -b)
 *
 * Names must be complete: an abbreviation would break a script when another flag is added. A repeated flag is
 * taken each time; of a single value the last counts. "--" ends the flags; "-" is not a flag.
 */
#ifndef TOOLS_FLAGS_FLAGS_H
#define TOOLS_FLAGS_FLAGS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Take a flag's value, which is not empty; for a switch "true" or "false".
 *
 * at       the member of the program's struct (struct flag's offset)
 * Returns  0; negative with a message about the value, or -ENOMEM, possibly without one
 */
typedef int flag_take(void *at, const char *value, char **ret_error);

struct flag {
	const char *name;     /* after "--"; NULL: a heading in --help */
	char letter;          /* after "-", or 0 */
	const char *argument; /* name of the value in --help; NULL: a switch */
	const char *help;     /* lines separated by \n; or the heading */
	flag_take *take;
	size_t offset;      /* of the member that take() sets */
	bool empty_is_none; /* an empty value unsets it, as kubectl's --context=""; else refused */
};

#define FLAGS_MAX 64
#define FLAG_HEADING(text) {NULL, 0, NULL, text, NULL, 0, false}
/* The last columns of a row: a bool, a borrowed or an owned string, several strings. */
#define FLAG_ON(type, member) flag_take_on, offsetof(type, member), false
#define FLAG_TEXT(type, member) flag_take_text, offsetof(type, member), false
#define FLAG_COPY(type, member) flag_take_copy, offsetof(type, member), false
#define FLAG_TEXTS(type, member) flag_take_texts, offsetof(type, member), false

struct flag_table {
	const struct flag *flags; /* FLAGS_MAX at most */
	size_t count;
	const char *see;          /* named in the message about an unknown flag, as "x --help"; or NULL */
	bool with_value;	  /* messages about a value begin with "--flag VALUE: ", not "--flag: " */
	/* Hint for a flag name of another program; may return NULL. May be NULL. */
	const char *(*foreign_hint)(const char *name);
};

/*
 * Parse a command line (argv[0] is the program).
 *
 * into       the program's struct, with its defaults; on failure it holds the values taken before
 * word       takes each argument that is no flag, in order; returns as a flag_take. NULL: parsing ends at the
 *            first such argument
 * Returns    the index of the first argument not parsed, argc if all were; -EINVAL with a message (unknown
 *            flag, missing or invalid value, value for a switch); -ENOMEM
 */
int flags_parse(const struct flag_table *table, int argc, char *const *argv, void *into,
		int (*word)(void *into, const char *text, char **ret_error), char **ret_error);

/* Reads flags one by one without taking values. Begin with {.argc = argc, .argv = argv, .at = 1}. */
struct flag_reader {
	int argc;
	char *const *argv;
	int at;			/* the next argument */
	char *letter;		/* the next one of "-ab", or NULL */
	bool words_only;        /* after "--" */
};

/*
 * Read one flag, and its value (NULL: none), which points into argv.
 *
 * Returns    1; 0 at an argument that is no flag, or at the end; -EINVAL with message, the reader past that
 *            argument
 */
int flag_next(const struct flag_table *table, struct flag_reader *reader, const struct flag **ret_flag,
	      char **ret_value, char **ret_error);

/* Print the table for --help. column 0: each text is below its flag; else beside it, from that column. */
void flags_help(FILE *out, const struct flag_table *table, int column);

/* ---- taking ---- */

#define FLAG_TEXTS_MAX 64
struct flag_texts {
	const char *items[FLAG_TEXTS_MAX]; /* borrowed from argv */
	size_t count;
};

flag_take flag_take_on;		/* bool */
flag_take flag_take_text;	/* const char *, borrowed from argv */
flag_take flag_take_copy;	/* char *, malloc'ed; the one before is freed */
flag_take flag_take_texts;	/* struct flag_texts */

/* A decimal number. Returns 0, or -EINVAL with message. */
int flag_number(const char *value, uint64_t low, uint64_t high, uint64_t *ret_number, char **ret_error);

/*
 * Store a message and return -EINVAL. ret_error may be NULL; without memory the message is NULL. A macro, so
 * that a reader of the caller (compiler, analyzer) sees the code.
 */
#define flag_fail(ret_error, ...) (flag_message(ret_error, __VA_ARGS__), -EINVAL)
void flag_message(char **ret_error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
