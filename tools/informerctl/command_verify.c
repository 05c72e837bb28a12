/* SPDX-License-Identifier: Apache-2.0 */
/* informerctl verify: checks every tag and every reachable offset of the arena in one snapshot. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tools/informerctl/cli.h"
#include "tools/printer/text.h"

/* Limit of faults printed one by one; a damaged trie can make many. */
#define FAULTS_MAX 100

struct report {
	struct text *out;
	uint64_t told;
};

static int
tell(void *context, uint64_t offset, const char *what)
{
	struct report *report = context;

	if (report->told++ < FAULTS_MAX)
		text_addf(report->out, "damaged: block at offset 0x%" PRIx64 ": %s\n", offset, what);
	return 0;
}

static int
verify(const struct informer_snapshot *snap, struct text *out)
{
	struct informer_verify_counts counts = {0};
	struct report report = {.out = out};
	struct informer_moment moment = {0};
	struct timespec start, end;
	double ms;
	int r;

	clock_gettime(CLOCK_MONOTONIC, &start);
	r = informer_verify(snap, tell, &report, &counts);
	clock_gettime(CLOCK_MONOTONIC, &end);
	informer_snapshot_moment(snap, &moment);
	ms = (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
	if (r < 0 && r != INFORMER_E_CORRUPT)
		return cli_fail_code(r, "cannot verify");
	if (report.told > FAULTS_MAX)
		text_addf(out, "... and %" PRIu64 " more\n", report.told - FAULTS_MAX);
	text_addf(out,
		  "%s: generation %" PRIu64 ", epoch %" PRIu64 ": %" PRIu64 " blocks, %" PRIu64
		  " tags, %.1f MiB, %" PRIu64 " fault%s, %.0f ms\n",
		  r < 0 ? "damaged" : "ok", moment.generation, moment.epoch, counts.blocks, counts.tags,
		  (double)counts.bytes / 1048576, counts.faults, counts.faults == 1 ? "" : "s", ms);
	if (r == 0 && counts.tags == 0)
		cli_fail("only form was checked: informerd gave this reader no key for the tags");
	if (r < 0)
		cli_fail("the arena is damaged; restart informerd, which sets it aside and lists again");
	return r < 0 ? EXIT_CONDITION : EXIT_SUCCESS;
}

static const struct flag flags[] = {CLI_START_FLAG(""), CLI_FLAGS};

static int
run(const struct cli_command *command, int argc, char **argv)
{
	struct text out = TEXT_INIT(1);
	struct informer_snapshot snap = {0};
	struct informer *inf = NULL;
	struct cli_args args = {0};
	int r = cli_parse_flags(command, argc, argv, &args), finish;

	if (r >= 0)
		goto out;
	r = EXIT_USAGE;
	inf = cli_attach(&args, INFORMER_VERIFY | INFORMER_ORPHAN);
	if (!inf)
		goto out;
	r = cli_begin(inf, &args, &snap);
	if (r >= 0)
		goto out;
	r = verify(&snap, &out);
	finish = cli_finish(&out);
	r = finish ? finish : r;
out:
	informer_end(&snap);
	informer_detach(inf);
	text_done(&out);
	free(args.items);
	return r;
}

const struct cli_command command_verify = {
	.name = "verify",
	.summary = "check every block of the arena",
	.usage = "informerctl verify",
	.details = "Walks all that the newest version reaches and checks each block's integrity tag, bounds "
		   "and form.\n"
		   "Exit codes: 0 sound, 1 damaged (each block's offset and reason is printed), 2 usage or "
		   "no daemon.",
	.flags = flags,
	.flag_count = sizeof(flags) / sizeof(*flags),
	.run = run,
};
