/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of texts; see text_list.h. */
#include "tools/informer-gateway/config/text_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
gw_texts_add(struct gw_texts *texts, const char *text, size_t length)
{
	char *copy = strndup(text, length), **longer;

	longer = copy ? reallocarray(texts->items, texts->count + 1, sizeof(*longer)) : NULL;
	if (!longer) {
		free(copy);
		return -ENOMEM;
	}
	texts->items = longer;
	texts->items[texts->count++] = copy;
	return 0;
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
