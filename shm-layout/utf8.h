/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as RFC 3629 has it: nothing longer than it must be, no surrogates, nothing above U+10FFFF. */
#ifndef SHM_LAYOUT_UTF8_H
#define SHM_LAYOUT_UTF8_H

#include <stddef.h>

/*
 * Length of the sequence at text: 1 to 4. 0: so far right, but it goes on behind the `left` bytes that are
 * there; -1: invalid. left > 0
 */
static inline int
utf8_length(const char *text, size_t left)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	int n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return -1;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	for (int i = 1; i < n; i++) {
		if ((size_t)i == left)
			return 0;
		if (s[i] < low || s[i] > high)
			return -1;
		low = 0x80;
		high = 0xbf;
	}
	return n;
}

#endif
