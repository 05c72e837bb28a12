/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as JSON text, and numbers between their forms. What is printed reads back as the same value.
 * Integers are exact. A double gets the fewest of 15 to 17 digits that bring it back, and ".0" if it would
 * look like an integer. Other numbers are printed as their own text.
 *
 * The library may run under any LC_NUMERIC, so printf's decimal point is replaced.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/value.h"

struct printer {
	int (*emit)(const char *data, size_t length, void *context);
	void *context;
	size_t used;
	uint32_t items;
	char buffer[4096];
};

static int
flush(struct printer *p)
{
	int r = p->used ? p->emit(p->buffer, p->used, p->context) : 0;

	p->used = 0;
	return r;
}

/* Append what may not fit into the rest of the buffer. */
static int
put_over(struct printer *p, const char *data, size_t length)
{
	int r = 0;

	while (r == 0 && length > 0) {
		size_t n = sizeof(p->buffer) - p->used;

		n = n < length ? n : length;
		memcpy(p->buffer + p->used, data, n);
		p->used += n;
		data += n;
		length -= n;
		if (p->used == sizeof(p->buffer))
			r = flush(p);
	}
	return r;
}

static inline int
put(struct printer *p, const char *data, size_t length)
{
	if (length >= sizeof(p->buffer) - p->used)
		return put_over(p, data, length);
	memcpy(p->buffer + p->used, data, length);
	p->used += length;
	return 0;
}

static inline int
put_byte(struct printer *p, char c)
{
	p->buffer[p->used++] = c;
	return p->used == sizeof(p->buffer) ? flush(p) : 0;
}

static inline bool
is_plain(unsigned char c)
{
	return c >= 0x20 && c != '"' && c != '\\';
}

/* Not 0: one of the eight bytes needs an escape. */
static inline uint64_t
not_plain(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t quote = word ^ ones * '"', backslash = word ^ ones * '\\';

	return (((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) |
		((backslash - ones) & ~backslash)) &
	       ones * 0x80;
}

/* Copy, and return whether every byte is plain. Most texts are, and this is most of the cost of printing. */
static inline bool
copy_plain(char *to, const char *from, size_t length)
{
	uint64_t word, found = 0;
	bool plain = true;

	if (length < sizeof(word)) {
		for (size_t i = 0; i < length; i++) {
			to[i] = from[i];
			plain &= is_plain((unsigned char)from[i]);
		}
		return plain;
	}
	for (size_t at = 0; at + sizeof(word) <= length; at += sizeof(word)) {
		memcpy(&word, from + at, sizeof(word));
		memcpy(to + at, &word, sizeof(word));
		found |= not_plain(word);
	}
	memcpy(&word, from + length - sizeof(word), sizeof(word));
	memcpy(to + length - sizeof(word), &word, sizeof(word));
	return (found | not_plain(word)) == 0;
}

static int
put_escaped(struct printer *p, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	static const char short_form[32] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
	char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

	if (c < 0x20 && !short_form[c])
		return put(p, escape, 6);
	escape[1] = c >= 0x20 ? (char)c : short_form[c];
	return put(p, escape, 2);
}

static size_t
plain_run(const char *data, size_t length)
{
	size_t at = 0;
	uint64_t word;

	for (; at + sizeof(word) <= length; at += sizeof(word)) {
		memcpy(&word, data + at, sizeof(word));
		if (not_plain(word))
			break;
	}
	while (at < length && is_plain((unsigned char)data[at]))
		at++;
	return at;
}

/* A string that needs escapes, or more room than there is. */
static int
put_any_string(struct printer *p, const char *data, size_t length)
{
	int r = put_byte(p, '"');

	while (r == 0) {
		size_t plain = plain_run(data, length);

		r = put(p, data, plain);
		if (plain == length)
			break;
		if (r == 0)
			r = put_escaped(p, (unsigned char)data[plain]);
		data += plain + 1;
		length -= plain + 1;
	}
	return r ? r : put_byte(p, '"');
}

static inline int
put_string(struct printer *p, const char *data, size_t length)
{
	char *to = p->buffer + p->used;

	if (length + 2 >= sizeof(p->buffer) - p->used || !copy_plain(to + 1, data, length))
		return put_any_string(p, data, length);
	to[0] = to[length + 1] = '"';
	p->used += length + 2;
	return 0;
}

static int
put_uint(struct printer *p, uint64_t n, bool negative)
{
	char text[21];
	size_t at = sizeof(text);

	do {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	if (negative)
		text[--at] = '-';
	return put(p, text + at, sizeof(text) - at);
}

static int
put_double(struct printer *p, double n)
{
	char text[64], out[64];
	size_t used = 0;
	bool looks_integer = true;
	int digits;

	if (n != n || n - n != 0) /* JSON has no NaN and no infinities; the decoder makes none */
		return -EBADMSG;
	for (digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, n);
		if (strtod(text, NULL) == n)
			break;
	}
	for (const char *c = text; *c; c++) {
		if ((*c >= '0' && *c <= '9') || *c == '-' || *c == '+') {
			out[used++] = *c;
		} else if (*c == 'e') {
			out[used++] = 'e';
			looks_integer = false;
		} else if (used == 0 || out[used - 1] != '.') {
			out[used++] = '.';
			looks_integer = false;
		}
	}
	if (looks_integer) {
		out[used++] = '.';
		out[used++] = '0';
	}
	return put(p, out, used);
}

static int
put_number_text(struct printer *p, struct value v)
{
	const char *text;
	size_t length;

	if (!value_string(v, &text, &length) || length == 0)
		return -EBADMSG;
	for (size_t i = 0; i < length; i++)
		if (!((text[i] >= '0' && text[i] <= '9') || text[i] == '-' || text[i] == '+' ||
		      text[i] == '.' || text[i] == 'e' || text[i] == 'E'))
			return -EBADMSG;
	return put(p, text, length);
}

static int put_value(struct printer *p, const struct value *v, unsigned depth);

static int
put_container(struct printer *p, const struct value *v, bool object, unsigned depth)
{
	struct value_iter it;
	char separator = object ? '{' : '[';
	int r = 0;

	if (depth >= VALUE_DEPTH_MAX)
		return -EBADMSG;
	if (object && LOAD_ONCE(v->at) == TAG_EMPTY_OBJECT) /* half of all values in managedFields */
		return put(p, "{}", 2);
	it = value_iterate(*v);
	while (r == 0 && value_next(&it)) {
		r = put_byte(p, separator);
		separator = ',';
		if (object && r == 0)
			r = put_string(p, it.key, it.key_length);
		if (object && r == 0)
			r = put_byte(p, ':');
		if (r == 0)
			r = put_value(p, &it.item, depth + 1);
	}
	if (r == 0 && it.damaged)
		r = -EBADMSG;
	if (r == 0 && separator != ',')
		r = put_byte(p, separator);
	return r ? r : put_byte(p, object ? '}' : ']');
}

static int
put_value(struct printer *p, const struct value *v, unsigned depth)
{
	enum value_kind kind;
	const char *data;
	size_t length;
	int64_t n;
	uint64_t u;
	double f;
	bool b;

	if (++p->items > VALUE_ITEMS_MAX)
		return -EBADMSG;
	if (value_text(v, &data, &length)) /* most are texts */
		return put_string(p, data, length);
	kind = value_kind(*v);
	switch (kind) {
	case VALUE_NULL:
		return put(p, "null", 4);
	case VALUE_BOOL:
		if (!value_bool(*v, &b))
			return -EBADMSG;
		return b ? put(p, "true", 4) : put(p, "false", 5);
	case VALUE_INT:
		if (!value_int(*v, &n))
			return -EBADMSG;
		return put_uint(p, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, n < 0);
	case VALUE_UINT:
		return value_uint(*v, &u) ? put_uint(p, u, false) : -EBADMSG;
	case VALUE_DOUBLE:
		return value_double(*v, &f) ? put_double(p, f) : -EBADMSG;
	case VALUE_NUMBER:
		return put_number_text(p, *v);
	case VALUE_ARRAY:
	case VALUE_OBJECT:
		return put_container(p, v, kind == VALUE_OBJECT, depth);
	case VALUE_STRING:
	case VALUE_NONE:
		break;
	}
	return -EBADMSG;
}

int
value_to_json(struct value v, int (*emit)(const char *data, size_t length, void *context), void *context)
{
	struct printer p;
	int r;

	p.emit = emit;
	p.context = context;
	p.used = 0;
	p.items = 0;
	r = put_value(&p, &v, 0);
	return r ? r : flush(&p);
}

bool
value_double(struct value v, double *ret)
{
	locale_t c_locale;
	char text[1100];
	const char *data;
	size_t length;
	int64_t n;
	uint64_t u;

	switch (value_kind(v)) {
	case VALUE_INT:
		if (!value_int(v, &n))
			return false;
		*ret = (double)n;
		return true;
	case VALUE_UINT:
		if (!value_uint(v, &u))
			return false;
		*ret = (double)u;
		return true;
	case VALUE_DOUBLE:
		return value_word(v, TAG_DOUBLE, ret);
	case VALUE_NUMBER:
		/*
		 * An integer beyond 64 bits, or a number beyond what a double holds. Digits after the first
		 * 1,000 change only the magnitude, and so long a number is infinite.
		 */
		if (!value_string(v, &data, &length))
			return false;
		if (length >= sizeof(text)) {
			*ret = data[0] == '-' ? -__builtin_inf() : __builtin_inf();
			return true;
		}
		memcpy(text, data, length);
		text[length] = '\0';
		/* libc returns a constant: nothing is allocated */
		c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
		if (!c_locale)
			return false;
		*ret = strtod_l(text, NULL, c_locale);
		freelocale(c_locale);
		return true;
	default:
		return false;
	}
}
