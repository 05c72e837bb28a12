/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a snapshot says about its resources: for tools, and for agents that must know how fresh they are.
 */
#include <string.h>

#include "reader-lib/read/resource_open.h"
#include "shm-layout/time_ns.h"
#include "shm-layout/value_field.h"

static uint64_t
contact_age(const struct snapshot *s, uint32_t position)
{
	struct header *h = (struct header *)(uintptr_t)s->mapping->header;
	uint64_t contact, now = time_ns(CLOCK_BOOTTIME);

	contact = position < RESOURCE_MAX ?
		atomic_load_explicit(&h->contact_boot_ns[position], memory_order_relaxed) : 0;
	if (contact == 0)
		return UINT64_MAX;
	return now > contact ? now - contact : 0;
}

/* The descriptor of an entry; at == NULL: none, or damaged. */
static struct value
descriptor_at(const struct snapshot *s, uint32_t position, const struct resource **ret_resource)
{
	*ret_resource = snapshot_resource(s, position);
	return *ret_resource ? value_of_block(&s->view, (*ret_resource)->descriptor) : (struct value){0};
}

uint32_t
informer_resource_count(const struct informer_snapshot *snapshot)
{
	const struct snapshot *s = snapshot_of(snapshot);

	return snapshot_usable(s) < 0 ? 0 : s->resource_count;
}

static int
info_at(const struct snapshot *s, uint32_t position, struct informer_resource_info *info)
{
	const struct resource *r;
	struct value d = descriptor_at(s, position, &r), namespaced;

	if (position >= s->resource_count)
		return INFORMER_E_NOT_FOUND;
	if (!d.at)
		return s->root->resources[position] ? -EBADMSG : INFORMER_E_NOT_READY;
	info->group = descriptor_text(d, "group", &info->group_length);
	info->version = descriptor_text(d, "version", &info->version_length);
	info->resource = descriptor_text(d, "resource", &info->resource_length);
	info->kind = descriptor_text(d, "kind", &info->kind_length);
	info->singular = descriptor_text(d, "singular", &info->singular_length);
	info->namespace_ = descriptor_text(d, "namespace", &info->namespace_length);
	info->label_selector = descriptor_text(d, "labelSelector", &info->label_selector_length);
	info->field_selector = descriptor_text(d, "fieldSelector", &info->field_selector_length);
	namespaced = value_at_name(d, "namespaced");
	value_bool(namespaced, &info->namespaced);
	value_bool(value_at_name(d, "metadataOnly"), &info->metadata_only);
	value_bool(value_at_name(d, "onDemand"), &info->on_demand);
	info->index_count = (uint32_t)value_count(value_at_name(d, "indexes"));
	info->short_name_count = (uint32_t)value_count(value_at_name(d, "shortNames"));
	info->drop_count = (uint32_t)value_count(value_at_name(d, "drops"));
	info->resource_version = resource_version(r, &info->resource_version_length);
	info->synced = r->state == RESOURCE_SYNCED;
	info->object_count = r->object_count;
	info->changed_seq = r->changed_seq;
	info->forgotten_seq = r->tombstone_floor;
	info->complete_from = r->complete_from;
	info->age_ns = contact_age(s, position);
	return 0;
}

static int
hand_over(const struct snapshot *s, int r, struct informer_resource_info *out,
	  struct informer_resource_info *info)
{
	r = snapshot_validate(s, r);
	if (r < 0)
		return r;
	info->size = out->size;
	memcpy(out, info, out->size < sizeof(*info) ? out->size : sizeof(*info));
	return 0;
}

int
informer_resource_info_at(const struct informer_snapshot *snapshot, uint32_t position,
			  struct informer_resource_info *out)
{
	const struct snapshot *s = snapshot_of(snapshot);
	struct informer_resource_info info = {0};
	int r = snapshot_usable(s);

	if (r < 0)
		return r;
	if (!out || out->size < sizeof(out->size))
		return -EINVAL;
	return hand_over(s, info_at(s, position, &info), out, &info);
}

int
informer_resource_info(const struct informer_snapshot *snapshot, struct informer_resource *res,
		       struct informer_resource_info *out)
{
	const struct snapshot *s = snapshot_of(snapshot);
	struct informer_resource_info sum = {0}, one;
	const struct resource_binding *b;
	int r = snapshot_usable(s);

	if (r == 0 && (!out || out->size < sizeof(out->size)))
		r = -EINVAL;
	if (r == 0)
		r = resource_bind(s, res, &b);
	if (r < 0)
		return r;
	r = info_at(s, b->parts[0].position, &sum);
	for (uint32_t i = 1; i < b->count && r == 0; i++) {
		memset(&one, 0, sizeof(one));
		r = info_at(s, b->parts[i].position, &one);
		sum.object_count += one.object_count;
		sum.synced = sum.synced && one.synced;
		sum.changed_seq = one.changed_seq > sum.changed_seq ? one.changed_seq : sum.changed_seq;
		sum.forgotten_seq =
			one.forgotten_seq > sum.forgotten_seq ? one.forgotten_seq : sum.forgotten_seq;
		sum.complete_from = 0;
		sum.age_ns = one.age_ns > sum.age_ns ? one.age_ns : sum.age_ns;
		sum.resource_version = sum.namespace_ = "";
		sum.resource_version_length = sum.namespace_length = 0;
	}
	return hand_over(s, r, out, &sum);
}

int
informer_resource_position(const struct informer_snapshot *snapshot, struct informer_resource *res,
			   uint32_t *ret_position)
{
	const struct snapshot *s = snapshot_of(snapshot);
	const struct resource_binding *b;
	int r = snapshot_usable(s);

	if (r == 0)
		r = resource_bind(s, res, &b);
	if (r == 0)
		*ret_position = b->parts[0].position;
	return r;
}

/* Element i of a descriptor's list: its text, or the text of its field `inner`. */
static int
listed_text(const struct informer_snapshot *snapshot, uint32_t position, const char *field, uint32_t i,
	    const char *inner, const char **ret_text, size_t *ret_length)
{
	const struct snapshot *s = snapshot_of(snapshot);
	const struct resource *resource;
	struct value element;
	int r = snapshot_usable(s);

	if (r < 0)
		return r;
	element = value_element(value_at_name(descriptor_at(s, position, &resource), field), i);
	if (!value_string(inner ? value_at_name(element, inner) : element, ret_text, ret_length))
		r = INFORMER_E_NOT_FOUND;
	return snapshot_validate(s, r);
}

int
informer_resource_index_name(const struct informer_snapshot *snapshot, uint32_t position, uint32_t i,
			     const char **ret_name, size_t *ret_length)
{
	return listed_text(snapshot, position, "indexes", i, "name", ret_name, ret_length);
}

int
informer_resource_short_name(const struct informer_snapshot *snapshot, uint32_t position, uint32_t i,
			     const char **ret_name, size_t *ret_length)
{
	return listed_text(snapshot, position, "shortNames", i, NULL, ret_name, ret_length);
}

int
informer_resource_drop(const struct informer_snapshot *snapshot, uint32_t position, uint32_t i,
		       const char **ret_path, size_t *ret_length)
{
	return listed_text(snapshot, position, "drops", i, NULL, ret_path, ret_length);
}
