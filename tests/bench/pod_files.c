/* SPDX-License-Identifier: Apache-2.0 */
/* See pod_files.h. */
#include "tests/bench/pod_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/file.h"
#include "writer/base/message.h"

#define POD_MAX ((size_t)16 << 20)

static int
is_json(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && strcmp(dot, ".json") == 0;
}

static void
hand_over(const char *directory, const char *file, void (*each)(void *context, const char *file, cJSON *pod),
	  void *context)
{
	_cleanup_(message_freep) char *error = NULL;
	char path[4096], *text;
	cJSON *pod;
	size_t length;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	if (file_read(path, POD_MAX, &text, &length, &error) < 0)
		return;
	pod = cJSON_ParseWithLength(text, length);
	if (pod)
		each(context, file, pod);
	cJSON_Delete(pod);
	free(text);
}

int
pod_files_each(const char *directory, void (*each)(void *context, const char *file, cJSON *pod),
	       void *context)
{
	struct dirent **files = NULL;
	int n = scandir(directory, &files, is_json, alphasort);

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		hand_over(directory, files[i]->d_name, each, context);
		free(files[i]);
	}
	free(files);
	return 0;
}
