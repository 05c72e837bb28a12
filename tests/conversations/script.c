/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a whole script before its first line is played. A mistake in the last line is reported at once. */
#include "tests/conversations/script.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/message.h"

static const char *const names[] = {
	[SCRIPT_GIVEN] = "given",     [SCRIPT_SERVER] = "server", [SCRIPT_CLIENT] = "client",
	[SCRIPT_ANSWERS] = "answers", [SCRIPT_STREAM] = "stream", [SCRIPT_AFTER] = "after",
	[SCRIPT_PASS] = "pass",       [SCRIPT_STORE] = "store",   [SCRIPT_TOLD] = "told",
	[SCRIPT_STAT] = "stat",       [SCRIPT_LOG] = "log",
};

#define WORDS (sizeof(names) / sizeof(names[0]))

struct repeat {
	unsigned times;		/* 0: no repeat is open */
	size_t from;
};

void
script_done(struct script *script)
{
	for (size_t i = 0; i < script->count; i++) {
		free(script->lines[i].text);
		free(script->lines[i].whole);
	}
	free(script->lines);
	free(script->name);
	*script = (struct script){ 0 };
}

/* A comment is a # at the start of a line, or between two blanks. */
static void
cut_comment(char *line)
{
	char *at = line[0] == '#' ? line : strstr(line, " # ");

	if (at)
		*at = '\0';
}

/* Replace runs of blanks by one blank, and strip both ends. */
static void
fold_blanks(char *line)
{
	char *to = line;

	for (const char *from = line; *from; from++) {
		char c = *from == '\t' || *from == '\r' ? ' ' : *from;

		if (c != ' ' || (to > line && to[-1] != ' '))
			*to++ = c;
	}
	if (to > line && to[-1] == ' ')
		to--;
	*to = '\0';
}

static void
append(struct script *script, struct script_line line)
{
	struct script_line *grown = reallocarray(script->lines, script->count + 1, sizeof(*grown));

	if (!grown || !line.text || !line.whole)
		abort();
	script->lines = grown;
	grown[script->count++] = line;
}

/* repeat N … end: the lines in between are played N times. */
static int
take_repeat(struct script *script, unsigned number, const char *line, struct repeat *repeat, char **ret_error)
{
	size_t end = script->count;

	if (strcmp(line, "end") != 0) {
		if (repeat->times > 0 || sscanf(line, "repeat %u", &repeat->times) != 1 || repeat->times == 0)
			return message_set(ret_error, -EINVAL,
					   "%s:%u: say repeat 12, and end before the next", script->name,
					   number);
		repeat->from = end;
		return 0;
	}
	if (repeat->times == 0)
		return message_set(ret_error, -EINVAL, "%s:%u: nothing is repeated", script->name, number);
	for (; repeat->times > 1; repeat->times--)
		for (size_t i = repeat->from; i < end; i++) {
			struct script_line again = script->lines[i];

			append(script, (struct script_line){again.number, again.word, strdup(again.text),
							    strdup(again.whole)});
		}
	repeat->times = 0;
	return 0;
}

static int
add_line(struct script *script, unsigned number, char *line, struct repeat *repeat, char **ret_error)
{
	size_t length, word = 0;

	fold_blanks(line);
	cut_comment(line);
	if (line[0] == '\0')
		return 0;
	length = strcspn(line, " ");
	if (strcmp(line, "end") == 0 || strncmp(line, "repeat ", 7) == 0)
		return take_repeat(script, number, line, repeat, ret_error);
	while (word < WORDS && (strlen(names[word]) != length || strncmp(names[word], line, length) != 0))
		word++;
	if (word == WORDS)
		return message_set(ret_error, -EINVAL,
				   "%s:%u: a line begins with given, server, client, answers, stream, after, "
				   "pass, store, told, stat, log, "
				   "repeat or end, "
				   "and not with \"%.*s\"",
				   script->name, number, (int)length, line);
	if (line[length] == '\0')
		return message_set(ret_error, -EINVAL, "%s:%u: %s what?", script->name, number, names[word]);
	append(script,
	       (struct script_line){number, (enum script_word)word, strdup(line + length + 1), strdup(line)});
	return 0;
}

static int
parse(const char *name, const char *text, struct script *ret, char **ret_error)
{
	char *copy = strdup(text), *rest = copy, *line;
	struct repeat repeat = { 0 };
	unsigned number = 0;
	int r = 0;

	*ret_error = NULL;
	*ret = (struct script){ .name = strdup(name) };
	if (!copy || !ret->name)
		abort();
	if (strncmp(text, "# ", 2) != 0)
		r = message_set(ret_error, -EINVAL,
				"%s:1: a script begins with what it proves: # and a sentence", name);
	while (r == 0 && (line = strsep(&rest, "\n")))
		r = add_line(ret, ++number, line, &repeat, ret_error);
	if (r == 0 && repeat.times > 0)
		r = message_set(ret_error, -EINVAL, "%s:%u: repeat has no end", name, number);
	if (r == 0 && ret->count == 0)
		r = message_set(ret_error, -EINVAL, "%s:%u: nothing happens in it", name, number);
	free(copy);
	if (r < 0)
		script_done(ret);
	return r;
}

int
script_read(const char *path, struct script *ret, char **ret_error)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	ssize_t n;
	int r;

	if (!file)
		return message_set(ret_error, -errno, "%s: %s", path, strerror(errno));
	n = getdelim(&text, &size, '\0', file);
	fclose(file);
	r = parse(path, n > 0 ? text : "", ret, ret_error);
	free(text);
	return r;
}

int
script_read_time(const char *text, size_t length, uint64_t *ret_ms)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
	char copy[32], *end;
	double n;

	if (length == 0 || length >= sizeof(copy) || !isdigit((unsigned char)text[0]))
		return -EINVAL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	n = strtod(copy, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		*ret_ms = (uint64_t)(n * units[i].ms + 0.5);
		return 0;
	}
	return -EINVAL;
}
