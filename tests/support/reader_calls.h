/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader's calls, one by one, with answers that can be compared: what is asked of a store of pods,
 * whatever happens to its arena meanwhile.
 */
#ifndef TESTS_SUPPORT_READER_CALLS_H
#define TESTS_SUPPORT_READER_CALLS_H

#include "reader-lib/informer.h"
#include "reader-lib/read/by_seq.h"
#include "reader-lib/read/path_set.h"
#include "tests/support/store_fixture.h"

#define ANSWER_TEXT 16384u
#define READER_PATHS 7u

/*
 * What a call answered: result, and all that it set. Shared with the child.
 *
 * anew  to the child: what handle and paths remember is to be forgotten before the next call
 */
struct reader_answer {
	bool anew;
	int r;
	uint64_t words[8];
	size_t length;
	char text[ANSWER_TEXT];
};

/* Who asks. Zeroed but for `answer`. */
struct reader {
	struct informer *inf;
	struct informer_resource *pods;
	struct informer_path *paths[READER_PATHS];
	struct informer_label_selector *selector;
	struct informer_field_selector *fields;
	struct path_set *wanted;
	struct informer_snapshot snap;
	struct informer_object object, copy;
	struct informer_value value;
	struct informer_value_iter items;
	struct informer_iter it;
	struct by_seq by_seq;
	struct reader_answer *answer;
};

/*
 * before   what the call needs; NULL: nothing. 0 or more, or why there can be no call
 * call     what is looked at
 * after    when everything is back: give back what the call made
 * expired  what it says of an arena that is gone
 */
struct reader_call {
	const char *name;
	int (*before)(struct reader *r);
	void (*call)(struct reader *r, struct reader_answer *a);
	void (*after)(struct reader *r);
	int expired;
	bool verifies;
	bool is_long; /* so that one test has to do */
};

extern const struct reader_call reader_calls[];
extern const size_t reader_calls_count;

/* The pods that are asked for, and a commit that shows them. */
void reader_calls_fill(struct store_fixture *fx);
/* Open and compile what the calls need. The handle stays the caller's. */
void reader_ready(struct reader *r, struct informer *inf);
/* What the paths remember of shapes. */
void reader_forget_shapes(struct reader *r);
void reader_done(struct reader *r);
bool reader_answer_same(const struct reader_answer *a, const struct reader_answer *b);

#endif
