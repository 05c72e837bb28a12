/* SPDX-License-Identifier: Apache-2.0 */
/* Takes from a query's selectors the parts that an index can answer. */
#include "tools/informer-gateway/views/hint.h"

#include <stdlib.h>
#include <string.h>

static void
take(char **to, const char *value)
{
	free(*to);
	*to = api_strndup(value, strlen(value));
}

static bool
has_one_value(const struct api_requirement *item)
{
	return item->op == API_OP_IN && item->value_count == 1;
}

static void
read_fields(struct gw_hint *hint, const struct api_selector *fields)
{
	for (size_t i = 0; fields && i < fields->count; i++) {
		const struct api_requirement *item = &fields->items[i];

		if (!has_one_value(item))
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
read_labels(struct gw_hint *hint, const struct api_selector *labels)
{
	struct api_buf label = {0};

	if (api_selector_empty(labels))
		return;
	take(&hint->labels, labels->text);
	for (size_t i = 0; !hint->label && i < labels->count; i++) {
		if (!has_one_value(&labels->items[i]))
			continue;
		api_buf_printf(&label, "%s=%s", labels->items[i].key, labels->items[i].values[0]);
		hint->label = api_buf_take(&label);
	}
}

void
gw_hint_init(struct gw_hint *hint, const char *namespace_, const struct api_query *query)
{
	*hint = (struct gw_hint){0};
	if (namespace_ && namespace_[0])
		take(&hint->namespace_, namespace_);
	read_fields(hint, query->fields);
	read_labels(hint, query->labels);
}

void
gw_hint_done(struct gw_hint *hint)
{
	free(hint->namespace_);
	free(hint->name);
	free(hint->value);
	free(hint->labels);
	free(hint->label);
	*hint = (struct gw_hint){0};
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

bool
gw_hint_names_one(const struct gw_hint *hint, const struct api_resource *resource)
{
	return hint->name && (!resource->namespaced || hint->namespace_);
}
