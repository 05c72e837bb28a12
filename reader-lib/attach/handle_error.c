/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a handle says: the last sentence for informer_last_error(), and lines for the caller's log.
 */
#include "reader-lib/attach/handle.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *
errno_text(int error)
{
	switch (error) {
	case EMFILE:
		return "this process has too many open files: raise its limit (ulimit -n, LimitNOFILE=)";
	case ENFILE:
		return "the machine has too many open files: raise fs.file-max";
	case ENOMEM:
		return "out of memory: raise this process's limit of memory, or of address space (ulimit -v)";
	default:
		return strerror(error);
	}
}

int
error_set(struct informer *inf, int code, const char *format, ...)
{
	va_list args;

	pthread_mutex_lock(&inf->error_lock);
	va_start(args, format);
	vsnprintf(inf->error, sizeof(inf->error), format, args);
	va_end(args);
	pthread_mutex_unlock(&inf->error_lock);
	return code;
}

size_t
informer_last_error(struct informer *inf, char *buffer, size_t size)
{
	const char *text = "";
	size_t length;

	if (inf && forked(inf)) {
		text = informer_strerror(INFORMER_E_FORKED);
		inf = NULL;
	}
	if (inf) {
		pthread_mutex_lock(&inf->error_lock);
		text = inf->error;
	}
	length = strlen(text);
	if (size > 0) {
		size_t n = length < size ? length : size - 1;

		memcpy(buffer, text, n);
		buffer[n] = '\0';
	}
	if (inf)
		pthread_mutex_unlock(&inf->error_lock);
	return length;
}

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
