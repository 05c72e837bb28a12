/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled label selectors, as lookups use them.
 */
#ifndef READER_LIB_READ_LABEL_SELECTOR_H
#define READER_LIB_READ_LABEL_SELECTOR_H

#include "reader-lib/informer.h"
#include "shm-layout/value.h"

/* The first requirement that the label index can answer, as "key=value". False: there is none. */
bool selector_equality(const struct informer_label_selector *selector, const char **ret_value,
		       size_t *ret_length);
/* Whether a body matches: 1, 0, or -EBADMSG. */
int selector_match(const struct informer_label_selector *selector, struct value body);

#endif
