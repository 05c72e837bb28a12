/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A generation is one arena file of a writer. Here a writer finds the file to start from, and replaces it.
 *
 * A new writer does not know which pins its predecessor granted, so it never writes into that file's blocks.
 * It copies the file (offsets stay valid). In the copy it checks identity, root and the tag of each
 * reachable block, and rebuilds its books by that walk. Only then it makes the switch: new state LIVE, old
 * superseded.
 *
 * The old file is unlinked once no process has it open. It is revoked before that when its patience_ns are
 * over, room is wanted, or the next writer makes its switch. Revoking sets REVOKED, frees its memory and
 * unlinks it. At most one superseded generation exists.
 *
 *	old whole ──▶ new INCOMPLETE, old whole ──▶ new LIVE, old whole ──▶ new LIVE, old superseded
 *
 * If memory does not suffice for both, the new one begins empty in the memory that is left, and supersedes
 * the old one too.
 *
 * Invariant: a writer killed at any point leaves the whole content. The next writer finds it in the highest
 * file that is LIVE or STALE.
 *
 * Any user may make files in the directory (/dev/shm). So a file's owner is checked before its number, and a
 * name that another user's file has is skipped.
 *
 * All of this runs under the writer's lock (lock.h).
 */
#ifndef WRITER_STORE_GENERATION_H
#define WRITER_STORE_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/arena/arena.h"
#include "writer/arena/intern.h"

/* The place of a writer's arena files: DIRECTORY/PREFIX.GENERATION */
struct arena_place {
	int directory;			/* open descriptor */
	char prefix[128];
	uint64_t max_bytes;
	uint8_t master[TAG_MASTER_BYTES];
};

enum adoption_how {
	ADOPTION_NEW,     /* there was no old generation */
	ADOPTION_ADOPTED, /* the content of old_generation was carried over */
	ADOPTION_REBUILD, /* old content was not carried over: message says why */
};

struct adoption {
	enum adoption_how how;
	uint64_t generation, old_generation;
	unsigned strangers; /* files of other users under the arena's name: passed over, left alone */
	uint64_t bytes, blocks;
	uint64_t copy_ns, verify_ns;
	char message[512];      /* a sentence for the log, or empty */
	int old_fd;             /* the superseded file until it is given back; -1: none */
	uint64_t superseded_ns; /* CLOCK_BOOTTIME at the switch */
};

/*
 * Find the arena to start from, and make this writer's new generation.
 *
 * ret_arena   its state is still INCOMPLETE
 * ret_intern  the rebuilt table if the content was adopted, else NULL
 * Returns     0, or negative errno with a sentence in ret->message (no memory for even an empty arena,
 *             directory not writable): the old files are left to the next start
 */
int generation_adopt(const struct arena_place *place, struct arena *ret_arena, struct intern **ret_intern,
		     struct adoption *ret);

/*
 * The switch: set the new generation LIVE if it is not yet (its root must be published), mark the old one
 * superseded, revoke and unlink all others. Readers of an orphaned arena follow a note (lock_note.h). So set
 * the new one LIVE, name it in the note, then call this.
 */
void generation_finish(const struct arena_place *place, struct arena *arena, struct adoption *adoption);

/*
 * Call with each heartbeat, after generation_finish(). Unlink the superseded file once no process has it
 * open. After patience_ns (of CLOCK_BOOTTIME) revoke and unlink it. Returns true if that revoked readers.
 */
bool generation_expire(const struct arena_place *place, struct adoption *adoption, uint64_t now_ns,
		       uint64_t patience_ns);

/* Room is wanted: revoke and unlink the superseded file. False: there was none. */
bool generation_give_back(const struct arena_place *place, struct adoption *adoption);

/* The writer ends: leave the superseded file to the next start. */
void generation_leave(struct adoption *adoption);

#endif
