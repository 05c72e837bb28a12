/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Journal: one line for each answer, in order, so that a test can compare a whole conversation:
 *
 *   LIST pods rv=0 limit=500 -> 200 rv=20 items=2
 *   WATCH pods rv=20 timeout=412 bookmarks -> 200
 *   WATCH pods rv=20 ended after 3 events: close
 *
 * Threads   any. The last SIM_JOURNAL_LINES lines are kept.
 */
#ifndef TOOLS_INFORMER_SIM_JOURNAL_H
#define TOOLS_INFORMER_SIM_JOURNAL_H

#include <pthread.h>
#include <stdint.h>

#include "tools/serving/buf.h"

#define SIM_JOURNAL_LINES 8192

struct sim_journal {
	pthread_mutex_t lock;
	char *lines[SIM_JOURNAL_LINES]; /* a ring */
	uint64_t next;
	uint64_t first;
};

void
sim_journal_init(struct sim_journal *journal);
void
sim_journal_done(struct sim_journal *journal);
void sim_journal_add(struct sim_journal *journal, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void
sim_journal_clear(struct sim_journal *journal);
/* Append all lines. */
void
sim_journal_print(struct sim_journal *journal, struct api_buf *buf);

#endif
