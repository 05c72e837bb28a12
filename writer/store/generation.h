/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generations: which arena file a writer starts from, and how one follows another.
 *
 * A writer that comes back cannot know which pins its predecessor had granted, so it never writes into that
 * file's blocks. It copies the file verbatim (offsets stay valid), checks identity, root and every reachable
 * tag in the copy, rebuilds its books by that walk, and only then makes the switch: new state LIVE, old
 * superseded, old unlinked. Killed at any point, it leaves either the old generation whole, or both, of which
 * the higher wins.
 *
 * A live writer makes the same switch from its own arena when readers hold back too much (generation_renew).
 *
 * The directory may be everybody's (/dev/shm): whose a file is comes before its number, and a name that
 * someone else has taken is passed over.
 *
 * Everything happens under the writer's lock (lock.h).
 */
#ifndef WRITER_STORE_GENERATION_H
#define WRITER_STORE_GENERATION_H

#include <stdint.h>

#include "writer/arena/arena.h"
#include "writer/arena/intern.h"

/*
 * Where a writer's arena files lie: DIRECTORY/PREFIX.GENERATION
 */
struct arena_place {
	int directory;			/* open descriptor */
	char prefix[128];
	uint64_t max_bytes;
	uint8_t master[TAG_MASTER_BYTES];
};

enum adoption_how {
	ADOPTION_NEW,		/* there was none */
	ADOPTION_ADOPTED,	/* the content of old_generation was carried over */
	ADOPTION_REBUILD,	/* there was one, but it cannot be used: message says why */
};

struct adoption {
	enum adoption_how how;
	uint64_t generation, old_generation;
	unsigned strangers; /* files of other users under the arena's name: passed over, left alone */
	uint64_t bytes, blocks;
	uint64_t copy_ns, verify_ns;
	char message[512];	/* a sentence for the log; empty when there is nothing to say */
	int old_fd;		/* the file that generation_finish() supersedes; -1: none */
};

/*
 * Find the arena to start from, and make this writer's own.
 *
 * ret_arena   its state is still INCOMPLETE
 * ret_intern  the rebuilt table when adopted, else NULL
 * Returns     0, or negative errno with a sentence in ret->message (no memory for even an empty arena,
 *             directory not writable)
 */
int generation_adopt(const struct arena_place *place, struct arena *ret_arena, struct intern **ret_intern,
		     struct adoption *ret);

/*
 * The switch: the new generation goes LIVE (its root must be published), every other one is marked superseded
 * and unlinked.
 */
void generation_finish(const struct arena_place *place, struct arena *arena, struct adoption *adoption);

/*
 * Carry the content of a live arena of our own into a new generation; `old` stays as it is until
 * generation_finish().
 * Returns 0, or -ENOSPC (both do not fit), other negative errno; message set.
 */
int generation_renew(const struct arena_place *place, const struct arena *old, struct arena *ret_arena,
		     struct intern **ret_intern, struct adoption *ret);

#endif
