/* SPDX-License-Identifier: Apache-2.0 */
/* Which styles a YAML scalar can have; see scalar.h. */
#include "tools/informerctl/scalar.h"

#include <string.h>

size_t
scalar_width(struct field_text text, size_t at)
{
	unsigned char c = (unsigned char)text.data[at];
	size_t width = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

	return width > text.length - at ? 1 : width;
}

uint32_t
scalar_character(struct field_text text, size_t at)
{
	size_t width = scalar_width(text, at);
	unsigned char c = (unsigned char)text.data[at];
	uint32_t value = width == 4 ? c & 7u : width == 3 ? c & 15u : width == 2 ? c & 31u : c;

	for (size_t i = 1; i < width; i++)
		value = value << 6 | ((unsigned char)text.data[at + i] & 0x3fu);
	return value;
}

/* Beyond the basic plane nothing counts as printable: it is escaped, as there. */
bool
scalar_printable(struct field_text text, size_t at)
{
	uint32_t c = scalar_character(text, at);

	return c == '\n' || (c >= 0x20 && c <= 0x7e) || (c >= 0xa0 && c <= 0xd7ff) ||
	       (c >= 0xe000 && c <= 0xfffd && c != 0xfeff);
}

bool
scalar_break(struct field_text text, size_t at)
{
	uint32_t c = scalar_character(text, at);

	return c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool
scalar_space(struct field_text text, size_t at)
{
	return at < text.length && text.data[at] == ' ';
}

/* Space or tab, or the end. */
static bool
blank(struct field_text text, size_t at)
{
	return at >= text.length || text.data[at] == ' ' || text.data[at] == '\t';
}

/* What stands in a text, as far as styles depend on it. */
struct analysis {
	bool indicators; /* a character that means something in plain text */
	bool breaks;
	bool special;
	bool edge_blank; /* begins or ends with a space or a break */
	bool trailing_space;
	bool break_space;
	bool space_break;
};

/* Whether the character at `at` is one that YAML takes for itself, there. */
static bool
is_indicator(struct field_text text, size_t at)
{
	char c = text.data[at];
	bool before_blank = blank(text, at + scalar_width(text, at));

	if (at == 0)
		return strchr("#,[]{}&*!|>'\"%@`", c) != NULL || (strchr("?:-", c) != NULL && before_blank);
	if (c == ':')
		return before_blank;
	return c == '#' && (blank(text, at - 1) || text.data[at - 1] == '\n' || text.data[at - 1] == '\r');
}

static void
analyze(struct field_text text, struct analysis *ret)
{
	bool previous_space = false, previous_break = false;

	memset(ret, 0, sizeof(*ret));
	if (text.length >= 3 && (memcmp(text.data, "---", 3) == 0 || memcmp(text.data, "...", 3) == 0))
		ret->indicators = true;
	for (size_t i = 0, width; i < text.length; i += width) {
		bool space = scalar_space(text, i), line_break = scalar_break(text, i);

		width = scalar_width(text, i);
		ret->indicators |= text.data[i] != '\0' && is_indicator(text, i);
		ret->special |= !scalar_printable(text, i);
		ret->breaks |= line_break;
		ret->edge_blank |= (space || line_break) && (i == 0 || i + width == text.length);
		ret->trailing_space |= space && i + width == text.length;
		ret->break_space |= space && previous_break;
		ret->space_break |= line_break && previous_space;
		previous_space = space;
		previous_break = line_break;
	}
}

enum scalar_style
scalar_style(struct field_text text, bool key)
{
	struct analysis a;
	bool single, block;

	analyze(text, &a);
	single = !a.break_space && !a.space_break && !a.special;
	block = text.length > 0 && !a.trailing_space && !a.space_break && !a.special && !key;
	if (key && a.breaks)
		return SCALAR_DOUBLE;
	if (text.length > 0 && memchr(text.data, '\n', text.length))
		return block ? SCALAR_LITERAL : SCALAR_DOUBLE;
	if (scalar_resolves(text))
		return SCALAR_DOUBLE;
	if (!a.indicators && !a.breaks && !a.special && !a.edge_blank)
		return SCALAR_PLAIN;
	return single ? SCALAR_SINGLE : SCALAR_DOUBLE;
}
