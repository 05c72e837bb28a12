/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays every conversation of this folder in JSON and in protobuf, each with the lowest, the highest and
 * drawn random numbers. Run it in the project's folder.
 */

#include <glob.h>

#include "tests/conversations/talk.h"
#include "tests/room.h"

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

/* Runs before main(). Each file is a test. */
__attribute__((constructor)) static void
add_conversations(void)
{
	static struct test_group group = {__FILE__, NULL, 0, NULL, NULL, NULL};
	static glob_t found;
	struct CMUnitTest *tests;

	if (glob(FOLDER "*.talk", 0, NULL, &found) != 0)
		return;
	tests = calloc(found.gl_pathc, sizeof(*tests));
	for (size_t i = 0; i < found.gl_pathc; i++)
		tests[i] = (struct CMUnitTest){.name = found.gl_pathv[i] + strlen(FOLDER),
					       .test_func = play,
					       .initial_state = found.gl_pathv[i]};
	group.tests = tests;
	group.count = found.gl_pathc;
	test_group_add(&group);
}
