/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects as YAML.
 *
 * Source: k8s.io/cli-runtime pkg/printers/yaml.go; the order of keys and the lines are those of
 * sigs.k8s.io/yaml
 */
#include <stdlib.h>

#include "tools/informerctl/document.h"
#include "tools/informerctl/emitter.h"
#include "tools/informerctl/scalar.h"

#define NUMBER_MAX 512
/* A longer key, or one of several lines, is written as "? key" and ": value". */
#define KEY_MAX 128

static void
write_value(struct emitter *e, const struct document *document, bool in_mapping);

static bool
is_simple(struct field_text key)
{
	if (key.length > KEY_MAX)
		return false;
	for (size_t i = 0; i < key.length; i += scalar_width(key, i))
		if (scalar_break(key, i))
			return false;
	return true;
}

/* "key:", for a value to follow. */
static void
write_key(struct emitter *e, struct field_text key)
{
	bool simple = is_simple(key);

	emitter_indent(e);
	if (!simple)
		emitter_indicator(e, "?", true, true);
	emitter_string(e, key, simple);
	if (!simple)
		emitter_indent(e);
	emitter_indicator(e, ":", !simple, !simple);
}

static void
write_object(struct emitter *e, const struct document *document)
{
	long indent = e->indent;
	size_t count;
	struct document_member *members = document_members(document, true, &count, e->out);

	if (count == 0)
		emitter_indicator(e, "{}", true, false);
	e->indent = indent < 0 ? 0 : indent + EMITTER_STEP;
	for (size_t i = 0; i < count; i++) {
		write_key(e, members[i].key);
		write_value(e, &(struct document){.object = members[i].value}, true);
	}
	e->indent = indent;
	free(members);
}

/* in_mapping: behind a key, whose level its lines keep. */
static void
write_array(struct emitter *e, struct field array, bool in_mapping)
{
	struct field_iter it;
	long indent = e->indent;

	if (field_count(array) == 0)
		emitter_indicator(e, "[]", true, false);
	if (!in_mapping || e->indention)
		e->indent = indent < 0 ? 0 : indent + EMITTER_STEP;
	field_iterate(array, &it);
	while (field_next(&it)) {
		emitter_indent(e);
		emitter_indicator(e, "-", true, true);
		write_value(e, &(struct document){.object = it.item}, false);
	}
	e->indent = indent;
}

static void
write_value(struct emitter *e, const struct document *document, bool in_mapping)
{
	char number[NUMBER_MAX];

	switch (field_kind(document->object)) {
	case FIELD_OBJECT:
		write_object(e, document);
		break;
	case FIELD_ARRAY:
		write_array(e, document->object, in_mapping);
		break;
	case FIELD_STRING:
		emitter_string(e, field_string(document->object), false);
		break;
	case FIELD_NUMBER:
		emitter_word(e, (struct field_text){number,
						    field_number(document->object, number, sizeof(number))});
		break;
	case FIELD_BOOL:
		emitter_word(e, field_is_true(document->object) ? (struct field_text){"true", 4}
								: (struct field_text){"false", 5});
		break;
	default:
		emitter_word(e, (struct field_text){"null", 4});
		break;
	}
}

void
document_yaml(const struct document *document, struct text *out)
{
	struct emitter e = EMITTER_INIT(out);

	write_value(&e, document, false);
	emitter_indent(&e);
}

void
document_list_yaml(struct document_list *list, struct text *out)
{
	struct emitter e = EMITTER_INIT(out);
	struct document item;
	size_t count = 0;

	e.indent = 0;
	text_adds(out, "apiVersion: v1\nitems:");
	e.column = 6;
	e.whitespace = e.indention = false;
	for (; out->error == 0 && list->next(list, &item); count++) {
		emitter_indent(&e);
		emitter_indicator(&e, "-", true, true);
		write_value(&e, &item, false);
	}
	if (count == 0)
		emitter_indicator(&e, "[]", true, false);
	emitter_indent(&e);
	text_adds(out, "kind: List\nmetadata:\n  resourceVersion: \"\"\n");
}
