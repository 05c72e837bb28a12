/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of texts; see text_list.h. */
#include "tools/informer-gateway/config/text_list.h"

#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

void
gw_texts_add(struct gw_texts *texts, const char *text)
{
	texts->items = api_realloc(texts->items, (texts->count + 1) * sizeof(*texts->items));
	texts->items[texts->count++] = api_strndup(text, strlen(text));
}

bool
gw_texts_have(const struct gw_texts *texts, const char *text)
{
	for (size_t i = 0; i < texts->count; i++)
		if (strcmp(texts->items[i], text) == 0)
			return true;
	return false;
}

void
gw_texts_done(struct gw_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
	*texts = (struct gw_texts){0};
}
