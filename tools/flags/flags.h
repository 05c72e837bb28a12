/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags: the command lines of all our programs. One table of flags makes the parser, the text of --help and
 * the hint after a misspelt flag. It knows libc alone, and says nothing itself: messages are the caller's to
 * print.
 *
 *	--flag VALUE   --flag=VALUE   -f VALUE   -fVALUE   -f=VALUE   --switch   --switch=false   -ab (-a -b)
 *
 * Names are whole: a script with half of one would break when another flag is added. A flag that stands there
 * twice is taken twice, so of a single value the last one counts. "--" ends the flags; "-" is no flag.
 */
#ifndef TOOLS_FLAGS_FLAGS_H
#define TOOLS_FLAGS_FLAGS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Take a flag's value, which is not empty; of a switch "true" or "false".
 *
 * at       where the program's struct has it (struct flag's offset)
 * Returns  0; a negative value with a message of what is wrong with the value, or -ENOMEM, then perhaps
 *          without one
 */
typedef int flag_take(void *at, const char *value, char **ret_error);

struct flag {
	const char *name;	/* behind "--"; NULL: no flag, but a heading in --help */
	char letter;		/* behind "-", or 0 */
	const char *argument;	/* what --help calls its value; NULL: a switch */
	const char *help;	/* lines separated by \n; the heading */
	flag_take *take;
	size_t offset;		/* of what take() sets, in the program's struct */
	bool empty_is_none;	/* as --context="$CONTEXT" for kubectl; else an empty value is refused */
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
	const char *see;	  /* what a message about an unknown flag refers to, as "x --help"; or NULL */
	bool with_value;	  /* messages about a value begin with "--flag VALUE: ", not "--flag: " */
	/* What to say of a name that users bring from another program; NULL: nothing. May be NULL. */
	const char *(*foreign_hint)(const char *name);
};

/*
 * Parse a command line (argv[0] is the program).
 *
 * into       the program's struct, with its defaults; on failure it has what was taken before
 * word       is given what is no flag, in order, and returns as a flag_take does. NULL: parsing ends at the
 *            first such argument
 * Returns    the index of the first argument that was not looked at, argc when all were; -EINVAL with a
 *            message (an unknown flag, no value, one that is wrong, one for a switch); -ENOMEM
 */
int flags_parse(const struct flag_table *table, int argc, char *const *argv, void *into,
		int (*word)(void *into, const char *text, char **ret_error), char **ret_error);

/* The same step by step, for who only looks. Begin with {.argc = argc, .argv = argv, .at = 1}. */
struct flag_reader {
	int argc;
	char *const *argv;
	int at;			/* the next argument */
	char *letter;		/* the next one of "-ab", or NULL */
	bool words_only;	/* behind "--" */
};

/*
 * Read one flag, and its value, NULL where there is none; it points into argv.
 *
 * Returns    1; 0 when argv[at] is no flag, or the end; -EINVAL with message, behind what it is about
 */
int flag_next(const struct flag_table *table, struct flag_reader *reader, const struct flag **ret_flag,
	      char **ret_value, char **ret_error);

/* The table for --help. column 0: the text stands below each flag; else beside it, from there on. */
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
 * Store a message, and -EINVAL. ret_error may be NULL: nobody wants it; without memory the message is NULL. A
 * macro, so that whoever reads the caller (compiler, analyzer) sees which code comes back.
 */
#define flag_fail(ret_error, ...) (flag_message(ret_error, __VA_ARGS__), -EINVAL)
void flag_message(char **ret_error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
