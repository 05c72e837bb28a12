/* SPDX-License-Identifier: Apache-2.0 */
/* The log's lines. */
#include <cjson/cJSON.h>

#include "tests/room.h"
#include "writer/base/log.h"

/* The text written to `fds` since the last call. */
static const char *
line_of(const int *fds)
{
	static char text[8192];
	ssize_t n = read(fds[0], text, sizeof(text) - 1);

	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

static int
setup(void **state)
{
	static int fds[2];

	unsetenv("JOURNAL_STREAM");
	*state = fds;
	return pipe(fds);
}

static int
teardown(void **state)
{
	int *fds = *state;

	close(fds[0]);
	close(fds[1]);
	log_open(LOG_LEVEL_INFO, STDERR_FILENO);
	return 0;
}

#define TEST(name) TEST_CASE_OF(const int *fds, setup, teardown, name)

/* The time is in UTC. */
TEST(a_line_has_time_level_and_message)
{
	const char *line;
	int year, ms;

	log_open(LOG_LEVEL_INFO, fds[1]);
	log_info("listed %d pods", 7);
	line = line_of(fds);
	assert_int_equal(sscanf(line, "%4d-%*2d-%*2dT%*2d:%*2d:%*2d.%3dZ ", &year, &ms), 2);
	assert_string_equal(line + strlen("2000-01-01T00:00:00.000Z"), " info listed 7 pods\n");
}

/* A plain log writes the program's name and the message to standard error, without time and level. */
TEST(a_plain_line_has_the_programs_name_alone)
{
	int stderr_was = dup(STDERR_FILENO);

	assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
	log_open_plain(LOG_LEVEL_WARNING, "program: ");
	log_warning("a");
	log_info("b");
	assert_true(dup2(stderr_was, STDERR_FILENO) >= 0);
	close(stderr_was);
	assert_string_equal(line_of(fds), "program: a\n");
}

/* Under the journal a line begins with its priority, and has no time. */
TEST(the_journal_gets_priorities)
{
	struct stat st;
	char stream[64];

	assert_int_equal(fstat(fds[1], &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_open(LOG_LEVEL_DEBUG, fds[1]);
	log_error("a");
	log_warning("b");
	log_info("c");
	log_debug("d");
	assert_string_equal(line_of(fds), "<3>a\n<4>b\n<6>c\n<7>d\n");
	setenv("JOURNAL_STREAM", "1:1", 1); /* of a parent; redirected since */
	log_open(LOG_LEVEL_INFO, fds[1]);
	log_error("a");
	assert_non_null(strstr(line_of(fds), "Z error a\n"));
	unsetenv("JOURNAL_STREAM");
}

TEST(less_important_lines_are_left_out)
{
	log_open(LOG_LEVEL_WARNING, fds[1]);
	log_info("no");
	log_debug("no");
	log_warning("yes");
	assert_null(strstr(line_of(fds), "no"));
	assert_false(log_enabled(LOG_LEVEL_INFO));
}

/* A message cannot begin a second line, or control a terminal. */
TEST(control_characters_are_escaped)
{
	log_open(LOG_LEVEL_INFO, fds[1]);
	log_info("%s", "a\nb\x1b[31m\x7f");
	assert_non_null(strstr(line_of(fds), " info a\\x0ab\\x1b[31m\\x7f\n"));
}

/* A line of JSON is an object, whatever bytes are in the message. */
TEST(a_line_of_json_is_an_object)
{
	cJSON *line;

	log_open(LOG_LEVEL_INFO, fds[1]);
	log_use(LOG_FORMAT_JSON);
	log_warning("%s", "a\n\"b\\\x1b \xc3\xa9 \xe2\x82 \xff");
	line = cJSON_Parse(line_of(fds));
	assert_non_null(line);
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(line, "level")), "warning");
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(line, "msg")),
			    "a\n\"b\\\x1b \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd");
	assert_int_equal(strlen(cJSON_GetStringValue(cJSON_GetObjectItem(line, "time"))),
			 strlen("2000-01-01T00:00:00.000Z"));
	cJSON_Delete(line);
	log_use(LOG_FORMAT_TEXT);
}

/* A message that is too long is cut to one line. */
TEST(long_messages_are_cut)
{
	char text[6000];
	const char *line;
	size_t len;

	memset(text, '\n', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_open(LOG_LEVEL_INFO, fds[1]);
	log_info("%s", text);
	line = line_of(fds);
	len = strlen(line);
	assert_true(len <= 4096);
	assert_string_equal(line + len - 4, "...\n");
	memset(text, '"', sizeof(text) - 1);
	log_use(LOG_FORMAT_JSON);
	log_info("%s", text);
	log_use(LOG_FORMAT_TEXT);
	line = line_of(fds);
	len = strlen(line);
	assert_true(len <= 4096);
	assert_string_equal(line + len - 6, "...\"}\n");
}

/* The log never waits for its reader. A reader that comes back gets the number of lost lines. */
TEST(the_log_waits_for_no_reader)
{
	char text[1000], told[80];
	const char *line;
	unsigned came = 0;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, 8192) > 0);
	log_open(LOG_LEVEL_INFO, fds[1]);
	for (unsigned i = 0; i < 20; i++)
		log_info("%s", text);
	for (line = line_of(fds); (line = strchr(line, '\n')); line++)
		came++;
	assert_in_range(came, 1, 8);
	log_info("here again");
	line = line_of(fds);
	snprintf(told, sizeof(told), " warning %u lines of this log are lost: nobody read it\n", 20 - came);
	assert_non_null(strstr(line, told));
	assert_non_null(strstr(line, " info here again\n"));
}

/* A write that fails keeps errno, too. */
TEST(errno_is_preserved)
{
	log_open(LOG_LEVEL_INFO, -1);
	errno = ENOTTY;
	log_info("lost");
	assert_int_equal(errno, ENOTTY);
}

TEST_CASE(levels_have_names)
{
	enum log_level level;

	assert_int_equal(log_level_take(&level, "warn", NULL), 0);
	assert_int_equal(level, LOG_LEVEL_WARNING);
	assert_int_equal(log_level_take(&level, "debug", NULL), 0);
	assert_int_equal(level, LOG_LEVEL_DEBUG);
	assert_int_equal(log_level_take(&level, "Debug", NULL), -EINVAL);
}
