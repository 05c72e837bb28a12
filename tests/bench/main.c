/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench: run the measurements, print the table, write JSON.
 *
 *	bench --build DIR --pods DIR [--client-go FILE | --no-client-go WHY]
 *	      [--wire auto|json|protobuf] [--upstream-pods N,...]
 *	      [--json FILE] [--quick] [--only LETTERS|gateway[:PART,...]|hostile|readers]
 *
 * Each measurement runs in a child with its own process group and folder. This process only waits. When the
 * child ends, or this process is told to end, it ends the whole group and removes the folder.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <signal.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reader-lib/informer.h"
#include "tests/bench/processes.h"

#define SKIPPED 77

/* By the letters of --only. The gateway and the attacks take minutes and are measured by name. */
static const struct measurement {
	const char *letters, *title;
	void (*measure)(struct bench *b, size_t n);
	size_t n;
	bool not_quick;
} measurements[] = {
	{"l", "lookups, 1,000 pods", measure_lookups, 1000, false},
	{"l", "lookups, 10,000 pods", measure_lookups, 10000, false},
	{"l", "lookups, 100,000 pods", measure_lookups, 100000, false},
	{"n", "a node agent's questions", measure_node, 10100, false},
	{"b", "bytes", measure_bytes, 0, false},
	{"d", "decode", measure_decode, 0, false},
	{"p", "list", measure_list, 100000, false},
	{"pi", "first list, 10,000 pods", measure_first_list, 10000, false},
	{"pi", "first list, 100,000 pods", measure_first_list, 100000, false},
	{"pi", "first list, 300,000 pods", measure_first_list, 300000, true},
	{"pi", "first list, 1,000,000 pods", measure_first_list, 1000000, true},
	{"ev", "events", measure_events, 10000, false},
	{"ef", "readers", measure_fan_out, 10000, false},
	{"ea", "agents", measure_agents, 10000, false},
	{"s", "sync, 10,000 pods", measure_sync, 10000, false},
	{"s", "sync, 50,000 pods", measure_sync, 50000, true},
	{"st", "traffic", measure_traffic, 10000, false},
};

/* ---- ends of a measurement ---- */

__attribute__((format(printf, 2, 0))) static void
say(const char *kind, const char *format, va_list args)
{
	fprintf(stderr, "  %s: ", kind);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void
bench_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("FAILED", format, args);
	va_end(args);
	_exit(1);
}

void
bench_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("SKIP", format, args);
	va_end(args);
	_exit(SKIPPED);
}

int
bench_need(int r, const char *what)
{
	if (r < 0)
		bench_fail("%s: %s", what, r < -4095 ? informer_strerror(r) : strerror(-r));
	return r;
}

void
bench_need_memory(double bytes)
{
	if ((double)process_bytes(0, "../meminfo", "MemAvailable:") < bytes)
		bench_skip("%.1f GiB of memory are needed", bytes / (1 << 30));
}

void
bench_need_client_go(const struct bench *b)
{
	if (!b->client_go)
		bench_skip("%s", b->why_no_client_go);
}

void *
bench_alloc(size_t count, size_t size)
{
	void *ret = calloc(count ? count : 1, size);

	if (!ret)
		abort();
	return ret;
}

void
sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* ---- one measurement ---- */

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
remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

/* Returns true if it did not fail. */
static bool
run(struct bench *b, const struct measurement *m)
{
	sigset_t ends, before;
	int status = 0;

	if (told_to_end)
		return false;
	fprintf(stderr, "%s ...\n", m->title);
	snprintf(b->directory, sizeof(b->directory), "/dev/shm/informer-bench-XXXXXX");
	if (!mkdtemp(b->directory)) {
		fprintf(stderr, "bench: %s: %s\n", b->directory, strerror(errno));
		return false;
	}
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before); /* until there is a group to end */
	child = fork();
	if (child == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 1; i <= SIGTERM; i++)
			if (sigismember(&ends, i))
				signal(i, SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		m->measure(b, m->n);
		_exit(0);
	}
	setpgid(child, child);
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	kill(-child, SIGKILL);
	child = 0;
	nftw(b->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (WIFSIGNALED(status))
		fprintf(stderr, "  FAILED: ended by signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == SKIPPED);
}

/* On upstream's API server, for each of --upstream-pods; agents and events with the first. */
static bool
run_upstream(struct bench *b)
{
	struct measurement m = {.title = "upstream", .measure = measure_upstream};
	const char *at = b->upstream_pods;
	bool good = true;

	for (char *end_at; *at; at = *end_at ? end_at + 1 : end_at) {
		m.n = strtoul(at, &end_at, 10);
		if (end_at == at || m.n == 0) {
			fprintf(stderr, "bench: --upstream-pods: \"%s\" is no number\n", at);
			return false;
		}
		good &= run(b, &m);
		m.measure = measure_upstream_start;
	}
	return good;
}

static bool
run_all(struct bench *b, const char *only)
{
	static const char word[] = "gateway";
	bool good = true;

	if (only && strcmp(only, "readers") == 0) {
		static const struct measurement readers[] = {
			{"", "Go's reader, 10,000 pods", measure_go_reader, 10000, false},
			{"", "Go's reader, 100,000 pods", measure_go_reader, 100000, true},
			{"", "Go's agents, 10,000 pods", measure_go_agents, 10000, false},
		};

		for (size_t i = 0; i < COUNT(readers); i++)
			if (!(b->quick && readers[i].not_quick))
				good &= run(b, &readers[i]);
		return good;
	}
	if (only && strcmp(only, "hostile") == 0)
		return run(b, &(struct measurement){"", "hostile readers", measure_hostile, 2000, false});
	if (only && strncmp(only, word, sizeof(word) - 1) == 0) {
		b->parts = only + sizeof(word) - 1;
		return run(b, &(struct measurement){.title = word,
						    .measure = measure_gateway,
						    .n = strtoul(b->upstream_pods, NULL, 10)});
	}
	for (size_t i = 0; i < COUNT(measurements); i++)
		if ((!only || strpbrk(only, measurements[i].letters)) &&
		    !(b->quick && measurements[i].not_quick))
			good &= run(b, &measurements[i]);
	if (!only || strpbrk(only, "su"))
		good &= run_upstream(b);
	return good;
}

/* ---- the program ---- */

static void
print_machine(void)
{
	char line[512], *model = NULL;
	FILE *f = fopen("/proc/cpuinfo", "re");
	struct utsname system;
	double load = 0;

	while (f && !model && fgets(line, sizeof(line), f))
		if (strncmp(line, "model name", 10) == 0)
			model = strchr(line, ':');
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	uname(&system);
	getloadavg(&load, 1);
	printf("CPU     %s, %ld cores\nmemory  %.0f GiB\nkernel  %s %s\nload    %.2f before the run%s\n",
	       model ? model + 2 : "unknown", sysconf(_SC_NPROCESSORS_ONLN),
	       (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / (1u << 30), system.sysname,
	       system.release, load,
	       load > 0.7 ? ": this machine is BUSY, trust ratios more than values" : "");
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{"build", 1, NULL, 'b'},         {"pods", 1, NULL, 'p'},
		{"client-go", 1, NULL, 'c'},     {"no-client-go", 1, NULL, 'n'},
		{"json", 1, NULL, 'j'},          {"quick", 0, NULL, 'q'},
		{"only", 1, NULL, 'o'},          {"wire", 1, NULL, 'w'},
		{"upstream-pods", 1, NULL, 'u'}, {NULL, 0, NULL, 0},
	};
	struct bench b = {.build = "build",
			  .pods_directory = "",
			  .upstream_pods = "10000",
			  .why_no_client_go = "no client-go program was given"};
	struct sigaction action = {.sa_handler = on_signal};
	const char *json = NULL, *only = NULL;
	uint64_t start = now_ns();
	bool good;
	int c, r;

	if (argc > 1 && strcmp(argv[1], "reader") == 0)
		return reader_main(argc, argv);
	if (argc > 1 && strcmp(argv[1], "handler") == 0)
		return handler_main(argc, argv);
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (c) {
		case 'b': b.build = optarg; break;
		case 'p': b.pods_directory = optarg; break;
		case 'c': b.client_go = optarg; break;
		case 'n': b.why_no_client_go = optarg; break;
		case 'j':
			json = optarg;
			break;
		case 'q': b.quick = true; break;
		case 'o':
			only = optarg;
			break;
		case 'w':
			b.wire = optarg;
			break;
		case 'u':
			b.upstream_pods = optarg;
			break;
		default: return 2;
		}
	r = pods_load(b.pods_directory, &b.pods);
	b.report = mmap(NULL, sizeof(*b.report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r < 0 || b.report == MAP_FAILED || sodium_init() < 0) {
		fprintf(stderr, "bench: --pods %s: %s\n", b.pods_directory, strerror(-r));
		return 1;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	print_machine();
	printf("pods    %zu, %s%s\n", pods_count(b.pods), b.pods_directory,
	       b.quick ? " (QUICK=1: few rounds, rough figures)" : "");
	fflush(stdout);
	good = run_all(&b, only);
	if (told_to_end)
		return 128 + told_to_end;
	report_table(b.report);
	printf("took    %.0f s\n", ms_since(start) / 1e3);
	r = json ? report_json(b.report, json) : 0;
	if (r < 0)
		fprintf(stderr, "bench: %s: %s\n", json, strerror(-r));
	pods_free(b.pods);
	return fflush(stdout) == 0 && r == 0 && good ? 0 : 1;
}
