/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the writer's mapping of a queue in this process: the writable one. */
#include "tests/support/writers_queue.h"

#include "tests/room.h"

struct queue *
writers_queue(uint32_t capacity)
{
	char line[400];
	FILE *f = fopen("/proc/self/maps", "re");
	struct queue *found = NULL;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long from, to;
		char mode[8];

		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 || strcmp(mode, "rw-s") != 0 ||
		    !strstr(line, "memfd:"))
			continue;
		if (to - from >= queue_bytes(capacity) && to - from < queue_bytes(capacity) + 4096 &&
		    ((struct queue *)from)->capacity == capacity) // NOLINT(performance-no-int-to-ptr)
			found = (struct queue *)from;		  // NOLINT(performance-no-int-to-ptr)
	}
	fclose(f);
	assert_non_null(found);
	return found;
}
