/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protobuf schema: resolves the parsed text's names into pointers, adapts it to a release, and looks up
 * messages; proto_schema_text.c parses.
 */
#include "tools/schema/proto_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/schema/proto_release.h"
#include "tools/schema/proto_schema_text.h"

/* ---- linking ---- */

static int
by_name(const void *a, const void *b)
{
	const struct proto_message *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static const struct proto_message *
message_named(const struct proto_schema *s, const char *name)
{
	const struct proto_message key = {.name = name}, *k = &key, **found;

	found = bsearch(&k, s->by_name, s->message_count, sizeof(*s->by_name), by_name);
	return found ? *found : NULL;
}

/* Whether JSON has the field although it is absent in protobuf. */
static bool
stands_though_absent(const struct proto_field *f)
{
	return f->type == PROTO_CONSTANT ||
	       (!(f->flags & (PROTO_OMIT_EMPTY | PROTO_OMIT_ZERO | PROTO_INLINE | PROTO_GONE)) &&
		(f->flags & (PROTO_POINTER | PROTO_REPEATED | PROTO_LIST) || f->type == PROTO_BYTES));
}

static void
find_absent(struct proto_message *m)
{
	m->absent = 0;
	for (unsigned i = 0; i < m->count; i++)
		if (stands_though_absent(&m->fields[i]))
			m->absent |= (uint64_t)1 << i;
}

static void
link_message(struct proto_message *m, uint8_t *numbers)
{
	static uint64_t last_id;

	m->id = ++last_id;
	m->by_number = numbers;
	find_absent(m);
	for (unsigned i = 0; i < m->count; i++) {
		m->inlines |= (m->fields[i].flags & PROTO_INLINE) != 0;
		if (m->fields[i].type != PROTO_CONSTANT)
			numbers[m->fields[i].number] = (uint8_t)(i + 1);
	}
}

/*
 * Whether the condition changes the JSON of an absent field. A field that is omitted when empty is the same
 * in all releases.
 */
static bool
matters(const struct proto_schema *s, const struct proto_condition *c)
{
	struct proto_field f = s->fields[c->field];

	f.flags &= (uint16_t)~PROTO_GONE;
	return c->flags != PROTO_GONE || stands_though_absent(&f);
}

/* Mark messages with a field that depends on the release, and messages that contain such a message. */
static void
find_varying(struct proto_schema *s)
{
	bool more = s->condition_count > 0;
	size_t i = 0;

	/* conditions and messages are in the order of fields */
	for (size_t c = 0; c < s->condition_count; c++) {
		while (&s->fields[s->conditions[c].field] >= s->messages[i].fields + s->messages[i].count)
			i++;
		s->messages[i].varies |= matters(s, &s->conditions[c]);
	}
	while (more) {
		more = false;
		for (i = 0; i < s->message_count; i++) {
			struct proto_message *m = &s->messages[i];
			bool was = m->varies;

			for (unsigned f = 0; f < m->count && !m->varies; f++)
				m->varies = m->fields[f].type == PROTO_MESSAGE &&
					    s->messages[m->fields[f].message].varies;
			more |= m->varies != was;
		}
	}
}

static bool
link_up(struct schema_text *t, const char *const *messages)
{
	struct proto_schema *s = t->s;
	size_t numbers = 0;

	if (s->kind_count == 0)
		return schema_text_bad(t, "there is no kind up to here, where it ends");
	for (size_t i = 0; i < s->message_count; i++)
		s->by_name[i] = &s->messages[i];
	qsort(s->by_name, s->message_count, sizeof(*s->by_name), by_name);
	for (size_t i = 1; i < s->message_count; i++)
		if (strcmp(s->by_name[i - 1]->name, s->by_name[i]->name) == 0)
			return schema_text_bad(schema_text_at(t, s->by_name[i]->name > s->by_name[i - 1]->name
									 ? s->by_name[i]->name
									 : s->by_name[i - 1]->name),
					       "there are two messages %s", s->by_name[i]->name);
	for (size_t i = 0; i < s->field_count; i++) {
		const struct proto_message *m = messages[i] ? message_named(s, messages[i]) : s->messages;

		if (!m)
			return schema_text_bad(schema_text_at(t, messages[i]), "there is no message %s",
					       messages[i]);
		s->fields[i].message = (uint16_t)(m - s->messages);
	}
	for (size_t i = 0; i < s->kind_count; i++) {
		const char *name = (const void *)s->kinds[i].message;

		s->kinds[i].message = message_named(s, name);
		if (!s->kinds[i].message)
			return schema_text_bad(schema_text_at(t, name), "there is no message %s", name);
	}
	for (size_t i = 0; i < s->message_count; i++)
		numbers += s->messages[i].highest + 1u;
	s->numbers = calloc(numbers + 1, 1);
	if (!s->numbers)
		return schema_text_bad(t, "out of memory");
	numbers = 0;
	for (size_t i = 0; i < s->message_count; i++) {
		link_message(&s->messages[i], s->numbers + numbers);
		numbers += s->messages[i].highest + 1u;
	}
	find_varying(s);
	return true;
}

/* ---- parsing ---- */

/* Allocate for as many fields, messages and kinds as there are lines, and as many conditions as "=". */
static bool
make_room(struct proto_schema *s, const char *text, size_t length)
{
	size_t lines = 2, releases = 0;

	for (size_t i = 0; i < length; i++) {
		lines += text[i] == '\n';
		releases += text[i] == '=';
	}
	s->text = malloc(length + 1);
	s->names = calloc(length + 3 * lines + 1 + PROTO_NAME_ROOM, 1);
	s->fields = calloc(lines, sizeof(*s->fields));
	s->messages = calloc(lines, sizeof(*s->messages));
	s->by_name = calloc(lines, sizeof(*s->by_name));
	s->kinds = calloc(lines, sizeof(*s->kinds));
	s->conditions = calloc(releases + 1, sizeof(*s->conditions));
	if (!s->text || !s->names || !s->fields || !s->messages || !s->by_name || !s->kinds || !s->conditions)
		return false;
	memcpy(s->text, text, length);
	s->text[length] = '\0';
	s->releases = "";
	return true;
}

struct proto_schema *
proto_schema_parse(const char *text, size_t length, char *why, size_t why_size)
{
	struct proto_schema *s = calloc(1, sizeof(*s));
	struct schema_text t = {.s = s, .text = text, .why = why, .why_size = why_size};
	const char **messages = NULL;
	bool good = false;

	if (length > PROTO_SCHEMA_MAX)
		schema_text_bad(&t, "a schema has at most %u bytes", PROTO_SCHEMA_MAX);
	else if (!s || !make_room(s, text, length) || !(messages = calloc(length / 2 + 2, sizeof(*messages))))
		schema_text_bad(&t, "out of memory");
	else
		good = schema_text_read(&t, length, messages) && link_up(&t, messages);
	free(messages);
	if (good)
		return s;
	proto_schema_free(s);
	return NULL;
}

void
proto_schema_free(struct proto_schema *s)
{
	if (!s)
		return;
	free(s->text);
	free(s->names);
	free(s->fields);
	free(s->messages);
	free(s->by_name);
	free(s->kinds);
	free(s->numbers);
	free(s->conditions);
	free(s);
}

__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"proto_schema_text:\n"
	".incbin \"tools/schema/kubernetes.schema\"\n"
	".byte 0\n"
	".popsection\n");
/* hidden: as(1) for arm64 gives all labels of a section one place in the GOT */
extern const char proto_schema_text[] __attribute__((visibility("hidden")));

struct proto_schema *
proto_schema_builtin(void)
{
	static struct proto_schema *builtin;
	char why[128];

	/* the .byte 0 ends the text */
	if (!builtin)
		builtin = proto_schema_parse(proto_schema_text, strlen(proto_schema_text), why, sizeof(why));
	return builtin;
}

const char *
proto_schema_releases(const struct proto_schema *s)
{
	return s->releases;
}

/* ---- releases ---- */

bool
proto_schema_fit(struct proto_schema *s, unsigned release)
{
	bool other;

	if (release < s->oldest)
		release = 0;
	other = release != s->release;
	s->release = release;
	for (size_t i = 0; i < s->condition_count; i++)
		s->fields[s->conditions[i].field].flags &= (uint16_t)~s->conditions[i].flags;
	for (size_t i = 0; i < s->condition_count; i++) {
		const struct proto_condition *c = &s->conditions[i];

		if ((release == 0 || release >= c->release) != c->until)
			s->fields[c->field].flags |= c->flags;
	}
	for (size_t i = 0; i < s->message_count; i++)
		find_absent(&s->messages[i]);
	return other;
}

unsigned
proto_schema_release(const struct proto_schema *s)
{
	return s->release;
}

unsigned
proto_schema_newest(const struct proto_schema *s)
{
	const char *last = strrchr(s->releases, ' ');

	return proto_release_of(last ? last + 1 : s->releases, "v0");
}

const char *
proto_schema_span(const struct proto_schema *s, char span[PROTO_SCHEMA_SPAN])
{
	unsigned newest = proto_schema_newest(s);

	if (s->oldest && newest)
		snprintf(span, PROTO_SCHEMA_SPAN, "Kubernetes %u.%u to %u.%u", s->oldest / 1000,
			 s->oldest % 1000, newest / 1000, newest % 1000);
	else
		snprintf(span, PROTO_SCHEMA_SPAN, "%s", s->releases);
	return span;
}

bool
proto_schema_is_sure(const struct proto_schema *s, const struct proto_message *m)
{
	return s->release != 0 || !m->varies;
}

/* ---- look-ups ---- */

static bool
same(const char *text, const char *data, size_t length)
{
	return strlen(text) == length && memcmp(text, data, length) == 0;
}

const struct proto_message *
proto_schema_kind(const struct proto_schema *s, const char *api_version, size_t api_version_length,
		  const char *kind, size_t kind_length)
{
	for (size_t i = 0; i < s->kind_count; i++)
		if (same(s->kinds[i].name, kind, kind_length) &&
		    same(s->kinds[i].api_version, api_version, api_version_length))
			return s->kinds[i].message;
	return NULL;
}

const struct proto_message *
proto_schema_message(const struct proto_schema *s, unsigned index)
{
	return &s->messages[index];
}
