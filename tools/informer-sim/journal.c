/* SPDX-License-Identifier: Apache-2.0 */
/* The journal: a ring of lines; see journal.h. */
#include "tools/informer-sim/journal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
sim_journal_init(struct sim_journal *journal)
{
	memset(journal, 0, sizeof(*journal));
	pthread_mutex_init(&journal->lock, NULL);
}

void
sim_journal_clear(struct sim_journal *journal)
{
	pthread_mutex_lock(&journal->lock);
	for (; journal->first < journal->next; journal->first++)
		free(journal->lines[journal->first % SIM_JOURNAL_LINES]);
	pthread_mutex_unlock(&journal->lock);
}

void
sim_journal_done(struct sim_journal *journal)
{
	sim_journal_clear(journal);
	pthread_mutex_destroy(&journal->lock);
}

void
sim_journal_add(struct sim_journal *journal, const char *format, ...)
{
	char *line = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&line, format, args) < 0)
		line = NULL;
	va_end(args);
	if (!line)
		return;
	pthread_mutex_lock(&journal->lock);
	if (journal->next - journal->first == SIM_JOURNAL_LINES)
		free(journal->lines[journal->first++ % SIM_JOURNAL_LINES]);
	journal->lines[journal->next++ % SIM_JOURNAL_LINES] = line;
	pthread_mutex_unlock(&journal->lock);
}

void
sim_journal_print(struct sim_journal *journal, struct api_buf *buf)
{
	pthread_mutex_lock(&journal->lock);
	for (uint64_t at = journal->first; at < journal->next; at++) {
		api_buf_puts(buf, journal->lines[at % SIM_JOURNAL_LINES]);
		api_buf_puts(buf, "\n");
	}
	pthread_mutex_unlock(&journal->lock);
}
