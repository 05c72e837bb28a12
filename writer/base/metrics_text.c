/* SPDX-License-Identifier: Apache-2.0 */
/* The exposition format of Prometheus; see metrics_text.h. */
#include "writer/base/metrics_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void
add(struct metrics_text *m, const char *text, size_t length)
{
	if (!m->failed && bytes_append(&m->text, text, length) < 0)
		m->failed = true;
}

static void
add_text(struct metrics_text *m, const char *text)
{
	add(m, text, strlen(text));
}

static void
add_number(struct metrics_text *m, double value)
{
	char text[64];

	/* 2^53: whole numbers below it are exact */
	if (value == floor(value) && fabs(value) <= 9007199254740992.0)
		snprintf(text, sizeof(text), "%.0f", value);
	else
		snprintf(text, sizeof(text), "%.15g", value);
	add_text(m, text);
}

static void
add_value(struct metrics_text *m, const char *value)
{
	for (; *value; value++) {
		if (*value == '\n')
			add_text(m, "\\n");
		else if (*value < 0x20 || *value > 0x7e)
			add_text(m, "?");
		else if (*value == '"' || *value == '\\')
			add(m, (const char[]){'\\', *value}, 2);
		else
			add(m, value, 1);
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

static void
tell_family(struct metrics_text *m)
{
	const char *const parts[] = {"# HELP ", m->family, " ",     m->help, "\n# TYPE ",
				     m->family, " ",       m->type, "\n"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		add_text(m, parts[i]);
	m->told = true;
}

void
metrics_sample(struct metrics_text *m, const char *suffix, double value, const char *const *labels)
{
	const char *separator = "{";

	if (!m->told)
		tell_family(m);
	add_text(m, m->family);
	add_text(m, suffix);
	for (; labels && labels[0]; labels += 2) {
		if (!labels[1])
			continue;
		add_text(m, separator);
		add_text(m, labels[0]);
		add_text(m, "=\"");
		add_value(m, labels[1]);
		add_text(m, "\"");
		separator = ",";
	}
	add_text(m, *separator == ',' ? "} " : " ");
	add_number(m, value);
	add_text(m, "\n");
}

char *
metrics_take(struct metrics_text *m, size_t *ret_length)
{
	char *text;

	add(m, "", 1); /* so that an empty one is a text, too */
	if (m->failed) {
		bytes_done(&m->text);
		*m = (struct metrics_text){0};
		return NULL;
	}
	text = (char *)m->text.data;
	*ret_length = m->text.length - 1;
	*m = (struct metrics_text){0};
	return text;
}
