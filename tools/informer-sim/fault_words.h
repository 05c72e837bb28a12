/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fault words: splits a line of a fault script into words. The text of `say TEXT [once|times N]` is kept
 * unsplit.
 */
#ifndef TOOLS_INFORMER_SIM_FAULT_WORDS_H
#define TOOLS_INFORMER_SIM_FAULT_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/serving/buf.h"

#define SIM_WORDS_MAX 64

struct sim_words {
	char *at[SIM_WORDS_MAX + 1]; /* NULL ended */
	unsigned next;
	char **ret_error; /* the sentence of the first error */
	char *said;       /* text of `say` with a newline, until taken; or NULL */
};

/*
 * Split a line, which is modified and must stay. All functions that return int: 0, or -EINVAL with the
 * sentence.
 */
int
sim_words_split(struct sim_words *w, char *line);
/* Returns -EINVAL. */
int sim_words_refuse(struct sim_words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The next word; "" at the end. */
const char *
sim_words_peek(const struct sim_words *w);
/* Step over the word if it is this one. */
bool
sim_words_take(struct sim_words *w, const char *word);
/* Parse a number of at least `low`; `what` names it in the error. */
int
sim_words_number(struct sim_words *w, const char *what, uint64_t low, uint64_t *ret);
/* Check that no word is left. */
int
sim_words_end(struct sim_words *w);

/* Parse 200ms, 2s; at most an hour. */
bool
sim_is_time(const char *text, unsigned *ret_ms);

#endif
