/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every conversation of this folder, in JSON and in protobuf, each as the lowest and the highest that chance
 * may say and something in between; and what holds the whole together. `conversations_test FILE …` plays
 * these alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glob.h>

#include "tests/conversations/talk.h"

#define FOLDER "tests/conversations/"

static void
play(void **state)
{
	static const struct {
		enum talk_wire wire;
		enum talk_dice dice;
		const char *name;
	} throws[] = {
		{TALK_JSON, TALK_LOWEST, "JSON; the lowest"},
		{TALK_JSON, TALK_HIGHEST, "JSON; the highest"},
		{TALK_JSON, TALK_DRAWN, "JSON; drawn"},
		{TALK_PROTOBUF, TALK_LOWEST, "protobuf; the lowest"},
		{TALK_PROTOBUF, TALK_HIGHEST, "protobuf; the highest"},
		{TALK_PROTOBUF, TALK_DRAWN, "protobuf; drawn"},
	};
	struct script script;
	char *report = NULL;

	if (script_read(*state, &script, &report) < 0)
		fail_msg("%s", report);
	for (size_t i = 0; i < sizeof(throws) / sizeof(throws[0]); i++)
		if (talk_play(&script, throws[i].wire, throws[i].dice, 20 + i % 3, &report) < 0) {
			fprintf(stderr, "%sPlayed in %s of chance.\n", report, throws[i].name);
			free(report);
			script_done(&script);
			fail();
		}
	script_done(&script);
}

int
main(int argc, char **argv)
{
	glob_t found = { 0 };
	char **paths = argv + 1;
	size_t count = (size_t)argc - 1;
	struct CMUnitTest *tests;
	int failed;

	if (argc == 1 && glob(FOLDER "*.talk", 0, NULL, &found) == 0) {
		paths = found.gl_pathv;
		count = found.gl_pathc;
	}
	tests = calloc(count + 1, sizeof(*tests));
	for (size_t i = 0; i < count; i++) {
		const char *slash = strrchr(paths[i], '/');

		tests[i] = (struct CMUnitTest){
			.name = slash ? slash + 1 : paths[i], .test_func = play, .initial_state = paths[i]};
	}
	failed = _cmocka_run_group_tests("conversations", tests, count, NULL, NULL);
	globfree(&found);
	free(tests);
	return failed;
}
