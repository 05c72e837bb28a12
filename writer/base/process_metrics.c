/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of /proc/self; see process_metrics.h. */
#include "writer/base/process_metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"

#define OUR_DESCRIPTORS "/proc/self/fd"

static void
add(struct metrics_text *m, const char *name, const char *type, const char *help, double value)
{
	metrics_family(m, name, type, help);
	metrics_sample(m, "", value, NULL);
}

static void
add_memory(struct metrics_text *m)
{
	FILE *f = fopen("/proc/self/statm", "re");
	double page = (double)sysconf(_SC_PAGESIZE);
	uint64_t size, resident;

	if (f && fscanf(f, "%" SCNu64 " %" SCNu64, &size, &resident) == 2) {
		add(m, "process_resident_memory_bytes", "gauge",
		    "Memory in use, the pages of shared memory that were touched included.",
		    (double)resident * page);
		add(m, "process_virtual_memory_bytes", "gauge", "Address space.", (double)size * page);
	}
	if (f)
		fclose(f);
}

/* -1: unknown */
static long
open_descriptors(void)
{
	struct stat st;
	long count = 0;
	DIR *dir;

	/* the size is the number of descriptors since Linux 6.2, 0 before */
	if (stat(OUR_DESCRIPTORS, &st) == 0 && st.st_size > 0)
		return (long)st.st_size;
	dir = opendir(OUR_DESCRIPTORS);
	if (!dir)
		return -1;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 3; /* ".", ".." and the directory itself */
}

static void
add_descriptors(struct metrics_text *m)
{
	long count = open_descriptors();
	struct rlimit limit;

	if (count >= 0)
		add(m, "process_open_fds", "gauge", "Open descriptors.", (double)count);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		add(m, "process_max_fds", "gauge", "Descriptors that may be open.", (double)limit.rlim_cur);
}

/* When the machine started, Unix time in seconds; 0: unknown. */
static uint64_t
boot_time(void)
{
	FILE *f = fopen("/proc/stat", "re");
	uint64_t seconds = 0;
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0)
		if (sscanf(line, "btime %" SCNu64, &seconds) == 1)
			break;
	free(line);
	if (f)
		fclose(f);
	return seconds;
}

/* When this process started after that, in clock ticks; 0: unknown. */
static uint64_t
start_ticks(void)
{
	FILE *f = fopen("/proc/self/stat", "re");
	uint64_t ticks = 0;
	char text[1024], *at;
	size_t length = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[length] = '\0';
	/* field 22; field 2 is the name in parentheses, with any characters in it */
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, " %" SCNu64, &ticks) == 1 ? ticks : 0;
}

static double
start_time(void)
{
	uint64_t boot = boot_time(), ticks = start_ticks();

	return boot && ticks ? (double)boot + (double)ticks / (double)sysconf(_SC_CLK_TCK) : 0;
}

void
process_metrics(struct metrics_text *m)
{
	static double started;

	add(m, "process_cpu_seconds_total", "counter", "CPU time used, in user and system mode.",
	    (double)time_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9);
	add_memory(m);
	add_descriptors(m);
	if (started <= 0)
		started = start_time();
	if (started > 0)
		add(m, "process_start_time_seconds", "gauge", "When the process started, Unix time.",
		    started);
}
