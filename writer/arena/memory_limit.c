/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads memory cgroup limits (version 2's memory.max, version 1's memory.limit_in_bytes) from our own group
 * up to the root.
 */
#include "writer/arena/memory_limit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OUR_GROUPS "/proc/self/cgroup"
#define GROUPS "/sys/fs/cgroup"

/* Read a file that holds one number; "max", absence and other text give false. */
static bool
read_number(const char *directory, const char *file, uint64_t *ret)
{
	char path[PATH_MAX];
	FILE *f;
	bool ok;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, file) >= sizeof(path))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	ok = fscanf(f, "%" SCNu64, ret) == 1;
	fclose(f);
	return ok;
}

/* Page cache that the kernel drops before it kills a process. */
static uint64_t
reclaimable(const char *directory)
{
	char path[PATH_MAX], line[256];
	uint64_t sum = 0, value;
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/memory.stat", directory) >= sizeof(path))
		return 0;
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "inactive_file %" SCNu64, &value) == 1 ||
		    sscanf(line, "active_file %" SCNu64, &value) == 1)
			sum += value;
	fclose(f);
	return sum;
}

/* The limit of one group; UINT64_MAX: none. */
static uint64_t
limit_in(const char *directory)
{
	uint64_t limit;

	return read_number(directory, "memory.max", &limit) ||
			       read_number(directory, "memory.limit_in_bytes", &limit)
		       ? limit
		       : UINT64_MAX;
}

/* What is left in one group; UINT64_MAX: no limit. */
static uint64_t
left_in(const char *directory)
{
	uint64_t limit, used, spare;

	if (!(read_number(directory, "memory.max", &limit) &&
	      read_number(directory, "memory.current", &used)) &&
	    !(read_number(directory, "memory.limit_in_bytes", &limit) &&
	      read_number(directory, "memory.usage_in_bytes", &used)))
		return UINT64_MAX;
	spare = reclaimable(directory);
	used = used > spare ? used - spare : 0;
	return limit > used ? limit - used : 0;
}

/* The least figure of a group and all above it. path is shortened on the way. */
static uint64_t
least_upwards(const char *root, char *path, uint64_t (*figure_in)(const char *directory))
{
	uint64_t least = UINT64_MAX;

	for (;;) {
		char directory[PATH_MAX];
		char *slash;
		uint64_t here;

		if ((size_t)snprintf(directory, sizeof(directory), "%s%s", root, path) < sizeof(directory)) {
			here = figure_in(directory);
			least = here < least ? here : least;
		}
		slash = strrchr(path, '/');
		if (!slash || path[0] == '\0')
			return least;
		*slash = '\0';
	}
}

/* The least figure of all groups of the process. */
static uint64_t
least_of_groups(const char *proc_self_cgroup, const char *cgroup_root,
		uint64_t (*figure_in)(const char *directory))
{
	uint64_t least = UINT64_MAX;
	char line[PATH_MAX + 64], root[PATH_MAX];
	FILE *f = fopen(proc_self_cgroup, "re");

	if (!f)
		return least;
	while (fgets(line, sizeof(line), f)) {
		char *controllers = strchr(line, ':'), *path;
		uint64_t here;

		if (!controllers)
			continue;
		path = strchr(++controllers, ':');
		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (controllers[0] != '\0' && strcmp(controllers, "memory") != 0)
			continue;
		if ((size_t)snprintf(root, sizeof(root), "%s%s", cgroup_root,
				     controllers[0] ? "/memory" : "") >= sizeof(root))
			continue;
		here = least_upwards(root, path, figure_in);
		least = here < least ? here : least;
	}
	fclose(f);
	return least;
}

uint64_t
memory_limit_left_at(const char *proc_self_cgroup, const char *cgroup_root)
{
	return least_of_groups(proc_self_cgroup, cgroup_root, left_in);
}

uint64_t
memory_limit_total_at(const char *proc_self_cgroup, const char *cgroup_root, uint64_t machine)
{
	uint64_t limit = least_of_groups(proc_self_cgroup, cgroup_root, limit_in);

	return limit < machine ? limit : machine;
}

uint64_t
memory_limit_left(void)
{
	return memory_limit_left_at(OUR_GROUPS, GROUPS);
}

uint64_t
memory_limit_total(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return memory_limit_total_at(OUR_GROUPS, GROUPS,
				     pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX);
}
