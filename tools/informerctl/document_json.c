/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects as JSON: indented by four spaces, with sorted keys, and Go's escapes (also for <, > and &).
 *
 * Source: k8s.io/cli-runtime pkg/printers/json.go
 */
#include <stdlib.h>
#include <string.h>

#include "tools/informerctl/document.h"

#define INDENT 4
#define NUMBER_MAX 512

static void
write_character(unsigned char c, struct text *out)
{
	static const char letters[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
				       ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};

	if (c < sizeof(letters) && letters[c])
		text_addf(out, "\\%c", letters[c]);
	else
		text_addf(out, "\\u%04x", c);
}

static void
write_string(struct field_text string, struct text *out)
{
	size_t start = 0;

	text_addc(out, '"');
	for (size_t i = 0; i < string.length; i++) {
		unsigned char c = (unsigned char)string.data[i];
		size_t left = string.length - i;

		if (c == 0xe2 && left >= 3 &&
		    (memcmp(string.data + i, "\xe2\x80\xa8", 3) == 0 ||
		     memcmp(string.data + i, "\xe2\x80\xa9", 3) == 0)) {
			text_add(out, string.data + start, i - start);
			text_adds(out, string.data[i + 2] == '\xa8' ? "\\u2028" : "\\u2029");
			i += 2;
		} else if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&') {
			text_add(out, string.data + start, i - start);
			write_character(c, out);
		} else {
			continue;
		}
		start = i + 1;
	}
	text_add(out, string.data + start, string.length - start);
	text_addc(out, '"');
}

static void
new_line(size_t depth, struct text *out)
{
	text_addc(out, '\n');
	text_pad(out, ' ', depth * INDENT);
}

static void
write_value(const struct document *document, size_t depth, struct text *out);

static void
write_object(const struct document *document, size_t depth, struct text *out)
{
	size_t count;
	struct document_member *members = document_members(document, false, &count, out);

	text_addc(out, '{');
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			text_addc(out, ',');
		new_line(depth + 1, out);
		write_string(members[i].key, out);
		text_adds(out, ": ");
		write_value(&(struct document){.object = members[i].value}, depth + 1, out);
	}
	if (count > 0)
		new_line(depth, out);
	text_addc(out, '}');
	free(members);
}

static void
write_array(struct field array, size_t depth, struct text *out)
{
	struct field_iter it;
	size_t i = 0;

	text_addc(out, '[');
	field_iterate(array, &it);
	while (field_next(&it)) {
		if (i++ > 0)
			text_addc(out, ',');
		new_line(depth + 1, out);
		write_value(&(struct document){.object = it.item}, depth + 1, out);
	}
	if (i > 0)
		new_line(depth, out);
	text_addc(out, ']');
}

static void
write_value(const struct document *document, size_t depth, struct text *out)
{
	char number[NUMBER_MAX];

	switch (field_kind(document->object)) {
	case FIELD_OBJECT:
		write_object(document, depth, out);
		break;
	case FIELD_ARRAY:
		write_array(document->object, depth, out);
		break;
	case FIELD_STRING:
		write_string(field_string(document->object), out);
		break;
	case FIELD_NUMBER:
		text_add(out, number, field_number(document->object, number, sizeof(number)));
		break;
	case FIELD_BOOL:
		text_adds(out, field_is_true(document->object) ? "true" : "false");
		break;
	default:
		text_adds(out, "null");
		break;
	}
}

void
document_json(const struct document *document, struct text *out)
{
	write_value(document, 0, out);
	text_addc(out, '\n');
}

void
document_list_json(struct document_list *list, struct text *out)
{
	struct document item;
	size_t count = 0;

	text_adds(out, "{\n    \"apiVersion\": \"v1\",\n    \"items\": [");
	for (; out->error == 0 && list->next(list, &item); count++) {
		if (count > 0)
			text_addc(out, ',');
		new_line(2, out);
		write_value(&item, 2, out);
	}
	if (count > 0)
		new_line(1, out);
	text_adds(out, "],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": "
		       "\"\"\n    }\n}\n");
}
