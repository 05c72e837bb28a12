/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: informer.h's table as functions, and each thread's last message.
 */
#include "reader-lib/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reader-lib/informer.h"

static __thread struct {
	int code;
	char text[512];
} last;

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
#define SYSTEMS(function, code) ((code) < 0 && (code) >= -4095 ? function(-(code)) : NULL)
#else
#define SYSTEMS(function, code) NULL
#endif

struct error {
	int code;
	const char *name, *cause, *remedy;
};

static const struct error *
error_of(int code)
{
#define X(name, number, cause, remedy) {number, "INFORMER_E_" #name, cause, remedy},
	static const struct error errors[] = {{INFORMER_OK, "INFORMER_OK", "success", ""},
					      INFORMER_ERRORS(X)};
#undef X

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].code == code)
			return &errors[i];
	return NULL;
}

const char *
informer_strerror(int code)
{
	const struct error *e = error_of(code);
	const char *text = e ? e->cause : SYSTEMS(strerrordesc_np, code);

	return text ? text : "unknown error";
}

const char *
informer_error_remedy(int code)
{
	const struct error *e = error_of(code);

	return e ? e->remedy : "";
}

const char *
informer_error_name(int code)
{
	const struct error *e = error_of(code);
	const char *text = e ? e->name : SYSTEMS(strerrorname_np, code);

	return text ? text : "UNKNOWN";
}

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
error_set(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last.text, sizeof(last.text), format, args);
	va_end(args);
	last.code = code;
	return code;
}

size_t
informer_error_text(int code, char *buffer, size_t size)
{
	const char *text = code < 0 && last.code == code ? last.text : informer_strerror(code);

	if (buffer && size > 0)
		snprintf(buffer, size, "%s", text);
	return strlen(text);
}
