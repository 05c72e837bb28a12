/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a cgroup's path: each place lies within them, and the walk ends. */
#include "reader-lib/node/cgroup_path.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size > 0 ? size : 1);
	struct cgroup_place place;
	size_t at = 0, before = 0;

	must(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	while (cgroup_path_next(text, size, &at, &place)) {
		must(at > before && at <= size);
		must(place.uid_length > 0 || place.id);
		must(place.uid_length <= CGROUP_UID_MAX);
		must(!place.id || (place.id >= text && place.id + CGROUP_CONTAINER_ID <= text + size));
		before = at;
	}
	must(at == size);
	free(text);
	return 0;
}
