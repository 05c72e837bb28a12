/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects: labels, annotations and owners, by name and not by a compiled path.
 */
#include "reader-lib/read/found_object.h"
#include "reader-lib/read/known_text.h"

static struct known_field metadata = KNOWN_FIELD("metadata"), labels = KNOWN_FIELD("labels"),
			  annotations = KNOWN_FIELD("annotations"), owners = KNOWN_FIELD("ownerReferences");

enum { API_VERSION, KIND, NAME, UID, CONTROLLER, BLOCK, OWNER_FIELDS };
static struct known_field owner_fields[] = {
	[API_VERSION] = KNOWN_FIELD("apiVersion"), [KIND] = KNOWN_FIELD("kind"),
	[NAME] = KNOWN_FIELD("name"),		   [UID] = KNOWN_FIELD("uid"),
	[CONTROLLER] = KNOWN_FIELD("controller"),  [BLOCK] = KNOWN_FIELD("blockOwnerDeletion"),
};

static struct value
metadata_field(const struct informer_object *object, struct known_field *field)
{
	struct value body = value_of_object(&snapshot_of(object->snapshot_)->view, object->ref_);

	return known_field(known_field(body, &metadata), field);
}

/* A string of a map in metadata. */
static int
entry_of(const struct informer_object *object, struct known_field *map, const char *key,
	 const char **ret_data, size_t *ret_length)
{
	int r = object_usable(object);
	const char *data;
	struct value v;
	size_t length;

	if (r < 0)
		return r;
	if (!key || !ret_data || !ret_length)
		return -EINVAL;
	v = value_at_name(metadata_field(object, map), key);
	r = !v.at ? INFORMER_E_NOT_FOUND : value_string(v, &data, &length) ? 0 : INFORMER_E_TYPE;
	r = snapshot_validate(snapshot_of(object->snapshot_), r);
	if (r == 0) {
		*ret_data = data;
		*ret_length = length;
	}
	return r;
}

int
informer_object_label(const struct informer_object *object, const char *key, const char **ret_data,
		      size_t *ret_length)
{
	return entry_of(object, &labels, key, ret_data, ret_length);
}

int
informer_object_annotation(const struct informer_object *object, const char *key, const char **ret_data,
			   size_t *ret_length)
{
	return entry_of(object, &annotations, key, ret_data, ret_length);
}

static struct informer_owner
owner_of(struct value reference)
{
	struct value v[OWNER_FIELDS];

	known_fields(reference, owner_fields, OWNER_FIELDS, v);
	return (struct informer_owner){
		.api_version = text_of(v[API_VERSION]),
		.kind = text_of(v[KIND]),
		.name = text_of(v[NAME]),
		.uid = text_of(v[UID]),
		.controller = flag_of(v[CONTROLLER], false),
		.block_owner_deletion = flag_of(v[BLOCK], false),
	};
}

int
informer_object_owner(const struct informer_object *object, size_t i, struct informer_owner *ret_owner)
{
	struct informer_owner owner = {0};
	int r = object_usable(object);
	struct value reference;

	if (r < 0)
		return r;
	if (!ret_owner)
		return -EINVAL;
	reference = value_element(metadata_field(object, &owners), i);
	r = reference.at ? 0 : INFORMER_E_NOT_FOUND;
	if (r == 0)
		owner = owner_of(reference);
	r = snapshot_validate(snapshot_of(object->snapshot_), r);
	if (r == 0)
		*ret_owner = owner;
	return r;
}

int
informer_object_controller(const struct informer_object *object, struct informer_owner *ret_owner)
{
	struct informer_owner owner;
	int r;

	if (!ret_owner)
		return -EINVAL;
	for (size_t i = 0; (r = informer_object_owner(object, i, &owner)) == 0; i++)
		if (owner.controller) {
			*ret_owner = owner;
			return 0;
		}
	return r;
}
