/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans JSON tokens, strictly (RFC 8259), in bytes that may end anywhere.
 *
 * A scan that meets the end of its bytes remembers its position. Called again with the same token and more
 * bytes, it goes on there. So a token's cost is its length, in however many pieces it comes.
 */
#ifndef WRITER_DECODE_JSON_SCAN_H
#define WRITER_DECODE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A zeroed struct begins a new token.
 *
 * scanned  bytes of the token that are good (after a failure: position of the bad byte)
 * escapes  a string has a backslash
 * integer  a number has neither fraction nor exponent
 * why      after a failure, the reason
 */
struct json_scan {
	size_t scanned;
	bool escapes;
	bool integer;
	unsigned char phase;
	const char *why;
};

enum json_scan_result { JSON_SCAN_BAD = -1, JSON_SCAN_MORE = 0, JSON_SCAN_WHOLE = 1 };

/* Scan a string, from after its opening quote. WHOLE: `scanned` bytes of text, then the closing quote. */
enum json_scan_result json_scan_string(struct json_scan *s, const char *text, const char *end);

/*
 * Scan a number, from its first character. WHOLE: `scanned` bytes; the character that follows ends it. When
 * the document ends with the number, json_scan_number_ends() tells whether it is complete.
 */
enum json_scan_result json_scan_number(struct json_scan *s, const char *text, const char *end);
bool json_scan_number_ends(const struct json_scan *s);

/*
 * Unescape a scanned string. `to` has room for `length` bytes and does not overlap with text. A lone
 * surrogate becomes U+FFFD. Returns the bytes written.
 */
size_t json_unescape(char *restrict to, const char *restrict text, size_t length);

#endif
