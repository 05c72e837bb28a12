/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label selectors, as those ask them who search with one.
 */
#ifndef READER_LIB_READ_LABEL_SELECTOR_H
#define READER_LIB_READ_LABEL_SELECTOR_H

#include "reader-lib/informer.h"
#include "shm-layout/value.h"

/* A requirement by which the label index can narrow the search: its "key=value". False: there is none. */
bool selector_equality(const struct informer_label_selector *selector, const char **ret_value,
		       size_t *ret_length);
/* 1, 0, or -EBADMSG. */
int selector_match(const struct informer_label_selector *selector, struct value body);

#endif
