/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field selectors: the API server's syntax, on any path.
 *
 *	selector     requirement { "," requirement }
 *	requirement  path ("=" | "==" | "!=") value
 *
 *	spec.nodeName=n1,status.phase!=Running
 *	metadata.labels["a=b"]==c\,d
 *	spec.containers[*].image=nginx
 *
 * path is as in shm-layout/path.h. In value, ',' '=' and '\' are written with a backslash before them; a
 * backslash before any other character is an error. Empty requirements are skipped. An empty selector matches
 * everything (apimachinery, fields.ParseSelector).
 *
 * A field that is absent or null counts as "". Numbers and booleans compare by their JSON text. An array or
 * object equals nothing. With [*] in the path, = matches if any hit is equal, and != if none is.
 */
#ifndef READER_LIB_READ_FIELD_SELECTOR_H
#define READER_LIB_READ_FIELD_SELECTOR_H

#include "reader-lib/informer.h"
#include "shm-layout/value.h"

#define FIELD_SELECTOR_MAX 64u		/* requirements */

/* Whether a body matches: 1, 0, or -EBADMSG. The caller checks the body's snapshot. */
int field_selector_match(const struct informer_field_selector *selector, struct value body);

#endif
