/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: the table of informer.h as functions, and the last sentence of each handle.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reader-lib/base/internal.h"

const char *
informer_strerror(int code)
{
	switch (code) {
	case INFORMER_OK:
		return "success";
#define X(name, number, cause, remedy)                                                                       \
	case number:                                                                                         \
		return cause;
		INFORMER_ERRORS(X)
#undef X
	default:
		break;
	}
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
	if (code < 0 && code >= -4095 && strerrordesc_np(-code))
		return strerrordesc_np(-code);
#endif
	return "unknown error";
}

const char *
informer_error_remedy(int code)
{
	switch (code) {
#define X(name, number, cause, remedy)                                                                       \
	case number:                                                                                         \
		return remedy;
		INFORMER_ERRORS(X)
#undef X
	default:
		return "";
	}
}

const char *
informer_error_name(int code)
{
	switch (code) {
	case INFORMER_OK:
		return "INFORMER_OK";
#define X(name, number, cause, remedy)                                                                       \
	case number:                                                                                         \
		return "INFORMER_E_" #name;
		INFORMER_ERRORS(X)
#undef X
	default:
		break;
	}
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
	if (code < 0 && code >= -4095 && strerrorname_np(-code))
		return strerrorname_np(-code);
#endif
	return "UNKNOWN";
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
