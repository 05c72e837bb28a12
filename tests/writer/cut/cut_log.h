/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cut log holds what a piece of code did to the files of a directory, step by step. cut_record.h writes
 * it. A test plays it and looks at the files at each moment between two steps, as kill -9 would have left
 * them.
 *
 *	pictures: the directory's files as they are        steps: from one picture to the next
 *
 * Invariant: the first picture and the steps give what the recorder saw, at every moment.
 */
#ifndef TESTS_SUPPORT_CUT_LOG_H
#define TESTS_SUPPORT_CUT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum cut_by {
	CUT_BY_STORE, /* one instruction changed a file's bytes */
	CUT_BY_COPY,  /* a copy of more than one page, page by page */
	CUT_BY_CALL,  /* a call made, named or resized a file, … */
	CUT_BYS
};

/* ---- pictures ---- */

#define CUT_FILES_MAX 8u
#define CUT_FILE_BYTES (16u << 20) /* the longest */
#define CUT_PAGE 4096u
#define CUT_PAGES (CUT_FILE_BYTES / CUT_PAGE)

struct cut_file {
	ino_t ino;
	char name[64]; /* empty: the file has no name any more */
	uint64_t size;
	mode_t mode;
	uint8_t *bytes;          /* CUT_FILE_BYTES, zeroes after size */
	uint8_t used[CUT_PAGES]; /* 0: the page is all zeroes */
};

struct cut_picture {
	struct cut_file files[CUT_FILES_MAX];
	unsigned count;
};

/* Add a file, empty and without a name; returns its index. */
unsigned cut_picture_add(struct cut_picture *p, ino_t ino);
void cut_picture_copy(struct cut_picture *to, const struct cut_picture *from);
void cut_picture_done(struct cut_picture *p);

/* ---- steps ---- */

struct cut_step {
	enum cut_step_kind { CUT_STEP_BYTES, CUT_STEP_NAME, CUT_STEP_SIZE, CUT_STEP_MODE } kind;
	enum cut_by by;
	unsigned file;
	bool joined;     /* from the same instruction or call as the step before */
	uint64_t offset; /* of BYTES; SIZE, MODE: the value itself */
	uint32_t length; /* BYTES, NAME: so many bytes in the log's data, from … */
	size_t data;     /* … here */
};

struct cut_log {
	struct cut_picture begin;
	struct cut_step *steps;
	size_t count;
	uint8_t *data;
	size_t data_length;
	size_t cuts[CUT_BYS]; /* moments between which some file differs */
};

/* Make an empty log. Like all functions here it aborts when memory runs out. */
struct cut_log *cut_log_new(void);
void cut_log_free(struct cut_log *log);

/* Add a step with its data, and apply it to `now`. Allocates nothing, since signal handlers call it. */
void cut_log_add(struct cut_log *log, struct cut_picture *now, struct cut_step step, const void *data);

/* ---- playing ---- */

struct cut {
	size_t number;   /* 0: before anything was done */
	enum cut_by by;  /* what was done last */
	uint64_t offset; /* by a store or a copy: where in its file */
	bool last;       /* everything is done */
};

/*
 * For each cut, from nothing done to everything: empty `directory` (a path), write the files as they were
 * then, and call each(). The directory is empty at the end.
 * every  1: all cuts; n: each n-th of those by stores and copies, and all others, the last included
 */
void cut_play(const struct cut_log *log, const char *directory, size_t every,
	      void (*each)(void *context, const struct cut *cut), void *context);

/* Print why, and abort. */
_Noreturn void cut_give_up(const char *why);
/* Reserve zeroes that take memory only when written to. */
void *cut_reserve(size_t bytes);

#endif
