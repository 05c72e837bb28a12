/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the build directory and the pods of real size, in whatever folder a test runs. */
#include "tests/support/places.h"

#include <limits.h>

#include "tests/room.h"

const char *
build_directory(void)
{
	static char path[PATH_MAX];
	const char *named = getenv("B");
	char *tests = NULL;
	ssize_t n;

	if (named)
		return named;
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	assert_true(n > 0);
	path[n] = '\0';
	/* DIRECTORY/tests/ROOM/...; DIRECTORY itself may contain "/tests/" */
	for (char *at = path; (at = strstr(at, "/tests/")); at++)
		tests = at;
	assert_non_null(tests);
	if (tests)
		*tests = '\0';
	return path;
}

const char *
pods_directory(void)
{
	static char path[PATH_MAX];
	const char *real = getenv("REAL_PODS");

	if (real && *real)
		snprintf(path, sizeof(path), "%s", real);
	else
		snprintf(path, sizeof(path), "%s/pods", build_directory());
	if (access(path, R_OK) < 0)
		fail_msg("there is no folder %s; make %s/pods makes one", path, build_directory());
	return path;
}
