/* SPDX-License-Identifier: Apache-2.0 */
/* Prints messages; see say.h. */
#include "tools/informer-run/say.h"

#include <stdarg.h>
#include <stdio.h>

int
say(const char *name, const char *format, ...)
{
	char line[1024];
	va_list args;

	/* one write per line: handlers write to the same stderr */
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "informer-run: %s%s%s\n", name ? name : "", name ? ": " : "", line);
	return EXIT_USAGE;
}
