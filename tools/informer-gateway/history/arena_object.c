/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks two levels itself, the object's members and those of metadata, to note positions. libinformer prints
 * all deeper levels.
 */
#include "tools/informer-gateway/history/arena_object.h"

#include <errno.h>
#include <string.h>

/* Noted while text and side are written: the fields of api_object without pointers and text_len. */
struct places {
	struct api_object object;
	size_t labels_at, fields_at;
};

int
gw_object_maker_init(struct gw_object_maker *maker, struct informer *informer,
		     const struct api_resource *resource)
{
	static const char labels[] = "metadata.labels";
	int r;

	*maker = (struct gw_object_maker){.resource = resource};
	r = informer_path_compile(informer, labels, sizeof(labels) - 1, &maker->labels);
	for (const struct api_field *field = resource->fields; r == 0 && field && field->label; field++) {
		if (maker->path_count == API_FIELDS_MAX)
			break;
		r = informer_path_compile(informer, field->path, strlen(field->path),
					  &maker->paths[maker->path_count]);
		maker->path_count += r == 0;
	}
	if (r < 0)
		gw_object_maker_done(maker);
	return r;
}

void
gw_object_maker_done(struct gw_object_maker *maker)
{
	for (unsigned i = 0; i < maker->path_count; i++)
		informer_path_free(maker->paths[i]);
	informer_path_free(maker->labels);
	api_buf_done(&maker->text);
	api_buf_done(&maker->side);
	api_buf_done(&maker->other);
	*maker = (struct gw_object_maker){0};
}

uint64_t
gw_rv_parse(const char *text, size_t length)
{
	uint64_t rv = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9' || rv > (UINT64_MAX - 9) / 10)
			return 0;
		rv = rv * 10 + (uint64_t)(text[i] - '0');
	}
	return rv;
}

uint64_t
gw_object_rv(const struct informer_object *object)
{
	const char *text;
	size_t length;

	return informer_object_resource_version(object, &text, &length) == 0 ? gw_rv_parse(text, length) : 0;
}

/* ---- the text ------------------------------------------------------------ */

static int
append(void *context, const char *data, size_t length)
{
	api_buf_put(context, data, length);
	return 0;
}

static bool
is_key(const struct informer_value_iter *it, const char *name, size_t length)
{
	return it->key_length == length && !memcmp(it->key, name, length);
}
#define IS_KEY(it, name) is_key(it, name, sizeof(name) - 1)

static int
write_member(struct api_buf *text, const struct informer_value_iter *it, bool first)
{
	if (!first)
		api_buf_put(text, ",", 1);
	api_buf_json(text, it->key, it->key_length);
	api_buf_put(text, ":", 1);
	return informer_value_to_json(&it->item, append, text);
}

/* Note the RV and its position between the quotes. An RV that is no string has none. */
static void
note_rv(const struct api_buf *text, const struct informer_value_iter *it, struct places *places)
{
	const char *data;
	size_t length;

	if (informer_value_kind(&it->item) != INFORMER_STRING ||
	    informer_value_string(&it->item, &data, &length) < 0)
		return;
	places->object.rv = gw_rv_parse(data, length);
	if (text->data[text->len - length - 2] != '"') /* an escaped string is never an RV */
		return;
	places->object.rv_at = text->len - length - 1;
	places->object.rv_len = (uint32_t)length;
}

static void
note_labels(struct api_buf *side, const struct informer_value *labels, struct places *places)
{
	struct informer_value_iter it;
	const char *data;
	size_t length;

	places->labels_at = side->len;
	if (informer_value_kind(labels) != INFORMER_OBJECT || informer_value_iterate(labels, &it) < 0)
		return;
	while (informer_value_next(&it) > 0) {
		if (informer_value_string(&it.item, &data, &length) < 0)
			continue;
		api_buf_put(side, it.key, it.key_length);
		api_buf_put(side, "", 1);
		api_buf_put(side, data, length);
		api_buf_put(side, "", 1);
		places->object.label_count++;
	}
}

/* Metadata without an RV gets an empty one as its last member, so that rv_at is always valid. */
static void
end_metadata(struct api_buf *text, bool empty, struct places *places)
{
	if (places->object.rv_at == 0) {
		api_buf_puts(text, empty ? "\"resourceVersion\":\"" : ",\"resourceVersion\":\"");
		places->object.rv_at = text->len;
		api_buf_puts(text, "\"");
	}
	api_buf_put(text, "}", 1);
	places->object.meta_len = text->len - places->object.meta_at;
}

static int
write_metadata(struct gw_object_maker *maker, const struct informer_value *meta, struct places *places)
{
	struct api_buf *text = &maker->text;
	struct informer_value_iter it;
	bool first = true;
	int r = informer_value_iterate(meta, &it);

	places->object.meta_at = text->len;
	api_buf_put(text, "{", 1);
	while (r == 0 && (r = informer_value_next(&it)) > 0) {
		r = write_member(text, &it, first);
		first = false;
		if (r == 0 && IS_KEY(&it, "resourceVersion"))
			note_rv(text, &it, places);
		if (r == 0 && IS_KEY(&it, "labels"))
			note_labels(&maker->side, &it.item, places);
	}
	if (r == 0)
		end_metadata(text, first, places);
	return r;
}

static int
write_text(struct gw_object_maker *maker, const struct informer_object *object, struct places *places)
{
	struct api_buf *text = &maker->text;
	struct informer_value_iter it;
	struct informer_value root;
	int r = informer_object_value(object, &root);

	if (r == 0)
		r = informer_value_iterate(&root, &it);
	while (r == 0 && (r = informer_value_next(&it)) > 0) {
		r = 0;
		if (IS_KEY(&it, "kind") || IS_KEY(&it, "apiVersion"))
			continue;
		if (!IS_KEY(&it, "metadata") || informer_value_kind(&it.item) != INFORMER_OBJECT) {
			r = write_member(text, &it, text->len == 0);
			continue;
		}
		api_buf_puts(text, text->len ? ",\"metadata\":" : "\"metadata\":");
		r = write_metadata(maker, &it.item, places);
	}
	if (r == 0 && places->object.meta_len == 0)
		r = INFORMER_E_CORRUPT;
	api_buf_put(text, "}", 1);
	return r;
}

/* ---- fields for selectors ------------------------------------------------ */

int
gw_object_put_key(const struct informer_object *object, struct api_buf *ret, size_t *ret_namespace_length)
{
	const char *ns = "", *name = "";
	size_t length = 0;
	int r = informer_object_namespace(object, &ns, ret_namespace_length);

	if (r == 0)
		r = informer_object_name(object, &name, &length);
	if (r < 0)
		return r;
	if (*ret_namespace_length > 0) {
		api_buf_put(ret, ns, *ret_namespace_length);
		api_buf_put(ret, "/", 1);
	}
	api_buf_put(ret, name, length);
	api_buf_put(ret, "", 1);
	return 0;
}

static int
write_field(struct api_buf *side, const struct informer_object *object, const struct informer_path *path,
	    const char *missing)
{
	struct informer_value value;
	const char *data;
	size_t length;
	int r = informer_get_value(object, path, &value);

	if (r < 0 && r != INFORMER_E_NOT_FOUND)
		return r;
	switch (r < 0 ? INFORMER_NONE : informer_value_kind(&value)) {
	case INFORMER_STRING:
		r = informer_value_string(&value, &data, &length);
		if (r < 0)
			return r;
		api_buf_put(side, data, length);
		break;
	case INFORMER_BOOL:
	case INFORMER_INT:
	case INFORMER_UINT:
	case INFORMER_DOUBLE:
	case INFORMER_NUMBER:
		r = informer_value_to_json(&value, append, side);
		if (r < 0)
			return r;
		break;
	case INFORMER_NONE:
	case INFORMER_NULL:
	case INFORMER_ARRAY:
	case INFORMER_OBJECT:
		api_buf_puts(side, missing);
		break;
	}
	api_buf_put(side, "", 1);
	return 0;
}

static int
write_fields(const struct gw_object_maker *maker, const struct informer_object *object, struct api_buf *side)
{
	int r = 0;

	for (unsigned i = 0; i < maker->path_count && r == 0; i++)
		r = write_field(side, object, maker->paths[i], maker->resource->fields[i].missing);
	return r;
}

static int
write_selection(const struct gw_object_maker *maker, const struct informer_object *object,
		struct api_buf *side)
{
	struct places places = {0};
	struct informer_value labels;
	int r = informer_get_value(object, maker->labels, &labels);

	api_buf_reset(side);
	if (r == 0)
		note_labels(side, &labels, &places);
	api_buf_put(side, "", 1);
	return r < 0 && r != INFORMER_E_NOT_FOUND ? r : write_fields(maker, object, side);
}

bool
gw_object_selects_alike(struct gw_object_maker *maker, const struct informer_object *object,
			const struct informer_object *other)
{
	return write_selection(maker, object, &maker->side) == 0 &&
	       write_selection(maker, other, &maker->other) == 0 && maker->side.len == maker->other.len &&
	       !memcmp(maker->side.data, maker->other.data, maker->side.len);
}

/* ---- the object ---------------------------------------------------------- */

static struct api_object *
assemble(const char *side, size_t side_len, const char *text, size_t text_len, const struct places *places)
{
	struct api_object *object = api_alloc(sizeof(*object) + side_len + text_len);
	char *at = (char *)(object + 1);

	memcpy(at, side, side_len);
	memcpy(at + side_len, text, text_len);
	*object = places->object;
	object->text_len = text_len;
	object->key = at;
	object->labels = at + places->labels_at;
	object->fields = at + places->fields_at;
	object->text = at + side_len;
	atomic_init(&object->refs, 1);
	return object;
}

int
gw_object_make(struct gw_object_maker *maker, const struct informer_object *object,
	       struct api_object **ret_object)
{
	struct places places = {0};
	size_t namespace_len = 0;
	int r;

	api_buf_reset(&maker->text);
	api_buf_reset(&maker->side);
	r = gw_object_put_key(object, &maker->side, &namespace_len);
	places.object.namespace_len = (uint32_t)namespace_len;
	places.labels_at = maker->side.len;
	if (r == 0)
		r = write_text(maker, object, &places);
	places.fields_at = maker->side.len;
	if (r == 0)
		r = write_fields(maker, object, &maker->side);
	if (r < 0)
		return r;
	*ret_object = assemble(maker->side.data, maker->side.len, maker->text.data, maker->text.len, &places);
	return 0;
}

size_t
gw_object_bytes(const struct api_object *object)
{
	return sizeof(*object) + (size_t)(object->text - object->key) + object->text_len;
}
