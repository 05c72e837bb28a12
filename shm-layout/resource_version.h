/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compare resourceVersions, as Kubernetes allows it since 1.35 (apimachinery,
 * resourceversion.CompareResourceVersion). The writer uses it, and readers that wait for a version.
 *
 * A version can be compared if it consists of digits without a leading zero. "0" cannot: in requests it means
 * "any". Other API servers may send versions of other forms, which cannot be compared.
 */
#ifndef SHM_LAYOUT_RESOURCE_VERSION_H
#define SHM_LAYOUT_RESOURCE_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool
resource_version_is_comparable(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return length > 0 && text[0] != '0';
}

/* True if a < b, of any length. False when a or b cannot be compared. */
static inline bool
resource_version_is_less(const char *a, size_t a_length, const char *b, size_t b_length)
{
	if (!resource_version_is_comparable(a, a_length) || !resource_version_is_comparable(b, b_length))
		return false;
	return a_length != b_length ? a_length < b_length : memcmp(a, b, a_length) < 0;
}

/* The version as a number; 0: it cannot be compared, or exceeds 64 bits. */
static inline uint64_t
resource_version_number(const char *text, size_t length)
{
	uint64_t number = 0;

	if (!resource_version_is_comparable(text, length))
		return 0;
	for (size_t i = 0; i < length; i++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number))
			return 0;
	return number;
}

#endif
