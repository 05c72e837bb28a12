/* SPDX-License-Identifier: Apache-2.0 */
/* A reader reads arenas of its own major, and of its own minor or a lower one (LAYOUT.md, VERSION). */
#include "shm-layout/header_check.h"
#include "tests/room.h"

/* The refusal names the side that needs an upgrade. */
TEST_CASE(a_reader_reads_its_own_major_up_to_its_own_minor)
{
	static const struct {
		uint16_t major, minor; /* the reader's; the arena has 2.3 */
		const char *refused;   /* NULL: it may read */
	} cases[] = {
		{2, 3, NULL},
		{2, 4, NULL},
		{2, UINT16_MAX, NULL},
		{2, 2, "it has layout 2.3, this program knows 2.2: upgrade the program"},
		{2, 0, "upgrade the program"},
		{1, 3, "it has layout 2.3, this program knows 1.3: upgrade the program"},
		{1, 9, "upgrade the program"},
		{0, 0, "upgrade the program"},
		{3, 0, "it has layout 2.3, this program knows 3.0: upgrade informerd"},
		{3, 9, "upgrade informerd"},
	};
	static const struct header arena = {.layout_major = 2, .layout_minor = 3};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char why[HEADER_WHY_BYTES] = "";
		bool readable = layout_is_readable(cases[i].major, cases[i].minor, &arena, why);

		if (readable != !cases[i].refused || !strstr(why, cases[i].refused ? cases[i].refused : ""))
			fail_msg("%u.%u: %d '%s'", cases[i].major, cases[i].minor, readable, why);
	}
}
