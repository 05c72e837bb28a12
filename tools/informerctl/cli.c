/* SPDX-License-Identifier: Apache-2.0 */
/* Flags, messages and attaching for all commands; see cli.h. */
#include "tools/informerctl/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informerctl/kubectl_words.h"

#define START_MS 3000

int
cli_fail(const char *format, ...)
{
	va_list args;

	fputs("informerctl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

static int
take_word(void *into, const char *text, char **ret_error)
{
	struct cli_args *args = into;

	(void)ret_error;
	args->items[args->count++] = text;
	return 0;
}

int
cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args)
{
	char see[64], *error = NULL;
	const struct flag_table table = {command->flags, command->flag_count, see, false, kubectl_word_flag};
	int r;

	snprintf(see, sizeof(see), "informerctl %s --help", command->name);
	args->start_ms = START_MS;
	args->items = calloc((size_t)argc + 1, sizeof(*args->items));
	if (!args->items)
		return cli_fail("%s", strerror(ENOMEM));
	r = flags_parse(&table, argc, argv, args, take_word, &error);
	if (r < 0) {
		r = cli_fail("%s", error ? error : strerror(-r));
		free(error);
		return r;
	}
	if (!args->help)
		return -1;
	printf("informerctl %s: %s\n\nusage: %s\n\n", command->name, command->summary, command->usage);
	flags_help(stdout, &table, 0);
	if (command->details)
		printf("\n%s\n", command->details);
	return EXIT_SUCCESS;
}

int
cli_parse_flags(const struct cli_command *command, int argc, char **argv, struct cli_args *args)
{
	int r = cli_parse(command, argc, argv, args);

	if (r >= 0 || args->count == 0)
		return r;
	return cli_fail("%s takes no argument, but there is '%s'; see informerctl %s --help", command->name,
			args->items[0], command->name);
}

/* Parse one number with its unit at *at, and add it to *ret_ms. False: there is none. */
static bool
duration_part(const char **at, double *ret_ms)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = {{"ms", 1}, {"us", 1e-3}, {"ns", 1e-6}, {"s", 1e3}, {"m", 6e4}, {"h", 36e5}};
	char *end;
	double n;

	if (!isdigit((unsigned char)**at) && **at != '.')
		return false;
	n = strtod(*at, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t length = strlen(units[i].unit);

		if (strncmp(end, units[i].unit, length) != 0)
			continue;
		*ret_ms += n * units[i].ms;
		*at = end + length;
		return true;
	}
	return false;
}

bool
cli_duration(const char *text, int *ret_ms)
{
	bool negative = *text == '-';
	double ms = 0;

	text += negative;
	if (strcmp(text, "0") == 0) {
		*ret_ms = 0;
		return true;
	}
	if (!*text)
		return false;
	while (*text)
		if (!duration_part(&text, &ms))
			return false;
	*ret_ms = negative ? -1 : ms > 2e9 ? 2000000000 : (int)ms;
	return true;
}

int
cli_take_duration(void *at, const char *value, char **ret_error)
{
	return cli_duration(value, at)
		       ? 0
		       : flag_fail(ret_error, "%s is no time; write 500ms, 30s, 2m or 1h30m", value);
}
