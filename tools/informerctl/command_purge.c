/* SPDX-License-Identifier: Apache-2.0 */
/* informerctl purge: lists the arenas that dead informerds left and nobody uses, or removes them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informerctl/aligned_table.h"
#include "tools/informerctl/cli.h"
#include "tools/informerctl/leftovers.h"
#include "tools/printer/age.h"

/* The command line, and what was found. */
struct request {
	struct cli_args args;
	const char *arena_dir;
	bool yes, failed;
	struct cells cells;
};

static const struct flag flags[] = {
	{"yes", 'y', NULL, "remove the files", FLAG_ON(struct request, yes)},
	{"arena-dir", 0, "DIR", "look there (default: /dev/shm)", FLAG_TEXT(struct request, arena_dir)},
	CLI_FLAGS,
};

static void
tell(void *context, const struct leftover *found)
{
	struct request *request = context;
	char age[AGE_TEXT_MAX];

	if (found->result < 0) {
		cli_fail("cannot remove %s: %s", found->path, strerror(-found->result));
		request->failed = true;
		return;
	}
	cells_adds(&request->cells, found->path);
	cells_addf(&request->cells, "%.1f MiB", (double)found->bytes / 1048576);
	cells_addf(&request->cells, "%s, no reader, informerd gone for %s",
		   request->yes ? "removed" : "left over", age_format((int64_t)found->quiet_ns, age));
}

static int
purge(struct request *request, struct text *out)
{
	int r = leftovers_find(request->arena_dir, request->yes, tell, request);

	if (r < 0)
		return cli_fail("cannot read %s: %s", request->arena_dir, strerror(-r));
	table_write(&request->cells, 3, out);
	r = cli_finish(out);
	if (r)
		return r;
	if (request->failed)
		return EXIT_CONDITION;
	if (request->cells.count == 0)
		cli_fail("nothing is left over in %s", request->arena_dir);
	else if (!request->yes)
		cli_fail("to remove these, add --yes");
	return EXIT_SUCCESS;
}

static int
run(const struct cli_command *command, int argc, char **argv)
{
	struct request request = {.arena_dir = "/dev/shm", .cells = CELLS_INIT};
	struct cli_args *args = &request.args;
	struct text out = TEXT_INIT(1);
	int r = cli_parse_flags(command, argc, argv, args);

	if (r < 0)
		r = purge(&request, &out);
	cells_done(&request.cells);
	text_done(&out);
	free(args->items);
	return r;
}

const struct cli_command command_purge = {
	.name = "purge",
	.summary = "list or remove arenas that dead informerds left",
	.usage = "informerctl purge [--arena-dir DIR] [--yes]",
	.details =
		"An arena is left over if no process has it open, and no informerd has written to it for a "
		"minute.\n"
		"An informerd that would have continued from it lists from the API server instead.",
	.flags = flags,
	.flag_count = sizeof(flags) / sizeof(*flags),
	.run = run,
};
