/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cut log holds what a piece of code did to the files of a directory, step by step. cut_record.h writes it.
 * A test plays it and checks the files between any two steps, as kill -9 would leave them.
 *
 *	pictures: the directory's files at one moment        steps: from one picture to the next
 *
 * Invariant: the first picture and the steps give the files that the recorder saw, at every step.
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
	CUT_BY_CALL,  /* a call made, named or resized a file */
	CUT_BYS
};

/* ---- pictures ---- */

#define CUT_FILES_MAX 8u
#define CUT_FILE_BYTES (16u << 20) /* the longest */
#define CUT_PAGE 4096u
#define CUT_PAGES (CUT_FILE_BYTES / CUT_PAGE)

struct cut_file {
	ino_t ino;
	char name[64]; /* empty: the file was unlinked */
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
	bool joined;     /* same instruction or call as the step before */
	uint64_t offset; /* of BYTES; for SIZE and MODE the value itself */
	uint32_t length; /* BYTES, NAME: length of the data */
	size_t data;     /* BYTES, NAME: its place in the log's data */
};

struct cut_log {
	struct cut_picture begin;
	struct cut_step *steps;
	size_t count;
	uint8_t *data;
	size_t data_length;
	size_t cuts[CUT_BYS]; /* cuts at which some file differs */
};

/* Make an empty log. Like all functions here it aborts when memory runs out. */
struct cut_log *cut_log_new(void);
void cut_log_free(struct cut_log *log);

/* Add a step with its data, and apply it to `now`. Allocates nothing, since signal handlers call it. */
void cut_log_add(struct cut_log *log, struct cut_picture *now, struct cut_step step, const void *data);

/* ---- playing ---- */

struct cut {
	size_t number;   /* 0: before the first step */
	enum cut_by by;  /* kind of the last step */
	uint64_t offset; /* of a store or a copy, in its file */
	bool last;       /* all steps are done */
};

/*
 * For each cut, from no step to all steps: empty `directory` (a path), write the files as of then, and call
 * each(). The directory is empty at the end.
 * every  1: all cuts; n: each n-th cut by stores and copies, and all other cuts, the last included
 */
void cut_play(const struct cut_log *log, const char *directory, size_t every,
	      void (*each)(void *context, const struct cut *cut), void *context);

/* Print the reason, and abort. */
_Noreturn void cut_give_up(const char *why);
/* Reserve zeroed memory that costs nothing until it is written. */
void *cut_reserve(size_t bytes);

#endif
