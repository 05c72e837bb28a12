/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's calls, with comparable answers, on a store of pods. Tests change the arena meanwhile. */
#ifndef TESTS_SUPPORT_READER_CALLS_H
#define TESTS_SUPPORT_READER_CALLS_H

#include "reader-lib/informer.h"
#include "reader-lib/read/by_seq.h"
#include "reader-lib/read/path_set.h"
#include "tests/support/store_fixture.h"

#define ANSWER_TEXT 16384u
#define READER_PATHS 7u

/*
 * A call's answer: the result, and everything that it set.
 *
 * anew  forget what handle and paths cache before the next call
 */
struct reader_answer {
	bool anew;
	int r;
	uint64_t words[8];
	size_t length;
	char text[ANSWER_TEXT];
};

/* A reader; zeroed but for `answer`. */
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
 * before   prepares the call; NULL: nothing. 0 or more, or the reason why no call is possible
 * call     the tested call
 * after    releases what the call made, when the arena is restored
 * expired  the call's result for an arena that is gone
 */
struct reader_call {
	const char *name;
	int (*before)(struct reader *r);
	void (*call)(struct reader *r, struct reader_answer *a);
	void (*after)(struct reader *r);
	int expired;
	bool verifies;
	bool is_long; /* slow: only one of the tests makes this call */
};

extern const struct reader_call reader_calls[];
extern const size_t reader_calls_count;

/* Put and commit the pods that the calls ask for. */
void reader_calls_fill(struct store_fixture *fx);
/* Open and compile what the calls need. The caller keeps the handle. */
void reader_ready(struct reader *r, struct informer *inf);
/* Forget the shapes that the paths have cached. */
void reader_forget_shapes(struct reader *r);
void reader_done(struct reader *r);
bool reader_answer_same(const struct reader_answer *a, const struct reader_answer *b);

#endif
