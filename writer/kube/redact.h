/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redact: foreign text (a plugin's stderr, libcurl's words) made fit for a message: one line, no
 * control characters, and nothing in it that is, or looks like, a secret.
 */
#ifndef WRITER_KUBE_REDACT_H
#define WRITER_KUBE_REDACT_H

#include <stddef.h>

#include "writer/kube/client_config.h"

#define REDACTED "[redacted]"

/*
 * Hidden are: what `known` holds (values of three letters or fewer but for whole words); user and password in
 * URLs; the word behind "password=", "token:", "Bearer" and the like; PEM blocks; long runs of letters mixed
 * with digits, as tokens and keys are.
 *
 * known    pairs whose values are secrets, or NULL
 * max      longer text is cut at its start, which is then "..."
 * Returns  an allocated line, NULL without memory
 */
char *redact_text(const char *text, size_t len, const struct kube_pairs *known, size_t max);

/* Hide user and password of URLs, in place. */
void redact_userinfo(char *text);

#endif
