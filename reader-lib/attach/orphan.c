/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the arena that a dead writer left, for a handle that asked for it, and makes sure that nobody
 * writes there any more. Every step of orphan.h stands here with its number.
 */
#include "reader-lib/attach/orphan.h"

#include <unistd.h>

#include "reader-lib/attach/noted_arena.h"

#define ROUNDS 4u /* writers that came and went, each with a note of its own, while we looked */

/* O2 to O4. */
static int
take(struct informer *inf, const struct noted_arena *noted, struct mapping **ret_mapping)
{
	int arena = noted_open_file(noted), held; /* O2 */

	held = noted_held(noted); /* O3 */
	if (held != 0) {
		if (arena >= 0)
			close(arena);
		return held < 0 ? held : -EBUSY;
	}
	return arena < 0 ? arena : noted_map(inf, noted, arena, ret_mapping); /* O4 */
}

static int
find_beside(struct informer *inf, const char *socket, struct mapping **ret_mapping, long *ret_pid)
{
	struct noted_arena noted;
	int r = noted_open(socket, &noted), held; /* O1 */

	if (r == 0 && ret_mapping) {
		for (unsigned i = 0; i < ROUNDS; i++) {
			r = take(inf, &noted, ret_mapping);
			if (r == 0 || noted_again(&noted) != 1)
				break;
			r = -EBUSY;
		}
	} else {
		held = noted_held(&noted);
		r = held < 0 ? held : held > 0 ? -EBUSY : r == 0 ? -ENOENT : r;
	}
	*ret_pid = noted.note.pid;
	noted_close(&noted);
	return r;
}

int
orphan_find(struct informer *inf, struct mapping **ret_mapping, long *ret_pid)
{
	int result = -ENOENT;

	for (unsigned i = 0; i < inf->address_count; i++) {
		long pid;
		int r = find_beside(inf, inf->addresses[i].sun_path, ret_mapping, &pid);

		if (r == 0)
			return 0;
		/* of two failures the more telling one is kept */
		if (result == -ENOENT || r == -EBUSY) {
			result = r;
			*ret_pid = pid;
		}
	}
	return result;
}
