/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The player itself: a script that tells what does not happen, or leaves out what does, fails, and is told by
 * file and line. And the table in README.md has every script, and no other.
 */

#include <glob.h>

#include "tests/conversations/talk.h"
#include "tests/room.h"

#define FOLDER "tests/conversations/"
#define GIVEN "# a script\ngiven pods?watchList=false\nserver pods a at 20\n"
#define LISTED GIVEN "client LIST rv=0 limit=500\nanswers 200\n"
#define WATCHED LISTED "client WATCH rv=20\nanswers 200\n"

/* What is said of a script; free it. "" when nothing is wrong. */
static char *
report_in(enum talk_wire wire, const char *text)
{
	struct script script;
	char *report = NULL;

	if (script_parse("x.talk", text, &script, &report) < 0)
		return report;
	if (talk_play(&script, wire, TALK_LOWEST, 1, &report) == 0)
		report = strdup("");
	script_done(&script);
	return report;
}

static char *
report_of(const char *text)
{
	return report_in(TALK_JSON, text);
}

static void
expect_report_in(enum talk_wire wire, const char *text, const char *expected)
{
	char *report = report_in(wire, text);
	bool told = strncmp(report, expected, strlen(expected)) == 0;

	if (!told)
		print_error("%s\nis told otherwise:\n%.400s\nexpected %s\n", text, report, expected);
	free(report);
	assert_true(told);
}

static void
expect_report(const char *text, const char *expected)
{
	expect_report_in(TALK_JSON, text, expected);
}

TEST_CASE(a_script_that_tells_all_passes)
{
	char *report = report_of(
		WATCHED "server add b@25\nstore a@1 b@25 at 25\nstore a b at 25\npass 30s\nstream end\n"
			"client WATCH rv=25 timeout=300..300 bookmarks\n");

	assert_string_equal(report, "");
	free(report);
}

/* What the client does and no line tells, what a line tells and does not happen, and what is no script. */
TEST_CASE(a_script_that_tells_otherwise_fails)
{
	static const struct { const char *text, *report;
	} cases[] = {
		{LISTED "store a at 20\n",
		 "x.talk:6: the client asks, which no line tells: WATCH pods rv=20 "},
		{LISTED "pass 1s\n", "x.talk:6: the client asks, which no line tells: WATCH pods rv=20 "},
		{WATCHED "stream say {\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}\n",
		 "x.talk:8: the client hung up, which no line tells"},
		{WATCHED "server down\nafter 800ms\nstat backing-off\n",
		 "x.talk:10: the client was refused, which no line tells"},
		{GIVEN "client LIST rv=20\n", "x.talk:4: the client asks otherwise\n  came      LIST rv=0 "
					      "limit=500\n  expected  LIST rv=20\n"},
		{WATCHED "client WATCH rv=20\n", "x.talk:8: the client asks for nothing"},
		{LISTED "client WATCH rv=20 timeout=301..599\n",
		 "x.talk:6: a watch asks for a timeout of 301 to 599 s: WATCH rv=20 timeout=300"},
		{GIVEN "client LIST rv=0 limit=500\nanswers 200 rv=20 items=2\n",
		 "x.talk:5: the server answered otherwise: rv=20 items=1"},
		{WATCHED "client hangs up\n", "x.talk:8: the client did not hang up"},
		{WATCHED "client is refused\n", "x.talk:8: the client was not refused"},
		{WATCHED "stream 410\nafter 801ms..1600ms\n",
		 "x.talk:9: the client asks after 0.800 s, and not after 801ms..1600ms"},
		{WATCHED "stream 410\nafter 1ms..799ms\n",
		 "x.talk:9: the client asks after 0.800 s, and not after 1ms..799ms"},
		{WATCHED "store a@2 at 20\n", "x.talk:8: the store is otherwise\n  is        a@1 at 20\n"},
		{WATCHED "told +a\n",
		 "x.talk:8: what handlers were told is otherwise\n  is        +a synced\n"},
		{WATCHED "stat backing-off\n", "x.talk:8: the client is watching, and not backing-off"},
		{WATCHED "stat lists=2\n", "x.talk:8: lists is 1"},
		{WATCHED "log listed 1 objects\nlog listed 1 objects\n",
		 "x.talk:9: the client has not logged that"},
		{"client LIST\n", "x.talk:1: a script begins with what it proves: # and a sentence"},
		{"# only this\n", "x.talk:2: nothing happens in it"},
		{"# a script\nserver pods a\n", "x.talk:2: the client has no part in it"},
		{GIVEN "repeat 2\nclient LIST\n", "x.talk:6: repeat has no end"},
		{GIVEN "server explode\n", "x.talk:4: a server does: pods, add, change,"},
		{WATCHED "stream explode\n", "x.talk:8: line 1: \"explode\" is no action"},
		{WATCHED "stat colour=1\n", "x.talk:8: a status has no colour"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_report(cases[i].text, cases[i].report);
}

/* In protobuf all comes in that, and the client keeps to it, unless the script is for that wire alone. */
TEST_CASE(what_is_played_in_protobuf_comes_in_it)
{
	static const char given_up[] = WATCHED "stream invalid\nserver add b@21\nclient hangs up\n"
					       "after 800ms\nclient WATCH rv=20\n"
					       "answers after 0 events invalid\nclient hangs up\n"
					       "client WATCH rv=20\nanswers 200\n";
	char of_one_wire[sizeof(given_up) + 32];

	expect_report_in(TALK_PROTOBUF, GIVEN "client LIST rv=0 limit=500\nanswers 200 rv=20 items=2\n",
			 "x.talk:5: the server answered otherwise: rv=20 items=1 in protobuf\n");
	expect_report_in(TALK_PROTOBUF, LISTED "client WATCH rv=20\n", "");
	expect_report_in(TALK_PROTOBUF, given_up,
			 "x.talk:16: the client did not keep to protobuf, which no line tells\n");
	expect_report_in(TALK_PROTOBUF,
			 GIVEN "client LIST rv=0 limit=500\nanswers as-json\nclient WATCH rv=20\n",
			 "x.talk:6: the client did not keep to protobuf, which no line tells\n");
	snprintf(of_one_wire, sizeof(of_one_wire), "# a script\ngiven wire protobuf\n%s",
		 strchr(given_up, '\n') + 1);
	expect_report_in(TALK_PROTOBUF, of_one_wire, "");
	expect_report_in(TALK_JSON, of_one_wire, ""); /* it is not played */
	expect_report_in(TALK_JSON, given_up, "x.talk:15: the client asks for nothing");
}

/* A report has the conversation up to its line, and the time. */
TEST_CASE(a_report_shows_the_conversation)
{
	char *report = report_of(WATCHED "stream 410\nafter 800ms\nclient WATCH rv=20\n");

	assert_non_null(strstr(report, "     0.000    8  stream 410\n     0.800    9  after 800ms\n=>   "
				       "0.800   10  client WATCH rv=20\n"));
	assert_non_null(strstr(report, "Waiting for an answer:\nLIST pods rv=20\n"));
	assert_non_null(strstr(report, "WATCH ended, listing again"));
	free(report);
}

/* README.md says which line of the reference each script proves. */
TEST_CASE(the_table_has_every_script)
{
	FILE *file = fopen(FOLDER "README.md", "r");
	glob_t found = { 0 };
	char *text = NULL, name[256];
	size_t size = 0, named = 0;

	assert_non_null(file);
	assert_true(getdelim(&text, &size, '\0', file) > 0);
	fclose(file);
	assert_int_equal(glob(FOLDER "*.talk", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *base = strrchr(found.gl_pathv[i], '/') + 1;

		snprintf(name, sizeof(name), "`%.*s`", (int)(strlen(base) - strlen(".talk")), base);
		if (!strstr(strstr(text, "## Which line"), name))
			fail_msg("README.md's table has no %s", name);
	}
	for (const char *at = strstr(text, "## Which line"); (at = strchr(at, '`'));
	     at = strchr(at + 1, '`') + 1) {
		FILE *script;

		snprintf(name, sizeof(name), FOLDER "%.*s.talk", (int)strcspn(at + 1, "`"), at + 1);
		script = fopen(name, "r");
		if (!script)
			fail_msg("README.md's table names %s, which is not there", name);
		fclose(script);
		named++;
	}
	assert_true(named >= found.gl_pathc);
	globfree(&found);
	free(text);
}
