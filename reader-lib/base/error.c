/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: the table of informer.h as functions.
 */
#include <string.h>

#include "reader-lib/informer.h"

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
