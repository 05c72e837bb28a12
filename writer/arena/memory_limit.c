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

/* The tightest limit of a group and all above it. path is shortened on the way. */
static uint64_t
left_upwards(const char *root, char *path)
{
	uint64_t left = UINT64_MAX;

	for (;;) {
		char directory[PATH_MAX];
		char *slash;
		uint64_t here;

		if ((size_t)snprintf(directory, sizeof(directory), "%s%s", root, path) < sizeof(directory)) {
			here = left_in(directory);
			left = here < left ? here : left;
		}
		slash = strrchr(path, '/');
		if (!slash || path[0] == '\0')
			return left;
		*slash = '\0';
	}
}

uint64_t
memory_limit_left_at(const char *proc_self_cgroup, const char *cgroup_root)
{
	uint64_t left = UINT64_MAX;
	char line[PATH_MAX + 64], root[PATH_MAX];
	FILE *f = fopen(proc_self_cgroup, "re");

	if (!f)
		return left;
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
		here = left_upwards(root, path);
		left = here < left ? here : left;
	}
	fclose(f);
	return left;
}

uint64_t
memory_limit_left(void)
{
	return memory_limit_left_at("/proc/self/cgroup", "/sys/fs/cgroup");
}
