/* SPDX-License-Identifier: Apache-2.0 */
/* Writing YAML; see emitter.h. */
#include "tools/informerctl/emitter.h"

#include <stdio.h>
#include <string.h>

#include "tools/informerctl/scalar.h"

#define WIDTH 80

static void
put(struct emitter *e, char c)
{
	text_addc(e->out, c);
	e->column++;
}

static void
put_break(struct emitter *e)
{
	text_addc(e->out, '\n');
	e->column = 0;
}

/* One character of the text; *at moves behind it. */
static void
put_character(struct emitter *e, struct field_text text, size_t *at)
{
	size_t width = scalar_width(text, *at);

	text_add(e->out, text.data + *at, width);
	e->column++;
	*at += width;
}

/* A line break of the text, as it is. */
static void
put_text_break(struct emitter *e, struct field_text text, size_t *at)
{
	if (text.data[*at] == '\n') {
		put_break(e);
		(*at)++;
	} else {
		put_character(e, text, at);
		e->column = 0;
	}
}

void
emitter_indent(struct emitter *e)
{
	long indent = e->indent < 0 ? 0 : e->indent;

	if (!e->indention || e->column > indent || (e->column == indent && !e->whitespace))
		put_break(e);
	while (e->column < indent)
		put(e, ' ');
	e->whitespace = true;
	e->indention = true;
}

void
emitter_indicator(struct emitter *e, const char *indicator, bool need_whitespace, bool keeps_indention)
{
	if (need_whitespace && !e->whitespace)
		put(e, ' ');
	for (; *indicator; indicator++)
		put(e, *indicator);
	e->whitespace = false;
	e->indention = e->indention && keeps_indention;
}

void
emitter_word(struct emitter *e, struct field_text word)
{
	if (!e->whitespace)
		put(e, ' ');
	text_add(e->out, word.data, word.length);
	e->column += (long)word.length;
	e->whitespace = e->indention = false;
}

static void
write_plain(struct emitter *e, struct field_text text, bool fold)
{
	bool spaces = false;

	if (!e->whitespace)
		put(e, ' ');
	for (size_t i = 0; i < text.length;) {
		bool space = scalar_space(text, i);

		if (space && fold && !spaces && e->column > WIDTH && !scalar_space(text, i + 1)) {
			emitter_indent(e);
			i++;
		} else {
			put_character(e, text, &i);
			e->indention = e->indention && space;
		}
		spaces = space;
	}
	e->whitespace = e->indention = false;
}

static void
write_single(struct emitter *e, struct field_text text, bool fold)
{
	bool spaces = false, breaks = false;

	emitter_indicator(e, "'", true, false);
	for (size_t i = 0; i < text.length;) {
		if (scalar_space(text, i)) {
			if (fold && !spaces && e->column > WIDTH && i > 0 && i < text.length - 1 &&
			    !scalar_space(text, i + 1)) {
				emitter_indent(e);
				i++;
			} else {
				put_character(e, text, &i);
			}
			spaces = true;
		} else if (scalar_break(text, i)) {
			put_text_break(e, text, &i);
			e->indention = breaks = true;
		} else {
			if (breaks)
				emitter_indent(e);
			if (text.data[i] == '\'')
				put(e, '\'');
			put_character(e, text, &i);
			e->indention = spaces = breaks = false;
		}
	}
	emitter_indicator(e, "'", false, false);
	e->whitespace = e->indention = false;
}

static void
put_escaped(struct emitter *e, uint32_t c)
{
	static const struct {
		uint32_t c;
		char letter;
	} letters[] = {{0, '0'},     {7, 'a'},    {8, 'b'},    {9, 't'},      {10, 'n'},
		       {11, 'v'},    {12, 'f'},   {13, 'r'},   {0x1b, 'e'},   {'"', '"'},
		       {'\\', '\\'}, {0x85, 'N'}, {0xa0, '_'}, {0x2028, 'L'}, {0x2029, 'P'}};
	char escaped[16];

	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++) {
		if (letters[i].c != c)
			continue;
		put(e, '\\');
		put(e, letters[i].letter);
		return;
	}
	snprintf(escaped, sizeof(escaped), c <= 0xff ? "\\x%02X" : c <= 0xffff ? "\\u%04X" : "\\U%08X", c);
	for (const char *at = escaped; *at; at++)
		put(e, *at);
}

static void
write_double(struct emitter *e, struct field_text text, bool fold)
{
	bool spaces = false;

	emitter_indicator(e, "\"", true, false);
	for (size_t i = 0; i < text.length;) {
		bool space = scalar_space(text, i);

		if (!scalar_printable(text, i) || scalar_break(text, i) || text.data[i] == '"' ||
		    text.data[i] == '\\') {
			put_escaped(e, scalar_character(text, i));
			i += scalar_width(text, i);
		} else if (space && fold && !spaces && e->column > WIDTH && i > 0 && i < text.length - 1) {
			emitter_indent(e);
			if (scalar_space(text, i + 1))
				put(e, '\\');
			i++;
		} else {
			put_character(e, text, &i);
		}
		spaces = space;
	}
	emitter_indicator(e, "\"", false, false);
	e->whitespace = e->indention = false;
}

/*
 * Behind '|': "2" when the first line's own spaces would be taken for indentation, and what becomes of line
 * feeds at the end.
 */
static void
write_hints(struct emitter *e, struct field_text text)
{
	size_t last = text.length - 1;

	if (scalar_space(text, 0) || scalar_break(text, 0))
		put(e, '0' + EMITTER_STEP);
	while (last > 0 && ((unsigned char)text.data[last] & 0xc0) == 0x80)
		last--;
	if (!scalar_break(text, last)) {
		put(e, '-');
		return;
	}
	if (last == 0) {
		put(e, '+');
		return;
	}
	for (last--; last > 0 && ((unsigned char)text.data[last] & 0xc0) == 0x80;)
		last--;
	if (scalar_break(text, last))
		put(e, '+');
}

static void
write_literal(struct emitter *e, struct field_text text)
{
	bool breaks = true;

	emitter_indicator(e, "|", true, false);
	write_hints(e, text);
	put_break(e);
	e->indention = e->whitespace = true;
	for (size_t i = 0; i < text.length;) {
		if (scalar_break(text, i)) {
			put_text_break(e, text, &i);
			e->indention = breaks = true;
		} else {
			if (breaks)
				emitter_indent(e);
			put_character(e, text, &i);
			e->indention = breaks = false;
		}
	}
}

void
emitter_string(struct emitter *e, struct field_text text, bool key)
{
	long indent = e->indent;

	e->indent = indent < 0 ? EMITTER_STEP : indent + EMITTER_STEP;
	switch (scalar_style(text, key)) {
	case SCALAR_PLAIN:
		write_plain(e, text, !key);
		break;
	case SCALAR_SINGLE:
		write_single(e, text, !key);
		break;
	case SCALAR_DOUBLE:
		write_double(e, text, !key);
		break;
	case SCALAR_LITERAL:
		write_literal(e, text);
		break;
	}
	e->indent = indent;
}
