/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing releases; see proto_release.h. */
#include "tools/schema/proto_release.h"

#include <stdlib.h>
#include <string.h>

unsigned
proto_release(const char *major, const char *minor)
{
	unsigned long parts[2] = {0};
	const char *texts[] = {major, minor};

	for (size_t i = 0; i < 2; i++) {
		if (*texts[i] < '0' || *texts[i] > '9')
			return 0;
		parts[i] = strtoul(texts[i], NULL, 10);
		if (parts[i] > 999)
			return 0;
	}
	return (unsigned)(parts[0] * 1000 + parts[1]);
}

unsigned
proto_release_of(const char *text, const char *major)
{
	const char *dot = strchr(text, '.');

	return dot && strlen(major) == (size_t)(dot - text) && memcmp(text, major, strlen(major)) == 0
		       ? proto_release("1", dot + 1)
		       : 0;
}
