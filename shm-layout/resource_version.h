/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing resource versions, as Kubernetes allows it since 1.35 (apimachinery,
 * resourceversion.CompareResourceVersion), for the writer and for readers that wait for one.
 *
 * One can be compared that is digits without leading zeros; "0" is none: it stands for "any" in requests, and
 * no object has it. Servers that are no kube-apiserver may give others, of which nothing is known.
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

/* a < b, of any length; false when one of them cannot be compared. */
static inline bool
resource_version_is_less(const char *a, size_t a_length, const char *b, size_t b_length)
{
	if (!resource_version_is_comparable(a, a_length) || !resource_version_is_comparable(b, b_length))
		return false;
	return a_length != b_length ? a_length < b_length : memcmp(a, b, a_length) < 0;
}

/* As a number; 0: it cannot be compared, or is none of 64 bits. */
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
