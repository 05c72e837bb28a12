/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena files in the directory, as a starting writer finds them.
 *
 * They are read, not mapped. Where a killed writer left a hole, a full tmpfs has no page for it, and
 * touching a mapped hole raises SIGBUS.
 */
#ifndef WRITER_STORE_GENERATION_FILE_H
#define WRITER_STORE_GENERATION_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/header_check.h"
#include "writer/store/generation.h"

#define GENERATIONS_MAX 64u /* files of ours that are looked at; the highest ones */

struct generation_file {
	int fd;
	struct header *header;	/* a copy */
	uint64_t bytes;		/* committed */
	char why[HEADER_WHY_BYTES];
};

/* PREFIX.GENERATION, cut to size. */
void generation_file_name(const struct arena_place *place, uint64_t generation, char *name, size_t size);

/*
 * The generations with a file of ours, highest first. Files of other users do not count, whatever their
 * number: any user may make files in /dev/shm.
 *
 * strangers  set to the number of files of other users
 * Returns    the number of ours (if above GENERATIONS_MAX, the highest), or negative errno
 */
int generation_files_find(const struct arena_place *place, uint64_t generations[GENERATIONS_MAX],
			  unsigned *strangers);

/*
 * Open a file. The caller calls generation_file_close() also after a failure. A REVOKED file can be opened.
 *
 * why      set on failure: a text that lives as long as `file`
 * Returns  0; -EAGAIN it is unfinished (`header` is set if the file has one, else NULL); -EPERM it is not
 *          ours alone; -EBADMSG or another error: not usable
 */
int generation_file_open(const struct arena_place *place, const char *name, struct generation_file *file,
			 const char **why);

/* keep_fd: leave the descriptor open; the caller has taken it */
void generation_file_close(struct generation_file *file, bool keep_fd);

/* Words of the header's copy. */
enum header_state generation_file_state(const struct generation_file *file);
uint64_t generation_file_superseded_by(const struct generation_file *file);

/* Mark the file superseded: its readers learn which generation replaced it. */
void generation_file_supersede(int fd, uint64_t generation);

/*
 * Revoke the file: all calls on its snapshots return EXPIRED, and its readers move to that generation. Free
 * the memory of everything behind its header.
 */
void generation_file_give_back(int fd, uint64_t generation);

/*
 * True if another process has the file open or mapped, or if the system does not say. Two system calls; a
 * process that opens the file meanwhile does not notice.
 */
bool generation_file_is_read(int fd);

#endif
