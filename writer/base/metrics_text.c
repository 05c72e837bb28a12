/* SPDX-License-Identifier: Apache-2.0 */
/* The exposition format of Prometheus; see metrics_text.h. */
#include "writer/base/metrics_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *
opened(struct metrics_text *m)
{
	if (!m->out)
		m->out = open_memstream(&m->text, &m->length);
	m->failed |= !m->out;
	return m->out;
}

static void
put_value(FILE *out, const char *value)
{
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", out);
		else if (*value < 0x20 || *value > 0x7e)
			fputc('?', out);
		else
			fprintf(out, "%s%c", *value == '"' || *value == '\\' ? "\\" : "", *value);
	}
}

void
metrics_family(struct metrics_text *m, const char *name, const char *type, const char *help)
{
	m->family = name;
	m->type = type;
	m->help = help;
	m->told = false;
}

void
metrics_sample(struct metrics_text *m, const char *suffix, double value, const char *const *labels)
{
	const char *separator = "{";
	FILE *out = opened(m);

	if (!out)
		return;
	if (!m->told)
		fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", m->family, m->help, m->family, m->type);
	m->told = true;
	fprintf(out, "%s%s", m->family, suffix);
	for (; labels && labels[0]; labels += 2) {
		if (!labels[1])
			continue;
		fprintf(out, "%s%s=\"", separator, labels[0]);
		put_value(out, labels[1]);
		fputc('"', out);
		separator = ",";
	}
	/* 2^53: whole numbers below it are exact */
	fprintf(out, value == floor(value) && fabs(value) <= 9007199254740992.0 ? "%s %.0f\n" : "%s %.15g\n",
		*separator == ',' ? "}" : "", value);
}

char *
metrics_take(struct metrics_text *m, size_t *ret_length)
{
	FILE *out = opened(m); /* without samples: an empty text */
	bool failed = m->failed || ferror(out);
	char *text;

	failed |= out && fclose(out) != 0;
	text = m->text;
	*ret_length = m->length;
	*m = (struct metrics_text){0};
	if (!failed)
		return text;
	free(text);
	return NULL;
}
