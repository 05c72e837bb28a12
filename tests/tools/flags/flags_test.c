/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines parsed by a table of flags. */
#include "tests/room.h"
#include "tools/flags/flags.h"

struct line {
	const char *text, *empty;
	char *copy;
	struct flag_texts texts;
	bool all, watch;
	unsigned number;
	char words[64];
};

static int
take_number(void *at, const char *value, char **ret_error)
{
	uint64_t number;
	int r = flag_number(value, 1, 9, &number, ret_error);

	if (r == 0)
		*(unsigned *)at = (unsigned)number;
	return r;
}

static int
take_nothing(void *at, const char *value, char **ret_error)
{
	(void)at;
	(void)value;
	(void)ret_error;
	return -ENOMEM;
}

static const char *
foreign_hint(const char *name)
{
	return strcmp(name, "f") == 0 || strcmp(name, "context") == 0 ? "there are no files" : NULL;
}

static const struct flag flags[] = {
	FLAG_HEADING("Values"),
	{"text", 't', "TEXT", "a text\nof two lines", FLAG_TEXT(struct line, text)},
	{"empty", 0, "TEXT", "may be empty", flag_take_text, offsetof(struct line, empty), true},
	{"copy", 0, "TEXT", "its own", FLAG_COPY(struct line, copy)},
	{"texts", 'T', "TEXT", "several", FLAG_TEXTS(struct line, texts)},
	{"number", 'n', "N", "from 1 to 9", take_number, offsetof(struct line, number), false},
	{"no-memory", 0, "N", "fails", take_nothing, 0, false},
	FLAG_HEADING("Switches"),
	{"all", 'A', NULL, "all of it", FLAG_ON(struct line, all)},
	{"watch", 'w', NULL, "go on", FLAG_ON(struct line, watch)},
};
static const struct flag_table table = {flags, sizeof(flags) / sizeof(*flags), "x --help", true,
					foreign_hint};

static int
add_word(void *into, const char *text, char **ret_error)
{
	struct line *line = into;

	if (strcmp(text, "bad") == 0)
		return flag_fail(ret_error, "not that word");
	strcat(strcat(line->words, text), ";");
	return 0;
}

#define ARGS(...) ((char *[]){(char[]){"x"}, __VA_ARGS__, NULL})

static int
count(char **argv)
{
	int n = 0;

	while (argv[n])
		n++;
	return n;
}

static struct line
parsed(char **argv)
{
	struct line line = {0};
	char *error = NULL;
	int r = flags_parse(&table, count(argv), argv, &line, add_word, &error);

	if (r < 0)
		print_message("%s\n", error ? error : "no message");
	assert_int_equal(r, count(argv));
	assert_null(error);
	return line;
}

static void
assert_refused(char **argv, const char *message)
{
	struct line line = {0};
	char *error = NULL;

	assert_int_equal(flags_parse(&table, count(argv), argv, &line, add_word, &error), -EINVAL);
	assert_non_null(error);
	assert_string_equal(error, message);
	free(error);
	free(line.copy);
	assert_int_equal(flags_parse(&table, count(argv), argv, &(struct line){0}, add_word, NULL), -EINVAL);
}

/* A value follows its flag or '='. The value of a letter follows the letter, '=', or a blank. */
TEST_CASE(a_value_stands_in_five_places)
{
	assert_string_equal(parsed(ARGS("--text", "a")).text, "a");
	assert_string_equal(parsed(ARGS("--text=a=b")).text, "a=b");
	assert_string_equal(parsed(ARGS("-t", "-5")).text, "-5");
	assert_string_equal(parsed(ARGS("-ta")).text, "a");
	assert_string_equal(parsed(ARGS("-t=a")).text, "a");
}

/* Several switches may share one dash, and the last of them may have a value. */
TEST_CASE(switches_may_share_one_dash)
{
	struct line line = parsed(ARGS("-Awn", "3"));

	assert_true(line.all);
	assert_true(line.watch);
	assert_int_equal(line.number, 3);
	line = parsed(ARGS("-wA=false"));
	assert_true(line.watch);
	assert_false(line.all);
}

/* A switch takes Go's words for true and false, only after '='. */
TEST_CASE(a_switch_may_say_true_or_false)
{
	struct line line = parsed(ARGS("--all=T", "--watch", "false"));

	assert_true(line.all);
	assert_true(line.watch);
	assert_string_equal(line.words, "false;");
	assert_false(parsed(ARGS("--all", "--all=0")).all);
	assert_refused(ARGS("--all=yes"), "--all takes no value (but =true or =false)");
	assert_refused(ARGS("--all="), "--all takes no value (but =true or =false)");
}

/* The last value of a repeated flag counts, or all values if its target is a list. */
TEST_CASE(a_flag_may_be_repeated)
{
	struct line line = parsed(ARGS("--text=a", "--texts=1", "--copy=a", "-t", "b", "-T2", "--copy", "b"));
	char one[] = "-Tx", *many[FLAG_TEXTS_MAX + 3];

	assert_string_equal(line.text, "b");
	assert_string_equal(line.copy, "b");
	free(line.copy);
	assert_int_equal(line.texts.count, 2);
	assert_string_equal(line.texts.items[0], "1");
	assert_string_equal(line.texts.items[1], "2");
	for (size_t i = 0; i < FLAG_TEXTS_MAX + 2; i++)
		many[i] = one;
	many[FLAG_TEXTS_MAX + 2] = NULL;
	assert_refused(many, "--texts x: given more than 64 times");
}

/* Words that are no flags go to the caller, in order. After -- every word does. */
TEST_CASE(words_go_to_the_caller)
{
	struct line line = parsed(ARGS("a", "-A", "b", "-", "--", "--text", "--"));

	assert_true(line.all);
	assert_null(line.text);
	assert_string_equal(line.words, "a;b;-;--text;--;");
	assert_refused(ARGS("a", "bad"), "not that word");
}

/* A caller that takes no words learns where the flags end. */
TEST_CASE(flags_end_at_the_first_word)
{
	struct line line = {0};
	char *error = NULL;

	assert_int_equal(flags_parse(&table, 4, ARGS("-A", "b", "-w"), &line, NULL, &error), 2);
	assert_true(line.all);
	assert_false(line.watch);
	assert_int_equal(flags_parse(&table, 4, ARGS("-A", "--", "-w"), &line, NULL, &error), 3);
	assert_int_equal(flags_parse(&table, 2, ARGS("-A"), &line, NULL, &error), 2);
	assert_int_equal(flags_parse(&table, 1, ARGS("-A"), &line, NULL, &error), 1);
	assert_null(error);
}

/* A flag must be named in full. The message about another word names the nearest flag, or a given hint. */
TEST_CASE(an_unknown_flag_suggests_the_nearest)
{
	assert_refused(ARGS("--tex"), "unknown flag --tex; did you mean --text?; see x --help");
	assert_refused(ARGS("--numbr=5"), "unknown flag --numbr; did you mean --number?; see x --help");
	assert_refused(ARGS("--wat"), "unknown flag --wat; did you mean --watch?; see x --help");
	assert_refused(ARGS("--zzzzzz"), "unknown flag --zzzzzz; see x --help");
	assert_refused(ARGS("-z"), "unknown flag -z; see x --help");
	assert_refused(ARGS("-Az"), "unknown flag -Az; see x --help");
	assert_refused(ARGS("--=a"), "unknown flag --; see x --help");
	assert_refused(ARGS("-f", "a"), "no flag -f here; there are no files");
	assert_refused(ARGS("--context=a"), "no flag --context here; there are no files");
}

/* The message for a missing, empty or wrong value names the flag. */
TEST_CASE(a_wrong_value_names_its_flag)
{
	struct flag_table plain = table;
	struct line line = {.empty = "as it was"};
	char *error = NULL;

	assert_refused(ARGS("-A", "--text"), "--text needs a value: --text TEXT");
	assert_refused(ARGS("-t"), "--text needs a value: --text TEXT");
	assert_refused(ARGS("--text="), "--text needs a value that is not empty: --text TEXT");
	assert_refused(ARGS("--text", ""), "--text needs a value that is not empty: --text TEXT");
	assert_refused(ARGS("-n", "10"), "--number 10: must be a number from 1 to 9");
	assert_refused(ARGS("-n", "-1"), "--number -1: must be a number from 1 to 9");
	assert_refused(ARGS("-n", "99999999999999999999"),
		       "--number 99999999999999999999: must be a number from 1 to 9");
	plain.with_value = false;
	assert_int_equal(flags_parse(&plain, 2, ARGS("-nx"), &line, NULL, &error), -EINVAL);
	assert_string_equal(error, "--number: must be a number from 1 to 9");
	free(error);
	error = NULL;
	assert_int_equal(flags_parse(&table, 2, ARGS("--empty="), &line, NULL, &error), 2);
	assert_string_equal(line.empty, "as it was");
	assert_int_equal(flags_parse(&table, 2, ARGS("--no-memory=1"), &line, NULL, &error), -ENOMEM);
	assert_null(error);
}

/* A scan reports each flag and goes on after a mistake. */
TEST_CASE(a_scan_goes_on_after_a_mistake)
{
	char **argv = ARGS("--zzzz", "-Az", "word", "-t", "value", "-t");
	struct flag_reader in = {.argc = 7, .argv = argv, .at = 1};
	const struct flag *flag = NULL;
	char *value = NULL;

	assert_int_equal(flag_next(&table, &in, &flag, &value, NULL), -EINVAL);
	assert_int_equal(flag_next(&table, &in, &flag, &value, NULL), 1);
	assert_string_equal(flag->name, "all");
	assert_null(value);
	assert_int_equal(flag_next(&table, &in, &flag, &value, NULL), -EINVAL);
	assert_int_equal(flag_next(&table, &in, &flag, &value, NULL), 0);
	assert_int_equal(in.at++, 3);
	assert_int_equal(flag_next(&table, &in, &flag, &value, NULL), 1);
	assert_ptr_equal(value, argv[5]);
	assert_int_equal(flag_next(&table, &in, &flag, &value, NULL), -EINVAL);
	assert_int_equal(flag_next(&table, &in, &flag, &value, NULL), 0);
}

static char *
help_text(int column)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	flags_help(out, &table, column);
	fclose(out);
	return text;
}

/* Help is made from the table, with each text below its flag or beside it. */
TEST_CASE(help_is_made_from_the_table)
{
	char *below = help_text(0), *beside = help_text(15);

	assert_non_null(strstr(below, "\nValues\n"
				      "  -t, --text TEXT\n"
				      "          a text\n"
				      "          of two lines\n"
				      "      --empty TEXT\n"));
	assert_non_null(strstr(below, "\nSwitches\n  -A, --all\n          all of it\n"));
	assert_non_null(strstr(beside, "  --number N   from 1 to 9\n"));
	assert_non_null(strstr(beside, "  --no-memory N\n               fails\n"));
	free(below);
	free(beside);
}
