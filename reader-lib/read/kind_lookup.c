/* SPDX-License-Identifier: Apache-2.0 */
#include "reader-lib/read/kind_lookup.h"

#include <errno.h>
#include <string.h>

#include "reader-lib/read/found_object.h"
#include "reader-lib/read/known_text.h"
#include "reader-lib/read/lookup.h"

static struct known_field group_field = KNOWN_FIELD("group"), version_field = KNOWN_FIELD("version"),
			  kind_field = KNOWN_FIELD("kind"), namespaced_field = KNOWN_FIELD("namespaced");

/* The part of an apiVersion before its '/'; "" for the core group. */
static struct informer_text
group_of(const struct informer_text *api_version)
{
	const char *slash = memchr(api_version->data, '/', api_version->length);

	return (struct informer_text){api_version->data, slash ? (size_t)(slash - api_version->data) : 0};
}

/* at == NULL: there is no such entry, or it is not resolved yet, or damaged. */
static struct value
descriptor_at(const struct snapshot *s, uint32_t position)
{
	const struct resource *r = snapshot_resource(s, position);

	return r ? value_of_block(&s->view, r->descriptor) : (struct value){0};
}

int
object_of_kind(const struct snapshot *s, const struct informer_text *api_version,
	       const struct informer_text *kind, const struct informer_text *ns,
	       const struct informer_text *name, struct informer_object *ret_object)
{
	struct informer_text group = group_of(api_version);
	int r = INFORMER_E_NO_RESOURCE;

	for (uint32_t i = 0; i < s->resource_count; i++) {
		struct value d = descriptor_at(s, i);
		bool namespaced = true;

		if (!d.at || !text_same(known_text(d, &kind_field), *kind) ||
		    !text_same(known_text(d, &group_field), group))
			continue;
		value_bool(known_field(d, &namespaced_field), &namespaced);
		r = object_at_key(s, i, ns->data, namespaced ? ns->length : 0, name->data, name->length,
				  ret_object);
		if (r != INFORMER_E_NOT_FOUND)
			return r;
	}
	return r;
}

void
kind_of_object(const struct snapshot *s, const struct informer_object *object, struct object_kind *ret_kind)
{
	struct value d = descriptor_at(s, object->entry_ & OBJECT_POSITION);

	*ret_kind = (struct object_kind){known_text(d, &group_field), known_text(d, &version_field),
					 known_text(d, &kind_field)};
}
