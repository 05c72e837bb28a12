/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON's tokens, strictly (RFC 8259), from bytes that may end anywhere.
 *
 * A scan that meets the end of its bytes says so and remembers how far it came; called again with the same
 * token and more bytes behind it, it goes on there. So a token costs its length once, in however many pieces
 * it comes.
 */
#ifndef WRITER_DECODE_JSON_SCAN_H
#define WRITER_DECODE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * scanned   bytes of the token known to be good (after a failure: where the bad one is)
 * escapes   a string has at least one backslash
 * integer   a number has neither fraction nor exponent
 * why       after a failure, what is wrong
 * A zeroed struct begins a new token.
 */
struct json_scan {
	size_t scanned;
	bool escapes;
	bool integer;
	unsigned char phase;
	const char *why;
};

enum json_scan_result { JSON_SCAN_BAD = -1, JSON_SCAN_MORE = 0, JSON_SCAN_WHOLE = 1 };

/* A string, from after its opening quote. WHOLE: `scanned` bytes of text, then the closing quote. */
enum json_scan_result json_scan_string(struct json_scan *s, const char *text, const char *end);

/*
 * A number, from its first character. WHOLE: `scanned` bytes, known from the character that follows. When the
 * document ends with the number, json_scan_number_ends() tells whether it is whole.
 */
enum json_scan_result json_scan_number(struct json_scan *s, const char *text, const char *end);
bool json_scan_number_ends(const struct json_scan *s);

/*
 * The string that scanned text stands for. `to` has room for `length` bytes and does not overlap with text.
 * A lone surrogate becomes U+FFFD. Returns the bytes written.
 */
size_t json_unescape(char *restrict to, const char *restrict text, size_t length);

#endif
