/* SPDX-License-Identifier: Apache-2.0 */
/* Translates a text of fields into protobuf bytes. */
#include "tests/support/proto_text.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void
put(struct bytes *to, const void *data, size_t length)
{
	if (bytes_append(to, data, length) < 0)
		abort();
}

static void
put_varint(struct bytes *to, uint64_t n)
{
	do {
		uint8_t b = (uint8_t)(n & 0x7f);

		n >>= 7;
		b |= n ? 0x80 : 0;
		put(to, &b, 1);
	} while (n);
}

/* A quoted text. */
static const char *
put_quoted(struct bytes *to, const char *p)
{
	const char *end = strchr(p + 1, '\'');

	if (*p != '\'' || !end)
		abort();
	put(to, p + 1, (size_t)(end - p - 1));
	return end + 1;
}

/* Fields up to a closing brace or the end. */
static const char *
put_fields(struct bytes *to, const char *p)
{
	for (;;) {
		struct bytes content = {0};
		uint64_t number;
		char *end;

		while (*p == ' ')
			p++;
		if (*p == '\0' || *p == '}')
			return p;
		if (strncmp(p, "raw ", 4) == 0)
			p += 4;
		if (*p == '\'') {
			p = put_quoted(to, p);
			continue;
		}
		number = strtoull(p, &end, 10);
		if (*end == '=') {
			put_varint(to, number << 3);
			put_varint(to, (uint64_t)strtoll(end + 1, &end, 10));
			p = end;
			continue;
		}
		if (*end != ':') { /* two digits of hex */
			uint8_t b = (uint8_t)strtoul(p, &end, 16);

			if (end - p != 2)
				abort();
			put(to, &b, 1);
			p = end;
			continue;
		}
		p = end[1] == '{' ? put_fields(&content, end + 2) : put_quoted(&content, end + 1);
		if (end[1] == '{' && *p++ != '}')
			abort();
		put_varint(to, number << 3 | 2);
		put_varint(to, content.length);
		put(to, content.data, content.length);
		bytes_done(&content);
	}
}

void
proto_text(struct bytes *to, const char *text)
{
	to->length = 0;
	if (*put_fields(to, text) != '\0')
		abort();
}
