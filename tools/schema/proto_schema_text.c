/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting lines into words and fields; see proto_schema_text.h. */
#include "tools/schema/proto_schema_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/schema/proto_release.h"

#define MESSAGES_MAX UINT16_MAX
#define KINDS_MAX 4096u

bool
schema_text_bad(struct schema_text *t, const char *format, ...)
{
	va_list args;
	int n = snprintf(t->why, t->why_size, "line %u: ", t->line);

	va_start(args, format);
	if (n > 0 && (size_t)n < t->why_size)
		vsnprintf(t->why + n, t->why_size - (size_t)n, format, args);
	va_end(args);
	return false;
}

struct schema_text *
schema_text_at(struct schema_text *t, const char *word_of_it)
{
	size_t behind = (size_t)(word_of_it - t->s->text);

	t->line = 1;
	for (size_t i = 0; i < behind; i++)
		t->line += t->text[i] == '\n';
	return t;
}

/* Cut off the next word of a line; NULL: none. */
static char *
word(char **line)
{
	char *w = *line + strspn(*line, " \t");

	if (!*w)
		return NULL;
	*line = w + strcspn(w, " \t");
	if (**line)
		*(*line)++ = '\0';
	return w;
}

static bool
after(const char **text, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(*text, prefix, n) != 0)
		return false;
	*text += n;
	return true;
}

/* ---- a field ---- */

static const struct {
	const char *word;
	enum proto_type type;
} types[] = {
	{"string", PROTO_STRING}, {"bytes", PROTO_BYTES},          {"bool", PROTO_BOOL},
	{"int", PROTO_INT},       {"quantity", PROTO_QUANTITY},    {"intOrString", PROTO_INT_OR_STRING},
	{"time", PROTO_TIME},     {"microTime", PROTO_MICRO_TIME}, {"raw", PROTO_RAW},
};

/* Parse [*] [list[]] WORD, []WORD or map[][list[]]WORD. *ret_message is WORD if it names a message. */
static bool
parse_type(struct schema_text *t, struct proto_field *f, const char *text, const char **ret_message)
{
	*ret_message = NULL;
	if (*text == '"') {
		size_t n = strlen(text);

		if (n < 2 || text[n - 1] != '"' || strcspn(text + 1, "\"\\") != n - 2)
			return schema_text_bad(t, "%s is no text in quotes", text);
		f->type = PROTO_CONSTANT;
		f->constant = text;
		return true;
	}
	if (after(&text, "*"))
		f->flags |= PROTO_POINTER;
	else if (after(&text, "map[]"))
		f->flags |= PROTO_REPEATED | PROTO_MAP;
	else if (after(&text, "[]"))
		f->flags |= PROTO_REPEATED;
	if ((f->flags & (PROTO_REPEATED | PROTO_MAP)) != PROTO_REPEATED && after(&text, "list[]"))
		f->flags |= PROTO_LIST;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strcmp(text, types[i].word) == 0) {
			f->type = (uint8_t)types[i].type;
			return true;
		}
	if (!strchr(text, '.'))
		return schema_text_bad(t, "%s is no type that is known", text);
	f->type = PROTO_MESSAGE;
	*ret_message = text;
	return true;
}

/* Whether the server writes the field even when it is zero. */
static bool
is_plain(const struct proto_field *f)
{
	return !(f->flags & (PROTO_POINTER | PROTO_REPEATED)) &&
	       (f->type <= PROTO_INT || f->flags & PROTO_LIST);
}

static const struct {
	const char *word;
	enum proto_flag flag;
	bool until;
} options[] = {
	{"omitempty", PROTO_OMIT_EMPTY, false},
	{"omitzero", PROTO_OMIT_ZERO, false},
	{"since", PROTO_GONE, true},
	{"gone", PROTO_GONE, false},
};

/* WORD[=RELEASE] */
static bool
parse_option(struct schema_text *t, struct proto_field *f, char *option)
{
	struct proto_schema *s = t->s;
	char *release = strchr(option, '=');
	struct proto_condition *c = &s->conditions[s->condition_count];

	if (release)
		*release++ = '\0';
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (strcmp(option, options[i].word) != 0)
			continue;
		*c = (struct proto_condition){.field = (uint32_t)s->field_count,
					      .flags = (uint16_t)options[i].flag,
					      .until = options[i].until};
		c->release = release ? proto_release_of(release, "1") : 0;
		if (!c->release && (release || c->until))
			return schema_text_bad(t, "%s stands with a release, as in %s=1.36", option, option);
		if (c->flags == PROTO_OMIT_ZERO && f->type != PROTO_TIME)
			return schema_text_bad(t, "omitzero is known of times alone");
		if (c->flags == PROTO_OMIT_EMPTY && is_plain(f))
			c->flags |= PROTO_DROP_ZERO;
		if (!c->until)
			f->flags |= c->flags;
		s->condition_count += c->release != 0;
		return true;
	}
	return schema_text_bad(t, "%s is no option that is known", option);
}

static bool
parse_options(struct schema_text *t, struct proto_field *f, char *line)
{
	char *option;

	while ((option = word(&line)))
		if (!parse_option(t, f, option))
			return false;
	return true;
}

/* The message names of fields go to messages[], because a message may be defined later. */
static bool
parse_field(struct schema_text *t, char *line, const char **messages)
{
	struct proto_schema *s = t->s;
	struct proto_message *m = s->message_count ? &s->messages[s->message_count - 1] : NULL;
	struct proto_field *f = &s->fields[s->field_count];
	const char *number = word(&line), *name = word(&line), *type = word(&line);
	char *end = NULL, *text = s->names + t->names_length;
	unsigned long n = number ? strtoul(number, &end, 10) : 0;

	if (!m || !name || !type || end == number || *end || n > PROTO_NUMBER_MAX)
		return schema_text_bad(t, "a field is NUMBER NAME TYPE, behind its message");
	if (m->count == PROTO_FIELDS_MAX)
		return schema_text_bad(t, "%s has more than %u fields", m->name, PROTO_FIELDS_MAX);
	if (strpbrk(name, "\"\\") || strlen(name) > UINT8_MAX - 3)
		return schema_text_bad(t, "%s is no name of a field", name);
	if (!parse_type(t, f, type, &messages[s->field_count]) || !parse_options(t, f, line))
		return false;
	if ((n == 0) != (f->type == PROTO_CONSTANT))
		return schema_text_bad(t, "a number is missing, or stands at a text");
	if (strcmp(name, "-") == 0) {
		if (f->type != PROTO_MESSAGE || f->flags & (PROTO_REPEATED | PROTO_LIST))
			return schema_text_bad(t, "only a message can stand in the outer object");
		f->flags |= PROTO_INLINE;
	}
	for (unsigned i = 0; n && i < m->count; i++)
		if (m->fields[i].number == n)
			return schema_text_bad(t, "%s has two fields %lu", m->name, n);
	f->number = (uint16_t)n;
	f->tag = (uint16_t)(n << 3 | (proto_is_number(f) ? 0 : 2));
	f->name = text;
	f->name_length = (uint8_t)sprintf(text, "\"%s\":", name);
	t->names_length += f->name_length;
	if (m->highest < n)
		m->highest = (uint16_t)n;
	m->count++;
	s->field_count++;
	return true;
}

/* ---- lines ---- */

static bool
parse_message(struct schema_text *t, char *rest)
{
	struct proto_schema *s = t->s;
	struct proto_message *m = &s->messages[s->message_count];

	m->name = word(&rest);
	m->fields = &s->fields[s->field_count];
	if (!m->name || word(&rest))
		return schema_text_bad(t, "a message is NAME");
	if (s->message_count == MESSAGES_MAX)
		return schema_text_bad(t, "there are more than %u messages", MESSAGES_MAX);
	s->message_count++;
	return true;
}

static bool
parse_kind(struct schema_text *t, char *rest)
{
	struct proto_schema *s = t->s;
	struct proto_kind *k = &s->kinds[s->kind_count];
	const char *message;

	k->api_version = word(&rest);
	k->name = word(&rest);
	message = word(&rest);
	if (!message || word(&rest))
		return schema_text_bad(t, "a kind is APIVERSION KIND MESSAGE");
	if (s->kind_count == KINDS_MAX)
		return schema_text_bad(t, "there are more than %u kinds", KINDS_MAX);
	for (size_t i = 0; i < s->kind_count; i++)
		if (strcmp(s->kinds[i].name, k->name) == 0 &&
		    strcmp(s->kinds[i].api_version, k->api_version) == 0)
			return schema_text_bad(t, "there are two kinds %s of %s", k->name, k->api_version);
	k->message = (const void *)message; /* the name, until link_up() */
	s->kind_count++;
	return true;
}

static bool
parse_line(struct schema_text *t, char *line, const char **messages)
{
	char *rest = line;

	if (*line >= '0' && *line <= '9')
		return parse_field(t, line, messages);
	if (strncmp(line, "releases ", 9) == 0) {
		t->s->releases = line + 9;
		t->s->oldest = proto_release_of(t->s->releases, "v0");
		return true;
	}
	word(&rest);
	if (strcmp(line, "message") == 0)
		return parse_message(t, rest);
	if (strcmp(line, "kind") == 0)
		return parse_kind(t, rest);
	return schema_text_bad(t, "it begins with none of: a number, message, kind, releases");
}

bool
schema_text_read(struct schema_text *t, size_t length, const char **messages)
{
	char *next = t->s->text, *end = next + length;

	while (next < end) {
		char *line = next;

		t->line++;
		next += strcspn(next, "\n");
		if (next < end && *next == '\0')
			return schema_text_bad(t, "there is a zero byte, so it is no text");
		*next++ = '\0';
		line += strspn(line, " \t");
		if (*line && *line != '#' && !parse_line(t, line, messages))
			return false;
	}
	return true;
}
