/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects as YAML.
 *
 * libyaml writes them. kubectl's sigs.k8s.io/yaml contains a translation of libyaml's emitter, so
 * indentation, folding and quoting are equal. The style of each scalar is chosen here by kubectl's rules.
 * Three rare kinds of text differ:
 * - kubectl turns U+0085 into a space;
 * - kubectl escapes each character of a text that begins with U+FEFF;
 * - libyaml indents the closing quote of a one-line text that ends with U+2028 or U+2029.
 * Except for the first, both forms are read alike.
 *
 * Source: k8s.io/cli-runtime pkg/printers/yaml.go; sigs.k8s.io/yaml (goyaml.v2) encode.go
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "tools/informerctl/document.h"
#include "tools/informerctl/scalar_resolve.h"

#define NUMBER_MAX 512

struct writer {
	yaml_emitter_t emitter;
	struct text *out;
};

static void write_value(struct writer *w, const struct document *document);

static int
take_bytes(void *data, unsigned char *bytes, size_t size)
{
	struct text *out = data;

	text_add(out, (const char *)bytes, size);
	return out->error == 0;
}

/* Emit an event, which the emitter takes over. made 0: the text is not UTF-8, so there is no event. */
static void
put(struct writer *w, yaml_event_t *event, int made)
{
	if (w->out->error < 0) {
		if (made)
			yaml_event_delete(event);
	} else if (!made) {
		w->out->error = -EILSEQ;
	} else if (!yaml_emitter_emit(&w->emitter, event) && w->out->error == 0) {
		w->out->error = -ENOMEM;
	}
}

static void
write_scalar(struct writer *w, struct field_text text, yaml_scalar_style_t style)
{
	yaml_event_t event;

	put(w, &event,
	    yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text.data, (int)text.length,
					 1, 1, style));
}

/* The emitter changes the style if it cannot hold the text. */
static void
write_string(struct writer *w, struct field_text text)
{
	if (text.length > 0 && memchr(text.data, '\n', text.length))
		write_scalar(w, text, YAML_LITERAL_SCALAR_STYLE);
	else if (scalar_resolves(text))
		write_scalar(w, text, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
	else
		write_scalar(w, text, YAML_PLAIN_SCALAR_STYLE);
}

static void
write_word(struct writer *w, const char *word)
{
	write_scalar(w, (struct field_text){word, strlen(word)}, YAML_PLAIN_SCALAR_STYLE);
}

static void
begin_mapping(struct writer *w)
{
	yaml_event_t event;

	put(w, &event, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
}

static void
end_mapping(struct writer *w)
{
	yaml_event_t event;

	put(w, &event, yaml_mapping_end_event_initialize(&event));
}

static void
begin_sequence(struct writer *w)
{
	yaml_event_t event;

	put(w, &event,
	    yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
}

static void
end_sequence(struct writer *w)
{
	yaml_event_t event;

	put(w, &event, yaml_sequence_end_event_initialize(&event));
}

static void
write_object(struct writer *w, const struct document *document)
{
	size_t count;
	struct document_member *members = document_members(document, true, &count, w->out);

	begin_mapping(w);
	for (size_t i = 0; i < count; i++) {
		write_string(w, members[i].key);
		write_value(w, &(struct document){.object = members[i].value});
	}
	end_mapping(w);
	free(members);
}

static void
write_array(struct writer *w, struct field array)
{
	struct field_iter it;

	begin_sequence(w);
	field_iterate(array, &it);
	while (field_next(&it))
		write_value(w, &(struct document){.object = it.item});
	end_sequence(w);
}

static void
write_value(struct writer *w, const struct document *document)
{
	char number[NUMBER_MAX];

	switch (field_kind(document->object)) {
	case FIELD_OBJECT:
		write_object(w, document);
		break;
	case FIELD_ARRAY:
		write_array(w, document->object);
		break;
	case FIELD_STRING:
		write_string(w, field_string(document->object));
		break;
	case FIELD_NUMBER:
		write_scalar(
			w,
			(struct field_text){number, field_number(document->object, number, sizeof(number))},
			YAML_PLAIN_SCALAR_STYLE);
		break;
	case FIELD_BOOL:
		write_word(w, field_is_true(document->object) ? "true" : "false");
		break;
	default:
		write_word(w, "null");
		break;
	}
}

static void
begin_document(struct writer *w, struct text *out)
{
	yaml_event_t event;

	w->out = out;
	if (!yaml_emitter_initialize(&w->emitter)) {
		out->error = -ENOMEM;
		return;
	}
	yaml_emitter_set_output(&w->emitter, take_bytes, out);
	yaml_emitter_set_unicode(&w->emitter, 1);
	put(w, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
	put(w, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
}

/* End the document only: at the stream's end libyaml writes "..." behind an open-ended text. */
static void
end_document(struct writer *w)
{
	yaml_event_t event;

	put(w, &event, yaml_document_end_event_initialize(&event, 1));
	yaml_emitter_delete(&w->emitter);
}

void
document_yaml(const struct document *document, struct text *out)
{
	struct writer w;

	begin_document(&w, out);
	write_value(&w, document);
	end_document(&w);
}

void
document_list_yaml(struct document_list *list, struct text *out)
{
	struct document item;
	struct writer w;

	begin_document(&w, out);
	begin_mapping(&w);
	write_word(&w, "apiVersion");
	write_word(&w, "v1");
	write_word(&w, "items");
	begin_sequence(&w);
	while (out->error == 0 && list->next(list, &item))
		write_value(&w, &item);
	end_sequence(&w);
	write_word(&w, "kind");
	write_word(&w, "List");
	write_word(&w, "metadata");
	begin_mapping(&w);
	write_word(&w, "resourceVersion");
	write_string(&w, (struct field_text){"", 0});
	end_mapping(&w);
	end_mapping(&w);
	end_document(&w);
}
