/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of texts, each owned. Zeroed is empty.
 */
#ifndef TOOLS_INFORMER_GATEWAY_CONFIG_TEXT_LIST_H
#define TOOLS_INFORMER_GATEWAY_CONFIG_TEXT_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct gw_texts {
	char **items;
	size_t count;
};

/* Append a copy. */
void gw_texts_add(struct gw_texts *texts, const char *text);
bool gw_texts_have(const struct gw_texts *texts, const char *text);
/* Free them all; the list is empty then. */
void gw_texts_done(struct gw_texts *texts);

#endif
