/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary folders for tests. */
#include "tests/support/temp_dir.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_BUFFERS 8

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int
temp_dir_setup(void **state)
{
	const char *base = getenv("TMPDIR");
	char *dir;

	if (asprintf(&dir, "%s/informer-test-XXXXXX", base && *base ? base : "/tmp") < 0)
		return -1;
	if (!mkdtemp(dir)) {
		perror(dir);
		free(dir);
		return -1;
	}
	*state = dir;
	return 0;
}

int
temp_dir_teardown(void **state)
{
	char *dir = *state;
	int r;

	if (!dir)
		return 0;
	r = nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(dir);
	return r;
}

const char *
temp_path(const char *dir, const char *name)
{
	static char buffers[N_BUFFERS][4096];
	static unsigned next;
	char *path = buffers[next++ % N_BUFFERS];

	snprintf(path, sizeof(buffers[0]), "%s/%s", dir, name);
	return path;
}

const char *
temp_file(const char *dir, const char *name, const char *content)
{
	const char *path = temp_path(dir, name);
	char folder[4096];
	FILE *file;

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *p = folder + strlen(dir) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		(void)mkdir(folder, 0700);
	}
	file = fopen(path, "w");
	if (!file || fwrite(content, 1, strlen(content), file) != strlen(content) || fclose(file) != 0) {
		perror(path);
		abort();
	}
	return path;
}
