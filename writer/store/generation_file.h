/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena files that a writer finds when it starts.
 *
 * Nothing of them is mapped, they are read: where a killed writer left a hole, a full tmpfs has no page for
 * it, and to touch it would be a SIGBUS.
 */
#ifndef WRITER_STORE_GENERATION_FILE_H
#define WRITER_STORE_GENERATION_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm-layout/header_check.h"
#include "writer/store/generation.h"

#define GENERATIONS_MAX 64u /* files of ours looked at; more means somebody plays with the names */

struct generation_file {
	int fd;
	struct header *header;	/* a copy */
	uint64_t bytes;		/* committed */
	char why[HEADER_WHY_BYTES];
};

/* PREFIX.GENERATION, cut to size. */
void generation_file_name(const struct arena_place *place, uint64_t generation, char *name, size_t size);

/*
 * The generations whose files exist, highest first. Anybody may make files in /dev/shm: those of others do
 * not count, whatever their number.
 *
 * strangers  set to how many of others there are
 * Returns    the number of ours (of more than GENERATIONS_MAX the highest), or negative errno
 */
int generation_files_find(const struct arena_place *place, uint64_t generations[GENERATIONS_MAX],
			  unsigned *strangers);

/*
 * Open one. generation_file_close() follows, whatever came of it. One that is REVOKED can be opened.
 *
 * why      set on failure: a text that lives as long as `file`
 * Returns  0; -EAGAIN it is unfinished (then `header` is there where the file has one, else NULL); -EPERM it
 * is not ours alone; -EBADMSG or another error: not usable
 */
int generation_file_open(const struct arena_place *place, const char *name, struct generation_file *file,
			 const char **why);

/* keep_fd: the descriptor goes on to somebody else. */
void generation_file_close(struct generation_file *file, bool keep_fd);

/* Words of the copy. */
enum header_state generation_file_state(const struct generation_file *file);
uint64_t generation_file_superseded_by(const struct generation_file *file);

/* Tell its readers that another generation has replaced it. */
void generation_file_supersede(int fd, uint64_t generation);

/*
 * Revoke it: every call of its readers' snapshots says EXPIRED, and they go on to that generation. Take the
 * memory of everything behind its header.
 */
void generation_file_give_back(int fd, uint64_t generation);

/*
 * Whether anybody else has it open or mapped. True where the system does not say. Nothing but two system
 * calls, and no surprise for whoever opens it meanwhile.
 */
bool generation_file_is_read(int fd);

#endif
