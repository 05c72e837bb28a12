/* SPDX-License-Identifier: Apache-2.0 */
/* A conversation's script, as README.md describes it. Each line is one step and begins with its actor. */
#ifndef TESTS_CONVERSATIONS_SCRIPT_H
#define TESTS_CONVERSATIONS_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

enum script_word {
	SCRIPT_GIVEN,
	SCRIPT_SERVER,
	SCRIPT_CLIENT,
	SCRIPT_ANSWERS,
	SCRIPT_STREAM,
	SCRIPT_AFTER,
	SCRIPT_PASS,
	SCRIPT_STORE,
	SCRIPT_TOLD,
	SCRIPT_STAT,
	SCRIPT_LOG,
};

struct script_line {
	unsigned number;
	enum script_word word;
	char *text;		/* what follows the first word, blanks made single */
	char *whole;		/* the line, for reports */
};

struct script {
	char *name;		/* the file's, for messages */
	struct script_line *lines;
	size_t count;
};

/* 0, or negative errno with "path:3: …" in *ret_error (free it). */
int script_read(const char *path, struct script *ret, char **ret_error);
void script_done(struct script *script);

/* "800ms", "1.6s", "2m", "1h". 0, or -EINVAL. */
int script_read_time(const char *text, size_t length, uint64_t *ret_ms);

#endif
