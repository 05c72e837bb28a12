/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes foreign text (a plugin's stderr, libcurl's messages) fit for a message: one line, no control
 * characters, and nothing that is, or looks like, a secret.
 */
#ifndef WRITER_KUBE_REDACT_H
#define WRITER_KUBE_REDACT_H

#include <stddef.h>

#include "writer/kube/client_config.h"

#define REDACTED "[redacted]"

/*
 * Hide secrets in a text: the values in `known` (values of up to three letters only as whole words); user and
 * password in URLs; the word after "password=", "token:", "Bearer" and the like; PEM blocks; long runs of
 * letters mixed with digits, as in tokens and keys.
 *
 * known    pairs whose values are secrets, or NULL
 * max      longer text is cut at its start, which becomes "..."
 * Returns  an allocated line; NULL: no memory
 */
char *redact_text(const char *text, size_t len, const struct kube_pairs *known, size_t max);

/* Hide user and password in URLs, in place. */
void redact_userinfo(char *text);

#endif
