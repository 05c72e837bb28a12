/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of *.json files, one pod each.
 */
#ifndef TESTS_BENCH_POD_FILES_H
#define TESTS_BENCH_POD_FILES_H

#include <cjson/cJSON.h>

/*
 * Hand over each pod, in the order of the files' names; the pod is lent, and may be changed. What is no JSON
 * is passed over.
 *
 * Returns  0, negative errno when there is no such folder
 */
int pod_files_each(const char *directory, void (*each)(void *context, const char *file, cJSON *pod),
		   void *context);

#endif
