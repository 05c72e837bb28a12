/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts an object's members; see document.h. */
#include "tools/informerctl/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Decode a code point of checked UTF-8; an invalid byte stands for itself. */
static uint32_t
rune(struct field_text text, size_t *at)
{
	const unsigned char *s = (const unsigned char *)text.data;
	unsigned char c = s[(*at)++];
	int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
	uint32_t r = more == 3 ? c & 7u : more == 2 ? c & 15u : more == 1 ? c & 31u : c;

	for (; more > 0 && *at < text.length && (s[*at] & 0xc0) == 0x80; more--)
		r = r << 6 | (s[(*at)++] & 0x3fu);
	return r;
}

static bool
is_digit(struct field_text text, size_t at)
{
	return at < text.length && text.data[at] >= '0' && text.data[at] <= '9';
}

/*
 * An ASCII letter, or beyond ASCII anything outside the blocks of signs and symbols. Validation keeps all
 * keys ASCII except those of ConfigMaps and CRDs.
 */
static bool
is_letter(uint32_t r)
{
	static const uint32_t signs[][2] = {
		{0, '@'},         {'[', '`'},       {'{', 0xa9},      {0xab, 0xb4},     {0xb6, 0xb9},
		{0xbb, 0xbf},     {0xd7, 0xd7},     {0xf7, 0xf7},     {0x2000, 0x2bff}, {0x3000, 0x3004},
		{0xe000, 0xf8ff}, {0xfe00, 0xfe6f}, {0xff00, 0xff20}, {0xfff0, 0xffff}, {0x1f000, 0x1faff}};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (r >= signs[i][0] && r <= signs[i][1])
			return false;
	return true;
}

/* Whether the run of digits before `at` has a digit other than 0. */
static bool
in_number(struct field_text text, size_t at)
{
	while (at-- > 0 && is_digit(text, at))
		if (text.data[at] != '0')
			return true;
	return false;
}

/*
 * yaml.v2's order of keys: letters sort last, numbers by value. Both texts are equal up to `at`.
 *
 * The order has cycles (x01y < x12 < x1y < x01y). Keys of a cycle may differ from kubectl's order.
 */
static int
compare_from(struct field_text a, struct field_text b, size_t at)
{
	size_t i = at, j = at;
	uint32_t x = rune(a, &i), y = rune(b, &j);
	uint64_t m, n;

	if (is_letter(x) && is_letter(y))
		return x < y ? -1 : 1;
	if (is_letter(x) || is_letter(y))
		return is_letter(y) ? -1 : 1;
	i = j = at;
	m = n = (x == '0' || y == '0') && in_number(a, at);
	for (; is_digit(a, i); i++)
		m = m * 10 + (uint64_t)(a.data[i] - '0');
	for (; is_digit(b, j); j++)
		n = n * 10 + (uint64_t)(b.data[j] - '0');
	if (m != n)
		return (int64_t)m < (int64_t)n ? -1 : 1;
	if (i != j)
		return i < j ? -1 : 1;
	return x < y ? -1 : 1;
}

static int
compare_natural(const void *left, const void *right)
{
	const struct document_member *a = left, *b = right;
	size_t at = 0, end = a->key.length < b->key.length ? a->key.length : b->key.length;

	while (at < end && a->key.data[at] == b->key.data[at])
		at++;
	if (at == end)
		return (a->key.length > b->key.length) - (a->key.length < b->key.length);
	/* Go back to the start of the character. */
	while (at > 0 && ((unsigned char)a->key.data[at] & 0xc0) == 0x80)
		at--;
	return compare_from(a->key, b->key, at);
}

struct document_member *
document_members(const struct document *document, bool natural, size_t *ret_count, struct text *out)
{
	size_t size = field_count(document->object) + 2, count = 0;
	struct document_member *members = calloc(size, sizeof(*members));
	struct field_iter it;

	*ret_count = 0;
	if (!members) {
		out->error = -ENOMEM;
		return NULL;
	}
	field_iterate(document->object, &it);
	while (count < size - 2 && field_next(&it))
		members[count++] = (struct document_member){{it.key, it.key_length}, it.item};
	if (document->api_version && !field_is_set(field_get(document->object, "apiVersion")))
		members[count++] = (struct document_member){{"apiVersion", 10},
							    field_of_text(document->api_version)};
	if (document->kind && !field_is_set(field_get(document->object, "kind")))
		members[count++] = (struct document_member){{"kind", 4}, field_of_text(document->kind)};
	qsort(members, count, sizeof(*members), natural ? compare_natural : field_text_compare);
	*ret_count = count;
	return members;
}
