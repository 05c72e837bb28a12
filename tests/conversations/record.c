/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps played lines and logs for the report of a conversation that fails. */
#include "tests/conversations/record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "writer/base/log.h"

void
record_open(struct record *r)
{
	*r = (struct record){ .log = memfd_create("log", MFD_CLOEXEC) };
	r->lines = open_memstream(&r->text, &r->length);
	if (r->log < 0 || !r->lines)
		abort();
	log_open(LOG_LEVEL_INFO, r->log);
}

void
record_close(struct record *r)
{
	log_open(LOG_LEVEL_INFO, STDERR_FILENO);
	close(r->log);
	fclose(r->lines);
	free(r->text);
}

void
record_line(struct record *r, const struct script_line *line, double seconds)
{
	fprintf(r->lines, "   %7.3f  %3u  %s\n", seconds, line->number, line->whole);
}

static char *
read_log(const struct record *r, off_t from)
{
	off_t end = lseek(r->log, 0, SEEK_END);
	char *text = calloc(1, (size_t)(end - from) + 1);

	if (!text || pread(r->log, text, (size_t)(end - from), from) < 0)
		abort();
	return text;
}

bool
record_log_has(struct record *r, const char *text)
{
	char *log = read_log(r, r->log_seen), *at = strstr(log, text);

	if (at)
		r->log_seen += at + strlen(text) - log;
	free(log);
	return at != NULL;
}

char *
record_report(struct record *r, const char *name, const struct script_line *line, double seconds,
	      struct talk_server *server, const char *store, const char *format, va_list arguments)
{
	char *log = read_log(r, 0), *held = talk_server_held(server), *wire = talk_server_log(server, 0),
	     *report = NULL;
	size_t length;
	FILE *out = open_memstream(&report, &length);

	if (!out)
		abort();
	fflush(r->lines);
	fprintf(out, "%s:%u: ", name, line->number);
	vfprintf(out, format, arguments);
	fprintf(out, "\nThe conversation, with the seconds that passed:\n%s=> %7.3f  %3u  %s\n", r->text,
		seconds, line->number, line->whole);
	if (held[0])
		fprintf(out, "Waiting for an answer:\n%s", held);
	fprintf(out, "The server's log:\n%sThe client's log:\n%s", wire, log);
	if (store)
		fprintf(out, "The client's store: %s\n", store);
	fclose(out);
	free(log);
	free(held);
	free(wire);
	return report;
}
