/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a query's selectors for what an index could answer.
 */
#include "tools/informer-gateway/views/hint.h"

#include <stdlib.h>
#include <string.h>

#include "tools/serving/requirement.h"

static char *
copy(const char *text)
{
	return text ? api_strndup(text, strlen(text)) : NULL;
}

static void
take(char **to, const char *value)
{
	free(*to);
	*to = copy(value);
}

static void
read_fields(struct gw_hint *hint, const struct api_selector *fields)
{
	for (size_t i = 0; fields && i < fields->count; i++) {
		const struct api_requirement *item = &fields->items[i];

		if (item->op != API_OP_IN || item->value_count != 1)
			continue;
		if (item->field == API_FIELD_NAME) {
			take(&hint->name, item->values[0]);
		} else if (item->field == API_FIELD_NAMESPACE) {
			if (!hint->namespace_)
				take(&hint->namespace_, item->values[0]);
		} else if (item->field >= 0 && !hint->value) {
			hint->field = (unsigned)item->field;
			take(&hint->value, item->values[0]);
		}
	}
}

static void
write_values(struct api_buf *text, const struct api_requirement *item)
{
	for (size_t i = 0; i < item->value_count; i++)
		api_buf_printf(text, "%s%s", i ? "," : "", item->values[i]);
}

static void
write_requirement(struct api_buf *text, const struct api_requirement *item)
{
	switch (item->op) {
	case API_OP_IN:
	case API_OP_NOT_IN:
		api_buf_printf(text, "%s %s (", item->key, item->op == API_OP_IN ? "in" : "notin");
		write_values(text, item);
		api_buf_puts(text, ")");
		break;
	case API_OP_EXISTS:
	case API_OP_ABSENT:
		api_buf_printf(text, "%s%s", item->op == API_OP_ABSENT ? "!" : "", item->key);
		break;
	case API_OP_GREATER:
	case API_OP_LESS:
		api_buf_printf(text, "%s%s", item->key, item->op == API_OP_GREATER ? ">" : "<");
		write_values(text, item);
		break;
	}
}

void
gw_hint_init(struct gw_hint *hint, const char *namespace_, const struct api_query *query)
{
	struct api_buf text = {0};

	*hint = (struct gw_hint){.namespace_ = copy(namespace_ && namespace_[0] ? namespace_ : NULL)};
	if (!query)
		return;
	read_fields(hint, query->fields);
	for (size_t i = 0; query->labels && i < query->labels->count; i++) {
		if (i > 0)
			api_buf_puts(&text, ",");
		write_requirement(&text, &query->labels->items[i]);
	}
	if (text.len > 0)
		hint->labels = api_buf_take(&text);
	api_buf_done(&text);
}

void
gw_hint_done(struct gw_hint *hint)
{
	free(hint->namespace_);
	free(hint->name);
	free(hint->value);
	free(hint->labels);
	*hint = (struct gw_hint){0};
}

void
gw_hint_copy(struct gw_hint *hint, const struct gw_hint *from)
{
	*hint = (struct gw_hint){.namespace_ = copy(from->namespace_),
				 .name = copy(from->name),
				 .value = copy(from->value),
				 .labels = copy(from->labels),
				 .field = from->field};
}

static bool
same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool
gw_hint_equal(const struct gw_hint *a, const struct gw_hint *b)
{
	return same(a->namespace_, b->namespace_) && same(a->name, b->name) && same(a->value, b->value) &&
	       same(a->labels, b->labels) && (!a->value || a->field == b->field);
}
