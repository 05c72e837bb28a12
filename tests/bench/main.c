/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench: run all measurements, print the table, write JSON.
 *
 *	bench --build DIR --pods DIR [--generated] [--client-go FILE | --no-client-go WHY]
 *	      [--wire auto|json|protobuf] [--upstream-pods N,...]
 *	      [--json FILE] [--quick] [--only LETTERS|gateway[:PART,...]]
 *
 * The measurements run in a child with a process group of its own. Its parent does nothing but wait, and when
 * it ends, in whatever way, or when the parent is told to end, it ends the whole group and removes the run's
 * folder.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/handler_side.h"
#include "tests/bench/remove_tree.h"

struct arguments {
	const char *json, *only;
	bool generated;
};

/* The pods that are measured, and what they are. */
static int
find_pods(struct bench *b, bool generated)
{
	int r = b->pods_directory ? pods_load(b->pods_directory, &b->pods) : -ENOENT;

	if (r < 0) {
		fprintf(stderr, "bench: --pods %s: %s\n",
			b->pods_directory ? b->pods_directory : "is missing", strerror(-r));
		return r;
	}
	snprintf(b->pods_note, sizeof(b->pods_note), "%zu %s pods", pods_count(b->pods),
		 generated ? "generated" : "real");
	printf("pods    %s, %s\n", b->pods_note, b->pods_directory);
	return 0;
}

/* The gateway takes minutes and is measured when it is asked for: which parts of it ("": all); NULL: no. */
static const char *
only_gateway(const struct arguments *a)
{
	static const char word[] = "gateway";
	const char *parts = a->only && strncmp(a->only, word, sizeof(word) - 1) == 0
				    ? a->only + sizeof(word) - 1
				    : NULL;

	return !parts ? NULL : *parts == ':' ? parts + 1 : *parts ? NULL : "";
}

static bool
wanted(const struct arguments *a, char letter)
{
	return !a->only || (!only_gateway(a) && strchr(a->only, letter));
}

/* Names that scripts rely on are always there. */
static void
complete(struct bench *b)
{
	static const char *const stable[][2] = {
		{"get_100k", "ns"},           {"get_10k", "ns"},          {"get_1k", "ns"},
		{"by_index_10k", "ns"},       {"bytes_per_pod", "bytes"}, {"reader_private_bytes", "bytes"},
		{"attach_us", "us"},          {"decode_commit_us", "us"}, {"adopt_ms", "ms"},
		{"list_peak_bytes", "bytes"},
	};

	for (size_t i = 0; i < sizeof(stable) / sizeof(stable[0]); i++)
		if (!report_find(b->report, stable[i][0]))
			report_skip(b->report, stable[i][0], stable[i][1], "not measured in this run");
}

static int
run(struct bench *b, const struct arguments *a)
{
	uint64_t start = now_ns();
	int r;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_IGN);
	if (sodium_init() < 0)
		return 1;
	report_machine(b->report);
	if (find_pods(b, a->generated) < 0)
		return 1;
	if (wanted(a, 'l'))
		measure_lookups(b);
	if (wanted(a, 'b'))
		measure_bytes(b);
	if (wanted(a, 'd'))
		measure_decode(b);
	if (wanted(a, 'p'))
		measure_list(b);
	if (wanted(a, 'p') || wanted(a, 'i'))
		measure_first_list(b);
	if (wanted(a, 'e') || wanted(a, 'v'))
		measure_events(b);
	if (wanted(a, 'e') || wanted(a, 'f'))
		measure_fan_out(b);
	if (wanted(a, 'e') || wanted(a, 'a'))
		measure_agents(b);
	if (wanted(a, 's'))
		measure_sync(b);
	if (wanted(a, 's') || wanted(a, 't'))
		measure_traffic(b);
	if (wanted(a, 's') || wanted(a, 'u'))
		measure_upstream(b);
	if (only_gateway(a))
		measure_gateway(b, only_gateway(a));
	complete(b);
	report_table(b->report);
	printf("took    %.0f s%s\n", (double)(now_ns() - start) / 1e9,
	       b->quick ? " (QUICK=1: few rounds, rough figures)" : "");
	r = a->json ? report_json(b->report, a->json) : 0;
	if (r < 0)
		fprintf(stderr, "bench: results could not be written: %s\n", strerror(-r));
	else if (a->json)
		printf("written %s\n", a->json);
	pods_free(b->pods);
	return fflush(stdout) == 0 && r == 0 ? 0 : 1;
}

/* ---- the parent ---- */

static volatile sig_atomic_t told_to_end;
static volatile pid_t child;

static void
on_signal(int signal_number)
{
	told_to_end = signal_number;
	if (child > 0)
		kill(-child, SIGKILL);
}

static int
supervise(struct bench *b, const struct arguments *a)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t ends, before;
	int status = 0;

	if (!mkdtemp(b->directory)) {
		fprintf(stderr, "bench: %s: %s\n", b->directory, strerror(errno));
		return 1;
	}
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before);	/* until there is somebody to end */
	child = fork();
	if (child == 0) {
		setpgid(0, 0);
		sigprocmask(SIG_SETMASK, &before, NULL);
		exit(run(b, a));
	}
	if (child > 0) {
		setpgid(child, child);
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGTERM, &action, NULL);
		sigaction(SIGHUP, &action, NULL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		kill(-child, SIGKILL);
	}
	remove_tree(b->directory);
	if (told_to_end)
		return 128 + told_to_end;
	if (child < 0 || !WIFEXITED(status)) {
		fprintf(stderr, "bench: the measuring process ended by signal %d\n",
			child < 0 ? 0 : WTERMSIG(status));
		return 1;
	}
	return WEXITSTATUS(status);
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{"build", 1, NULL, 'b'},         {"pods", 1, NULL, 'p'},      {"client-go", 1, NULL, 'c'},
		{"no-client-go", 1, NULL, 'n'},  {"json", 1, NULL, 'j'},      {"quick", 0, NULL, 'q'},
		{"only", 1, NULL, 'o'},          {"generated", 0, NULL, 'g'}, {"wire", 1, NULL, 'w'},
		{"upstream-pods", 1, NULL, 'u'}, {NULL, 0, NULL, 0},
	};
	static struct report report;
	static char self[4096];
	struct bench b = {.build = "build",
			  .self = self,
			  .report = &report,
			  .upstream_pods = "10000",
			  .why_no_client_go = "no client-go program was given"};
	struct arguments a = {0};
	ssize_t n;
	int c;

	if (argc > 1 && strcmp(argv[1], "reader") == 0)
		return reader_main(argc, argv);
	if (argc > 1 && strcmp(argv[1], "handler") == 0)
		return handler_main(argc, argv);
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'b': b.build = optarg; break;
		case 'p': b.pods_directory = optarg; break;
		case 'c': b.client_go = optarg; break;
		case 'n': b.why_no_client_go = optarg; break;
		case 'j':
			a.json = optarg;
			break;
		case 'q': b.quick = true; break;
		case 'o': a.only = optarg; break;
		case 'g': a.generated = true; break;
		case 'w':
			b.wire = optarg;
			break;
		case 'u':
			b.upstream_pods = optarg;
			break;
		default: return 2;
		}
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		return 1;
	self[n] = '\0';
	snprintf(b.directory, sizeof(b.directory), "/dev/shm/informer-bench-XXXXXX");
	return supervise(&b, &a);
}
