/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a line of a fault script. Of `say TEXT [once|times N]` the text is not split: it is set aside
 * as it stands.
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
	char **ret_error; /* the first refusal's sentence */
	char *said;       /* ended by a newline, until somebody takes it; or NULL */
};

/* Split a line, which is changed and must stay. All that return int: 0, or -EINVAL with the sentence. */
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
/* A number from `low` on; `what` asks for it. */
int
sim_words_number(struct sim_words *w, const char *what, uint64_t low, uint64_t *ret);
/* Is nothing left? */
int
sim_words_end(struct sim_words *w);

/* 200ms, 2s */
bool
sim_is_time(const char *text, unsigned *ret_ms);

#endif
