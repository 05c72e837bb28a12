/* SPDX-License-Identifier: Apache-2.0 */
/* Makes random JSON documents. Names come from a small set, so that shapes, values and duplicates repeat. */
#include "tests/support/json_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 12

uint32_t
json_random_below(struct json_random *r, uint32_t n)
{
	r->seed = r->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((r->seed >> 33) % n);
}

static void
put(struct bytes *b, const char *text, size_t length)
{
	if (bytes_append(b, text, length) < 0)
		abort();
}

static void
both(struct json_random *r, const char *text)
{
	put(&r->sent, text, strlen(text));
	put(&r->expected, text, strlen(text));
}

static void
space(struct json_random *r)
{
	while (!r->plain && json_random_below(r, 6) == 0)
		put(&r->sent, &" \t\n\r"[json_random_below(r, 4)], 1);
}

/* One character, in a random spelling, and as the printer writes it. */
static void
character(struct json_random *r, uint32_t c)
{
	char utf8[5] = {0}, text[16];
	size_t n = 0;

	if (c < 0x80) {
		utf8[n++] = (char)c;
	} else if (c < 0x800) {
		utf8[n++] = (char)(0xc0 | c >> 6);
		utf8[n++] = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		utf8[n++] = (char)(0xe0 | c >> 12);
		utf8[n++] = (char)(0x80 | (c >> 6 & 63));
		utf8[n++] = (char)(0x80 | (c & 63));
	} else {
		utf8[n++] = (char)(0xf0 | c >> 18);
		utf8[n++] = (char)(0x80 | (c >> 12 & 63));
		utf8[n++] = (char)(0x80 | (c >> 6 & 63));
		utf8[n++] = (char)(0x80 | (c & 63));
	}
	if (c == '"' || c == '\\') {
		snprintf(text, sizeof(text), "\\%c", (int)c);
		both(r, text);
		return;
	}
	if (c < 0x20) {
		const char *at = memchr("\bb\tt\nn\ff\rr", (int)c, 10);

		if (at)
			snprintf(text, sizeof(text), "\\%c", at[1]);
		else
			snprintf(text, sizeof(text), "\\u%04x", c);
		put(&r->expected, text, strlen(text));
		if (!r->plain && json_random_below(r, 2))
			snprintf(text, sizeof(text), "\\u%04X", c);
		put(&r->sent, text, strlen(text));
		return;
	}
	put(&r->expected, utf8, n);
	if (r->plain || json_random_below(r, 8)) {
		put(&r->sent, utf8, n);
		return;
	}
	if (c == '/')
		snprintf(text, sizeof(text), "\\/");
	else if (c < 0x10000)
		snprintf(text, sizeof(text), "\\u%04x", c);
	else
		snprintf(text, sizeof(text), "\\u%04X\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			 0xdc00 + (c & 0x3ff));
	put(&r->sent, text, strlen(text));
}

static uint32_t
any_character(struct json_random *r)
{
	static const uint32_t edges[] = {0,      0x1f,   0x7f,    0x80,     0x7ff, 0x800, 0xd7ff, 0xe000,
					 0xfffd, 0xffff, 0x10000, 0x10ffff, '"',   '\\',  '/'};
	uint32_t c;

	switch (json_random_below(r, 12)) {
	case 0:
		return edges[json_random_below(r, sizeof(edges) / sizeof(edges[0]))];
	case 1:
		do
			c = json_random_below(r, 0x110000);
		while (c >= 0xd800 && c <= 0xdfff);
		return c;
	default:
		return 0x20 + json_random_below(r, 0x5f);
	}
}

static void
string(struct json_random *r)
{
	static const uint32_t lengths[] = {0, 1, 7, 11, 12, 30, 62, 63, 64, 65, 254, 255, 256, 300};
	uint32_t length = json_random_below(r, 4) ? json_random_below(r, 20)
						  : lengths[json_random_below(r, 14)];

	both(r, "\"");
	if (json_random_below(r, 300) == 0)
		length = 65520 + json_random_below(r, 30);
	if (json_random_below(r, 3) == 0) {
		/* one of a few, so that strings repeat */
		char text[64];

		snprintf(text, sizeof(text), "a string that comes again, number %u", json_random_below(r, 5));
		both(r, text);
	} else if (length > 1000) {
		for (uint32_t i = 0; i < length; i++)
			both(r, "x");
	} else {
		for (uint32_t i = 0; i < length; i++)
			character(r, any_character(r));
	}
	both(r, "\"");
}

static uint64_t
bits(struct json_random *r)
{
	return (uint64_t)json_random_below(r, 1u << 31) << 33 ^
	       (uint64_t)json_random_below(r, 1u << 31) << 11 ^ json_random_below(r, 1u << 11);
}

static void
number(struct json_random *r)
{
	static const char *const edges[] = {
		"0",
		"63",
		"64",
		"-1",
		"127",
		"128",
		"-128",
		"-129",
		"32767",
		"32768",
		"-32768",
		"-32769",
		"8388607",
		"8388608",
		"2147483647",
		"2147483648",
		"-2147483648",
		"-2147483649",
		"9223372036854775807",
		"9223372036854775808",
		"18446744073709551615",
		"18446744073709551616",
		"-9223372036854775808",
		"-9223372036854775809",
		"123456789012345678901234567890",
		"1e400",
		"-1E+999",
		"9007199254740993",
	};
	char text[64], shortest[64];
	uint64_t n = bits(r);
	double d;
	int i;

	switch (json_random_below(r, 4)) {
	case 0:
		both(r, edges[json_random_below(r, sizeof(edges) / sizeof(edges[0]))]);
		return;
	case 1:
		snprintf(text, sizeof(text), "%lld", (long long)((int64_t)n >> json_random_below(r, 64)));
		both(r, text);
		return;
	case 2:
		memcpy(&d, &n, sizeof(d));
		if (d - d != 0)
			d = 0.1;
		break;
	default:
		d = (double)(int64_t)n / (double)(1 + json_random_below(r, 1000000));
	}
	for (i = 15; i <= 17; i++) {
		snprintf(shortest, sizeof(shortest), "%.*g", i, d);
		if (strtod(shortest, NULL) == d)
			break;
	}
	if (!strpbrk(shortest, ".e"))
		strcat(shortest, ".0");
	put(&r->expected, shortest, strlen(shortest));
	snprintf(text, sizeof(text), json_random_below(r, 2) ? "%.17e" : "%.16E", d);
	put(&r->sent, strtod(text, NULL) == d ? text : shortest,
	    strlen(strtod(text, NULL) == d ? text : shortest));
}

static void value(struct json_random *r, unsigned depth);

static void
array(struct json_random *r, unsigned depth)
{
	uint32_t count = json_random_below(r, 6);

	both(r, "[");
	for (uint32_t i = 0; i < count; i++) {
		if (i > 0)
			both(r, ",");
		space(r);
		value(r, depth + 1);
		space(r);
	}
	if (count == 0)
		space(r);
	both(r, "]");
}

/* The fields are made first; of fields with equal names only the last is expected. */
static void
object(struct json_random *r, unsigned depth)
{
	static const char *const names[] = {
		"name",      "metadata", "labels",     "spec", "",
		"status",    "a",        "containers", "kind", "app.kubernetes.io/name",
		"x\\u0000y", "\\\"",     "\xc3\xa9"};
	uint32_t count = json_random_below(r, FIELDS_MAX);
	struct bytes sent = r->sent, expected = r->expected;
	struct bytes fields_sent[FIELDS_MAX], fields[FIELDS_MAX], keys[FIELDS_MAX];
	bool first = true;

	for (uint32_t i = 0; i < count; i++) {
		char name[64];

		if (json_random_below(r, 4))
			snprintf(name, sizeof(name), "%s",
				 names[json_random_below(r, sizeof(names) / sizeof(names[0]))]);
		else
			snprintf(name, sizeof(name), "field-%u", json_random_below(r, 2000));
		r->sent = r->expected = (struct bytes){0};
		both(r, "\"");
		both(r, name);
		both(r, "\"");
		keys[i] = r->expected;
		r->expected = (struct bytes){0};
		space(r);
		both(r, ":");
		space(r);
		value(r, depth + 1);
		space(r);
		fields_sent[i] = r->sent;
		fields[i] = r->expected;
	}
	r->sent = sent;
	r->expected = expected;
	both(r, "{");
	for (uint32_t i = 0; i < count; i++) {
		bool last = true;

		if (i > 0)
			put(&r->sent, ",", 1);
		space(r);
		put(&r->sent, (char *)fields_sent[i].data, fields_sent[i].length);
		for (uint32_t k = i + 1; k < count; k++)
			last = last && (keys[i].length != keys[k].length ||
					memcmp(keys[i].data, keys[k].data, keys[i].length) != 0);
		if (!last) {
			r->duplicates++;
			continue;
		}
		if (!first)
			put(&r->expected, ",", 1);
		first = false;
		put(&r->expected, (char *)keys[i].data, keys[i].length);
		put(&r->expected, (char *)fields[i].data, fields[i].length);
	}
	for (uint32_t i = 0; i < count; i++) {
		bytes_done(&fields_sent[i]);
		bytes_done(&fields[i]);
		bytes_done(&keys[i]);
	}
	both(r, "}");
}

static void
value(struct json_random *r, unsigned depth)
{
	switch (json_random_below(r, depth > 6 ? 5 : 9)) {
	case 0:
		both(r, "null");
		break;
	case 1:
		both(r, "true");
		break;
	case 2:
		both(r, "false");
		break;
	case 3:
		number(r);
		break;
	case 4:
		string(r);
		break;
	case 5:
		array(r, depth);
		break;
	default:
		object(r, depth);
	}
}

void
json_random_document(struct json_random *r)
{
	r->sent.length = 0;
	r->expected.length = 0;
	r->duplicates = 0;
	r->plain = json_random_below(r, 2) == 0;
	space(r);
	value(r, 0);
	space(r);
	put(&r->sent, "", 1);
	r->sent.length--;
	put(&r->expected, "", 1);
	r->expected.length--;
}

void
json_random_done(struct json_random *r)
{
	bytes_done(&r->sent);
	bytes_done(&r->expected);
}
