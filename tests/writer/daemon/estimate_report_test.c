/* SPDX-License-Identifier: Apache-2.0 */
/* What --estimate prints. */
#include "tests/room.h"
#include "writer/daemon/estimate_report.h"

#define MIB (UINT64_C(1) << 20)

static const char *
print(const struct estimate *e)
{
	static char *text;
	size_t length;
	FILE *out;

	free(text);
	out = open_memstream(&text, &length);
	assert_non_null(out);
	estimate_print(e, out);
	fclose(out);
	return text;
}

#define assert_says(text, part)                                                                              \
	do {                                                                                                 \
		if (!strstr(text, part))                                                                     \
			fail_msg("no '%s' in:\n%s", part, text);                                             \
	} while (0)

static struct estimate_line lines[] = {
	{.name = "pods",
	 .size = {.objects = 10000, .sampled = 200, .wire_bytes = 47 * MIB, .arena_bytes = 20000000},
	 .watch_lists = 1,
	 .is_pods = true},
	{.name = "services", .problem = "refused (403)"},
	{.name = "widgets.example.com",
	 .size = {.objects = 10, .sampled = 10, .wire_bytes = 5000, .arena_bytes = 480000},
	 .lists = 3,
	 .watches = 1},
};

/* Each resource has a line; the sums and what follows from them come after. */
TEST_CASE(the_report_has_lines_and_sums)
{
	struct estimate e = {.lines = lines,
			     .count = 3,
			     .base_bytes = 20000,
			     .private_bytes = 3 * MIB,
			     .name_requests = 4,
			     .requests = 7,
			     .bytes = MIB};
	const char *text = print(&e);

	assert_int_equal(estimate_arena(&e), 20500000);
	assert_says(text, "pods                      10000    47.0 MiB    19.1 MiB     2.0 KiB  200\n");
	assert_says(text, "services             refused (403)\n");
	assert_says(text, "widgets.example.com          10     4.9 KiB   468.8 KiB    46.9 KiB  10\n");
	assert_says(text, "arena            19.6 MiB, 19.5 KiB of it without objects\n");
	assert_says(text, "private memory   about 5.2 MiB");
	assert_says(text, " 4 for the resources' names, 3 LIST, 1 WatchList, 1 WATCH\n");
	assert_says(text, "first bytes      47.0 MiB");
	assert_says(text, "arena.maxBytes   64Mi or more");
	assert_says(text, "memory limit     256Mi");
	assert_says(text, "161.1 MiB in each agent with an informer of its own on pods\n");
	assert_says(text, "This estimate took 7 requests, and 1.0 MiB in lists.\n");
}

/* The limit to set is twice the arena; a configured one that is too small is said to be. */
TEST_CASE(a_limit_that_is_too_small_is_said_to_be)
{
	struct estimate_line line = {.name = "pods", .size = {.objects = 1, .arena_bytes = 33 * MIB}};
	struct estimate e = {.lines = &line, .count = 1, .configured = 32 * MIB};

	assert_int_equal(estimate_arena_max(&e), 128 * MIB);
	assert_says(print(&e), "configured: 32.0 MiB, which is too small\n");
	assert_says(print(&e), "memory limit     384Mi");
	e.configured = 33 * MIB;
	assert_says(print(&e), "configured: 33.0 MiB\n");
	line.size.arena_bytes = 32 * MIB;
	assert_int_equal(estimate_arena_max(&e), 64 * MIB);
}

/* What a reader has to ask for first does not count as a request of the start. */
TEST_CASE(requests_on_demand_are_not_of_the_start)
{
	struct estimate_line line = {
		.name = "pods", .size = {.objects = 1, .sampled = 1}, .watch_lists = 1, .on_demand = true};
	struct estimate e = {.lines = &line, .count = 1};

	assert_says(print(&e), "  1, on demand\n");
	assert_says(print(&e), " 0 WatchList, ");
}
