/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the output of a plugin: one line of bounded length, without the known secrets. */
#include "tests/fuzz/fuzz.h"
#include "writer/kube/redact.h"

#define MAX 100

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kube_pairs known = {0};
	char *line;

	if (kube_pairs_add(&known, NULL, "hunter2") < 0 || kube_pairs_add(&known, NULL, "a b") < 0)
		abort();
	line = redact_text((const char *)data, size, &known, MAX);
	if (!line || strlen(line) > MAX || strstr(line, "hunter2"))
		abort();
	for (const char *c = line; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			abort();
	free(line);
	kube_pairs_done(&known);
	return 0;
}
