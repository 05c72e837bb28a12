/* SPDX-License-Identifier: Apache-2.0 */
/* Lines for the log of a handle's owner. */
#include "reader-lib/attach/handle.h"

#include <stdarg.h>
#include <stdio.h>

void
log_say(struct informer *inf, enum informer_log_level level, const char *format, ...)
{
	char line[512];
	va_list args;

	if (!inf->log)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	inf->log(inf->log_context, level, line);
}
