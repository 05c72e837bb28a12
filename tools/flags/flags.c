/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing by a table; see flags.h. */
#include "tools/flags/flags.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flags/nearest.h"

void
flag_message(char **ret_error, const char *format, ...)
{
	va_list args;

	if (!ret_error)
		return;
	va_start(args, format);
	if (vasprintf(ret_error, format, args) < 0)
		*ret_error = NULL;
	va_end(args);
}

/* ---- finding ---- */

static const struct flag *
find_name(const struct flag_table *table, const char *name, size_t length)
{
	for (size_t i = 0; i < table->count; i++) {
		const char *known = table->flags[i].name;

		if (known && strlen(known) == length && memcmp(known, name, length) == 0)
			return &table->flags[i];
	}
	return NULL;
}

static const struct flag *
find_letter(const struct flag_table *table, char letter)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->flags[i].letter == letter)
			return &table->flags[i];
	return NULL;
}

static void
say_unknown(const struct flag_table *table, const char *argument, char **ret_error)
{
	const char *dashes = argument[1] == '-' ? "--" : "-", *names[FLAGS_MAX], *near, *foreign_hint;
	size_t count = 0;
	char name[64];

	argument += strlen(dashes);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, "="), argument);
	foreign_hint = table->foreign_hint ? table->foreign_hint(name) : NULL;
	if (foreign_hint) {
		flag_message(ret_error, "no flag %s%s here; %s", dashes, name, foreign_hint);
		return;
	}
	for (size_t i = 0; i < table->count && count < FLAGS_MAX; i++)
		if (table->flags[i].name)
			names[count++] = table->flags[i].name;
	near = nearest(name, names, count);
	flag_message(ret_error, "unknown flag %s%s%s%s%s%s%s", dashes, name, near ? "; did you mean --" : "",
		     near ? near : "", near ? "?" : "", table->see ? "; see " : "",
		     table->see ? table->see : "");
}

int
flag_next(const struct flag_table *table, struct flag_reader *in, const struct flag **ret_flag,
	  char **ret_value, char **ret_error)
{
	const struct flag *flag;
	char *argument, *value = NULL;

	if (!in->letter && !in->words_only && in->at < in->argc && strcmp(in->argv[in->at], "--") == 0) {
		in->words_only = true;
		in->at++;
	}
	if (in->at >= in->argc || in->words_only)
		return 0;
	argument = in->argv[in->at];
	if (argument[0] != '-' || !argument[1])
		return 0;
	if (argument[1] == '-') {
		size_t length = strcspn(argument + 2, "=");

		flag = find_name(table, argument + 2, length);
		if (argument[2 + length])
			value = argument + 2 + length + 1;
	} else {
		char *letter = in->letter ? in->letter : argument + 1;

		flag = find_letter(table, *letter);
		in->letter = NULL;
		if (flag && letter[1] && (flag->argument || letter[1] == '='))
			value = letter + 1 + (letter[1] == '=');
		else if (flag && letter[1])
			in->letter = letter + 1;
	}
	if (!in->letter)
		in->at++;
	if (!flag) {
		say_unknown(table, argument, ret_error);
		return -EINVAL;
	}
	if (flag->argument && !value) {
		if (in->at >= in->argc)
			return flag_fail(ret_error, "--%s needs a value: --%s %s", flag->name, flag->name,
					 flag->argument);
		value = in->argv[in->at++];
	}
	*ret_flag = flag;
	*ret_value = value;
	return 1;
}

/* ---- parsing ---- */

/* Read a switch's value in Go's spellings of a bool. Returns "true" or "false"; NULL: another spelling. */
static const char *
switch_value(const char *value)
{
	static const char *const yes[] = {"1", "t", "T", "true", "True", "TRUE"};
	static const char *const no[] = {"0", "f", "F", "false", "False", "FALSE"};

	for (size_t i = 0; value && i < sizeof(yes) / sizeof(*yes); i++) {
		if (strcmp(value, no[i]) == 0)
			return "false";
		if (strcmp(value, yes[i]) == 0)
			return "true";
	}
	return value ? NULL : "true";
}

static int
take(const struct flag_table *table, const struct flag *flag, const char *value, void *into, char **ret_error)
{
	char *error = NULL;
	int r;

	if (!flag->argument && !(value = switch_value(value)))
		return flag_fail(ret_error, "--%s takes no value (but =true or =false)", flag->name);
	if (!*value && flag->empty_is_none)
		return 0;
	if (!*value)
		return flag_fail(ret_error, "--%s needs a value that is not empty: --%s %s", flag->name,
				 flag->name, flag->argument);
	r = flag->take((char *)into + flag->offset, value, &error);
	if (r < 0 && error)
		r = flag_fail(ret_error, "--%s%s%s: %s", flag->name, table->with_value ? " " : "",
			      table->with_value ? value : "", error);
	free(error);
	return r;
}

int
flags_parse(const struct flag_table *table, int argc, char *const *argv, void *into,
	    int (*word)(void *into, const char *text, char **ret_error), char **ret_error)
{
	struct flag_reader in = {.argc = argc, .argv = argv, .at = 1};
	const struct flag *flag;
	char *value;
	int r;

	while ((r = flag_next(table, &in, &flag, &value, ret_error)) >= 0) {
		if (r == 0 && (!word || in.at >= argc))
			return in.at;
		r = r > 0 ? take(table, flag, value, into, ret_error) : word(into, argv[in.at++], ret_error);
		if (r < 0)
			break;
	}
	return r;
}

/* ---- help ---- */

static void
help_below(FILE *out, const struct flag *flag)
{
	char letter[8] = "    ";

	if (flag->letter)
		snprintf(letter, sizeof(letter), "-%c, ", flag->letter);
	fprintf(out, "  %s--%s%s%s\n", letter, flag->name, flag->argument ? " " : "",
		flag->argument ? flag->argument : "");
	for (const char *line = flag->help; *line;) {
		size_t length = strcspn(line, "\n");

		fprintf(out, "          %.*s\n", (int)length, line);
		line += length + (line[length] == '\n');
	}
}

/* A flag that is longer than the column has its help in the next line. Letters are not shown. */
static void
help_beside(FILE *out, const struct flag *flag, int column)
{
	int length = fprintf(out, "  --%s%s%s", flag->name, flag->argument ? " " : "",
			     flag->argument ? flag->argument : "");

	if (length >= column) {
		fputc('\n', out);
		length = 0;
	}
	fprintf(out, "%*s%s\n", column - length, "", flag->help);
}

void
flags_help(FILE *out, const struct flag_table *table, int column)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct flag *flag = &table->flags[i];

		if (!flag->name)
			fprintf(out, "\n%s\n", flag->help);
		else if (column > 0)
			help_beside(out, flag, column);
		else
			help_below(out, flag);
	}
}

/* ---- values ---- */

int
flag_take_on(void *at, const char *value, char **ret_error)
{
	(void)ret_error;
	*(bool *)at = *value == 't';
	return 0;
}

int
flag_take_text(void *at, const char *value, char **ret_error)
{
	(void)ret_error;
	*(const char **)at = value;
	return 0;
}

int
flag_take_copy(void *at, const char *value, char **ret_error)
{
	char *copy = strdup(value), **field = at;

	(void)ret_error;
	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

int
flag_take_texts(void *at, const char *value, char **ret_error)
{
	struct flag_texts *texts = at;

	if (texts->count == FLAG_TEXTS_MAX)
		return flag_fail(ret_error, "given more than %d times", FLAG_TEXTS_MAX);
	texts->items[texts->count++] = value;
	return 0;
}

int
flag_number(const char *value, uint64_t low, uint64_t high, uint64_t *ret_number, char **ret_error)
{
	uint64_t number = 0;
	bool is_number = *value;

	for (const char *c = value; *c && is_number; c++) {
		is_number = *c >= '0' && *c <= '9' && !__builtin_mul_overflow(number, 10u, &number) &&
			    !__builtin_add_overflow(number, (uint64_t)(*c - '0'), &number);
	}
	if (!is_number || number < low || number > high)
		return flag_fail(ret_error, "must be a number from %llu to %llu", (unsigned long long)low,
				 (unsigned long long)high);
	*ret_number = number;
	return 0;
}
