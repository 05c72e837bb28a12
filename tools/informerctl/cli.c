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
#include "tools/flags/nearest.h"

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

static void
print_flag(const struct cli_flag *flag)
{
	char letter[8] = "    ";

	if (flag->letter)
		snprintf(letter, sizeof(letter), "-%c, ", flag->letter);
	printf("  %s--%s%s%s\n", letter, flag->name, flag->argument ? " " : "",
	       flag->argument ? flag->argument : "");
	for (const char *line = flag->help; *line;) {
		size_t length = strcspn(line, "\n");

		printf("          %.*s\n", (int)length, line);
		line += length + (line[length] == '\n');
	}
}

static void
print_help(const struct cli_command *command, const struct cli_flag *const *flags, size_t count)
{
	printf("informerctl %s: %s\n\nusage: %s\n\n", command->name, command->summary, command->usage);
	for (size_t i = 0; i < count; i++)
		print_flag(flags[i]);
	if (command->details)
		printf("\n%s\n", command->details);
}

static int
unknown_flag(const struct cli_command *command, const char *argument, const struct cli_flag *const *flags,
	     size_t count)
{
	const char *names[64], *near, *habit;
	size_t n = 0, length;
	char name[64];

	for (size_t i = 0; i < count && n < 64; i++)
		names[n++] = flags[i]->name;
	argument += strspn(argument, "-");
	length = strcspn(argument, "=");
	snprintf(name, sizeof(name), "%.*s", (int)(length < sizeof(name) ? length : sizeof(name) - 1),
		 argument);
	habit = kubectl_word_flag(name);
	if (habit)
		return cli_fail("no flag %s%s here; %s", length > 1 ? "--" : "-", name, habit);
	near = nearest(name, names, n);
	return cli_fail("unknown flag %s%s%s%s%s; see informerctl %s --help", length > 1 ? "--" : "-", name,
			near ? "; did you mean --" : "", near ? near : "", near ? "?" : "", command->name);
}

/* Store a flag's value. */
static int
store(const struct cli_flag *flag, const char *value)
{
	if (flag->on) {
		if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
			return cli_fail("--%s takes no value", flag->name);
		*flag->on = !value || strcmp(value, "true") == 0;
	} else if (flag->value) {
		*flag->value = value;
	} else if (flag->values->count == CLI_VALUES_MAX) {
		return cli_fail("more than %d times --%s", CLI_VALUES_MAX, flag->name);
	} else {
		flag->values->items[flag->values->count++] = value;
	}
	return 0;
}

struct parse {
	const struct cli_command *command;
	const struct cli_flag *flags[32];
	size_t count;
	int argc;
	char **argv;
};

/* The value of a flag that needs one: behind '=' or in the next argument. */
static int
take_value(struct parse *p, const struct cli_flag *flag, const char *value, int *at)
{
	if (flag->argument && !value) {
		if (*at + 1 >= p->argc)
			return cli_fail("--%s needs a value: --%s %s", flag->name, flag->name,
					flag->argument);
		value = p->argv[++*at];
	}
	if (flag->argument && !*value)
		return cli_fail("--%s needs a value that is not empty: --%s %s", flag->name, flag->name,
				flag->argument);
	return store(flag, value);
}

/* The flag, or cluster of letters ("-A", "-nweb", "-Ao json"), at argv[*at]. */
static int
take_flag(struct parse *p, int *at)
{
	const char *argument = p->argv[*at];

	if (argument[1] == '-') {
		size_t length = strcspn(argument + 2, "=");
		const char *value = argument[2 + length] == '=' ? argument + 2 + length + 1 : NULL;

		for (size_t i = 0; i < p->count; i++)
			if (strlen(p->flags[i]->name) == length &&
			    memcmp(p->flags[i]->name, argument + 2, length) == 0)
				return take_value(p, p->flags[i], value, at);
		return unknown_flag(p->command, argument, p->flags, p->count);
	}
	for (size_t k = 1; argument[k]; k++) {
		const struct cli_flag *flag = NULL;
		int r;

		for (size_t i = 0; i < p->count; i++)
			if (p->flags[i]->letter == argument[k])
				flag = p->flags[i];
		if (!flag)
			return unknown_flag(p->command, argument, p->flags, p->count);
		if (flag->argument)
			return take_value(
				p, flag, argument[k + 1] ? argument + k + 1 + (argument[k + 1] == '=') : NULL,
				at);
		r = store(flag, NULL);
		if (r != 0)
			return r;
	}
	return 0;
}

int
cli_parse(const struct cli_command *command, const struct cli_flag *flags, size_t flag_count, int argc,
	  char **argv, struct cli_args *ret_args)
{
	bool help = false, flags_end = false;
	const struct cli_flag common[] = {
		{"socket", 0, "PATH",
		 "informerd's socket (default: $INFORMER_SOCKET, else /run/informer/informer.sock, or\n"
		 "$XDG_RUNTIME_DIR/informer/informer.sock when not root)",
		 NULL, &ret_args->socket, NULL},
		{"help", 'h', NULL, "print this", &help, NULL, NULL},
	};
	struct parse p = {.command = command, .argc = argc, .argv = argv};

	for (size_t i = 0; i < flag_count; i++)
		p.flags[p.count++] = &flags[i];
	for (size_t i = 0; i < 2; i++)
		p.flags[p.count++] = &common[i];
	ret_args->socket = NULL;
	ret_args->count = 0;
	ret_args->items = calloc((size_t)argc + 1, sizeof(*ret_args->items));
	if (!ret_args->items)
		return cli_fail("%s", strerror(ENOMEM));
	for (int i = 1; i < argc; i++) {
		int r;

		if (flags_end || argv[i][0] != '-' || !argv[i][1]) {
			ret_args->items[ret_args->count++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			flags_end = true;
			continue;
		}
		r = take_flag(&p, &i);
		if (r != 0)
			return r;
	}
	if (!help)
		return -1;
	print_help(command, p.flags, p.count);
	return EXIT_SUCCESS;
}

/* One number with its unit at *at, in nanoseconds; false when there is none. */
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
