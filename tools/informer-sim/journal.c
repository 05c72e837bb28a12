/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal: a ring of lines, and how a request is written as one.
 */
#include "tools/informer-sim/journal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/query.h"

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
sim_journal_print(struct sim_journal *journal, struct sim_buf *buf)
{
	pthread_mutex_lock(&journal->lock);
	for (uint64_t at = journal->first; at < journal->next; at++) {
		sim_buf_puts(buf, journal->lines[at % SIM_JOURNAL_LINES]);
		sim_buf_puts(buf, "\n");
	}
	pthread_mutex_unlock(&journal->lock);
}

const char *
sim_request_verb(const struct sim_request *request)
{
	const char *method = request->method, *initial = sim_request_query(request, "sendInitialEvents");

	if (!request->resource)
		return "DISCOVERY";
	if (!strcmp(method, "POST"))
		return "CREATE";
	if (!strcmp(method, "PUT"))
		return "UPDATE";
	if (!strcmp(method, "PATCH"))
		return "PATCH";
	if (!strcmp(method, "DELETE"))
		return request->name ? "DELETE" : "DELETECOLLECTION";
	if (request->name)
		return "GET";
	if (!sim_query_is_watch(request))
		return "LIST";
	return initial && !strcmp(initial, "true") ? "WATCHLIST" : "WATCH";
}

/* A query parameter that is there and not empty, as " name=value"; what stands before it is a space. */
static void
parameter(const struct sim_request *request, const char *name, const char *shown, struct sim_buf *buf)
{
	const char *value = sim_request_query(request, name);

	if (value && value[0])
		sim_buf_printf(buf, " %s=%s", shown, value);
}

void
sim_journal_request(const struct sim_request *request, struct sim_buf *buf)
{
	const char *verb = sim_request_verb(request),
		   *bookmarks = sim_request_query(request, "allowWatchBookmarks");

	if (!request->resource) {
		sim_buf_printf(buf, "%s %s", request->method, request->url);
		return;
	}
	sim_buf_printf(buf, "%s %s", verb, request->resource->group_resource);
	if (request->name)
		sim_buf_printf(buf, " %s", request->name);
	if (request->subresource)
		sim_buf_printf(buf, "/%s", request->subresource);
	if (request->namespace_)
		sim_buf_printf(buf, " in %s", request->namespace_);
	if (strcmp(verb, "LIST") != 0 && strncmp(verb, "WATCH", 5) != 0)
		return;
	if (request->page > 1)
		sim_buf_printf(buf, " page=%u", request->page);
	parameter(request, "resourceVersion", "rv", buf);
	parameter(request, "resourceVersionMatch", "match", buf);
	parameter(request, "limit", "limit", buf);
	parameter(request, "timeoutSeconds", "timeout", buf);
	parameter(request, "labelSelector", "labels", buf);
	parameter(request, "fieldSelector", "fields", buf);
	if (bookmarks && !strcmp(bookmarks, "true"))
		sim_buf_puts(buf, " bookmarks");
}
