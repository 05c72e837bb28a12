/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: the table of informer.h as functions.
 */
#include <string.h>

#include "reader-lib/informer.h"

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
