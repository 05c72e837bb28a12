/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generations: which arena file a writer starts from, and how one follows another.
 *
 * A writer that comes back cannot know which pins its predecessor had granted, so it never writes into that
 * file's blocks. It copies the file (offsets stay valid), checks identity, root and every reachable tag in
 * the copy, rebuilds its books by that walk, and only then makes the switch: new state LIVE, old superseded.
 * The old one stays for those who still read there, until patience is over, room is wanted, or the next
 * writer makes its switch: at most one superseded generation is alive. Then it is revoked: state REVOKED, its
 * memory given back, unlinked.
 *
 *	old whole ──▶ new INCOMPLETE, old whole ──▶ new LIVE, old whole ──▶ new LIVE, old superseded
 *
 * Where two do not fit into the memory there is, the new one begins empty, in what is left, and the old one
 * is superseded by it all the same.
 *
 * Invariant: killed at any point, a writer leaves the whole content, and the next one finds it, in the
 * highest file that is LIVE or STALE.
 *
 * The directory may be everybody's (/dev/shm): whose a file is comes before its number, and a name that
 * someone else has taken is passed over.
 *
 * Everything happens under the writer's lock (lock.h).
 */
#ifndef WRITER_STORE_GENERATION_H
#define WRITER_STORE_GENERATION_H

#include <stdbool.h>
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
	ADOPTION_REBUILD,	/* there was one, but its content was not carried over: message says why */
};

struct adoption {
	enum adoption_how how;
	uint64_t generation, old_generation;
	unsigned strangers; /* files of other users under the arena's name: passed over, left alone */
	uint64_t bytes, blocks;
	uint64_t copy_ns, verify_ns;
	char message[512];	/* a sentence for the log; empty when there is nothing to say */
	int old_fd;             /* what was replaced and is not given back yet; -1: none */
	uint64_t superseded_ns; /* CLOCK_BOOTTIME, since when */
};

/*
 * Find the arena to start from, and make this writer's own.
 *
 * ret_arena   its state is still INCOMPLETE
 * ret_intern  the rebuilt table when adopted, else NULL
 * Returns     0, or negative errno with a sentence in ret->message (no memory for even an empty arena,
 *             directory not writable): what was there is left to the next start
 */
int generation_adopt(const struct arena_place *place, struct arena *ret_arena, struct intern **ret_intern,
		     struct adoption *ret);

/*
 * The switch: the new generation goes LIVE, if it is not yet (its root must be published); the old one is
 * marked superseded, and all others are revoked and unlinked. Who reads an orphan goes by a note
 * (lock_note.h): for that the new one is LIVE, then named there, then this is called.
 */
void generation_finish(const struct arena_place *place, struct arena *arena, struct adoption *adoption);

/*
 * To be called with each heartbeat, after generation_finish(). What was replaced goes as soon as nobody has
 * it open any more; beyond patience_ns (of CLOCK_BOOTTIME) it is revoked, and goes. Returns  true when
 * readers were revoked for it
 */
bool generation_expire(const struct arena_place *place, struct adoption *adoption, uint64_t now_ns,
		       uint64_t patience_ns);

/* Room is wanted: what was replaced is revoked, and goes. False: there was nothing. */
bool generation_give_back(const struct arena_place *place, struct adoption *adoption);

/* The writer ends: what was replaced is left to the next start. */
void generation_leave(struct adoption *adoption);

#endif
