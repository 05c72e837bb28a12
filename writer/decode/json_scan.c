/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans strings and numbers. Most of a document is plain ASCII in strings. It is passed 16 bytes at a time (8
 * without SSE2), up to the next quote, backslash, control character or byte above 7Fh.
 */
#include "writer/decode/json_scan.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "shm-layout/utf8.h"
#include "writer/decode/json_plain.h"

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Length of the escape at p (a backslash); 0: incomplete; -1: wrong, at *ret_bad. */
static int
escape_length(const char *p, size_t left, size_t *ret_bad)
{
	*ret_bad = 1;
	if (left < 2)
		return 0;
	switch (p[1]) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't':
		return 2;
	case 'u':
		for (size_t i = 2; i < 6; i++) {
			*ret_bad = i;
			if (i >= left)
				return 0;
			if (hex_digit(p[i]) < 0)
				return -1;
		}
		return 6;
	default:
		return -1;
	}
}

enum json_scan_result
json_scan_string(struct json_scan *s, const char *text, const char *end)
{
	const char *p = text + s->scanned;
	size_t bad = 0;
	int n;

	for (;;) {
		p = json_plain_end(p, end);
		if (p == end || *p == '"')
			break;
		if (*p == '\\') {
			s->escapes = true;
			n = escape_length(p, (size_t)(end - p), &bad);
			s->why = "this is no escape";
		} else if ((unsigned char)*p < 0x20) {
			n = -1;
			bad = 0;
			s->why = "a control character stands in a string";
		} else {
			n = utf8_length(p, (size_t)(end - p));
			bad = 0;
			s->why = "this is not UTF-8";
		}
		if (n < 0) {
			s->scanned = (size_t)(p - text) + bad;
			return JSON_SCAN_BAD;
		}
		if (n == 0)
			break;
		p += n;
	}
	s->scanned = (size_t)(p - text);
	return p < end && *p == '"' ? JSON_SCAN_WHOLE : JSON_SCAN_MORE;
}

/* ---- numbers ---- */

enum phase {
	NUMBER_START,
	NUMBER_MINUS,
	NUMBER_ZERO,
	NUMBER_DIGITS,
	NUMBER_POINT,
	NUMBER_FRACTION,
	NUMBER_E,
	NUMBER_SIGN,
	NUMBER_EXPONENT
};

static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The phase that c leads to, or -1 when c does not belong to the number. */
static int
number_step(enum phase phase, char c)
{
	switch (phase) {
	case NUMBER_START:
		if (c == '-')
			return NUMBER_MINUS;
		/* fall through */
	case NUMBER_MINUS:
		return c == '0' ? NUMBER_ZERO : is_digit(c) ? NUMBER_DIGITS : -1;
	case NUMBER_DIGITS:
		if (is_digit(c))
			return NUMBER_DIGITS;
		/* fall through */
	case NUMBER_ZERO:
		return c == '.' ? NUMBER_POINT : c == 'e' || c == 'E' ? NUMBER_E : -1;
	case NUMBER_POINT:
		return is_digit(c) ? NUMBER_FRACTION : -1;
	case NUMBER_FRACTION:
		return is_digit(c) ? NUMBER_FRACTION : c == 'e' || c == 'E' ? NUMBER_E : -1;
	case NUMBER_E:
		if (c == '+' || c == '-')
			return NUMBER_SIGN;
		/* fall through */
	case NUMBER_SIGN:
	case NUMBER_EXPONENT:
		return is_digit(c) ? NUMBER_EXPONENT : -1;
	}
	return -1;
}

bool
json_scan_number_ends(const struct json_scan *s)
{
	return s->phase == NUMBER_ZERO || s->phase == NUMBER_DIGITS || s->phase == NUMBER_FRACTION ||
	       s->phase == NUMBER_EXPONENT;
}

enum json_scan_result
json_scan_number(struct json_scan *s, const char *text, const char *end)
{
	const char *p = text + s->scanned;
	int next = 0;

	for (; p < end; p++) {
		next = number_step((enum phase)s->phase, *p);
		if (next < 0)
			break;
		s->phase = (unsigned char)next;
	}
	s->scanned = (size_t)(p - text);
	s->integer = s->phase <= NUMBER_DIGITS;
	if (p == end)
		return JSON_SCAN_MORE;
	/* In "01" and "1x" the number ends here. The parser refuses what follows: it expects a comma. */
	if (json_scan_number_ends(s))
		return JSON_SCAN_WHOLE;
	s->why = "a digit is expected here";
	return JSON_SCAN_BAD;
}

/* ---- escapes ---- */

static size_t
put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

static uint32_t
four_digits(const char *p)
{
	return (uint32_t)hex_digit(p[0]) << 12 | (uint32_t)hex_digit(p[1]) << 8 |
	       (uint32_t)hex_digit(p[2]) << 4 | (uint32_t)hex_digit(p[3]);
}

/* The character of the \u escape at p; *used is 6, or 12 for a pair. */
static uint32_t
unicode_escape(const char *p, const char *end, size_t *used)
{
	uint32_t c = four_digits(p + 2), second;

	*used = 6;
	if (c < 0xd800 || c > 0xdfff)
		return c;
	if (c < 0xdc00 && end - p >= 12 && p[6] == '\\' && p[7] == 'u') {
		second = four_digits(p + 8);
		if (second >= 0xdc00 && second <= 0xdfff) {
			*used = 12;
			return 0x10000 + ((c - 0xd800) << 10 | (second - 0xdc00));
		}
	}
	return 0xfffd;
}

/*
 * Copy up to the next backslash. Writes up to 15 bytes more, but within the text's length: the output is
 * never longer than the input.
 */
static inline const char *
copy_plain(char **out, const char *text, const char *end)
{
	char *to = *out;
#ifdef __SSE2__
	const __m128i backslash = _mm_set1_epi8('\\');

	while (end - text >= 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)text);
		int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(v, backslash));

		_mm_storeu_si128((__m128i *)(void *)to, v);
		if (mask != 0) {
			*out = to + __builtin_ctz((unsigned)mask);
			return text + __builtin_ctz((unsigned)mask);
		}
		text += 16;
		to += 16;
	}
#endif
	while (text < end && *text != '\\')
		*to++ = *text++;
	*out = to;
	return text;
}

size_t
json_unescape(char *restrict to, const char *restrict text, size_t length)
{
	const char *end = text + length;
	char *out = to;

	while ((text = copy_plain(&out, text, end)) < end) {
		size_t used = 2;

		switch (text[1]) {
		case 'b':
			*out++ = '\b';
			break;
		case 'f':
			*out++ = '\f';
			break;
		case 'n':
			*out++ = '\n';
			break;
		case 'r':
			*out++ = '\r';
			break;
		case 't':
			*out++ = '\t';
			break;
		case 'u':
			out += put_utf8(out, unicode_escape(text, end, &used));
			break;
		default:
			*out++ = text[1];
		}
		text += used;
	}
	return (size_t)(out - to);
}
