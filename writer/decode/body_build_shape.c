/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the shape where body_shape()'s one comparison fails: the shape is new to the path, a field occurs
 * twice, or the schema does not remember a name.
 */
#include "writer/decode/body_build_shape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/path.h"
#include "shm-layout/value.h"
#include "writer/decode/value_encode.h"

/* ---- names ---- */

static int
body_loose_name(struct body *b, const char *name, size_t length)
{
	uint32_t ref;
	size_t head;
	bool known;
	int r = bytes_room(&b->out, length + ENCODED_HEAD_MAX);

	if (r < 0)
		return r;
	head = encode_string_head(b->out.data + b->out.length, length);
	memcpy(b->out.data + b->out.length + head, name, length);
	if (head + length > BLOCK_LENGTH_MAX)
		return -E2BIG;
	r = intern_get(b->intern, BLOCK_VALUE, b->out.data + b->out.length, (uint32_t)(head + length), &ref,
		       &known);
	if (r == 0)
		r = body_hold(b, &b->loose, ref);
	return r < 0 ? r : refs_push(&b->names, ref);
}

int
body_name(struct body *b, const char *name, size_t length)
{
	struct body_frame *f = &b->frames[b->depth - 1];
	struct path_node *c = schema_child(b->schema, f->node, name, length);

	if (!c)
		return -ENOMEM;
	f->child = c;
	if (f->predict && c->text_length > 0)
		*f->predict = c;
	f->predict = c->name_ref ? &c->next : NULL;
	if (c->drop)
		return 0;
	return c->name_ref ? refs_push(&b->names, c->name_ref) : body_loose_name(b, name, length);
}

/* ---- duplicates ---- */

static int
compare_refs(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Equal names have equal refs. */
static int
has_duplicates(const uint32_t *names, uint32_t count)
{
	uint32_t *sorted;
	int found = 0;

	if (count <= 32) {
		for (uint32_t i = 1; i < count; i++)
			for (uint32_t k = 0; k < i; k++)
				if (names[i] == names[k])
					return 1;
		return 0;
	}
	sorted = malloc(count * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, names, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_refs);
	for (uint32_t i = 1; i < count && !found; i++)
		found = sorted[i] == sorted[i - 1];
	free(sorted);
	return found;
}

struct ref_keeper {
	struct body *b;
	bool release;
};

static int
keep_or_release(uint32_t ref, void *context)
{
	struct ref_keeper *k = context;

	if (!k->release)
		return refs_push(&k->b->refs, ref);
	intern_unref(k->b->intern, ref);
	return 0;
}

struct field_place {
	uint32_t name;
	uint32_t position;
};

static int
by_name_then_last(const void *a, const void *b)
{
	const struct field_place *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->position > y->position ? -1 : 1;
}

/* Keep only the last of fields with equal names. All values are encoded already: rewrite the contents. */
static int
remove_duplicates(struct body *b, struct body_frame *f)
{
	uint32_t count = b->names.count - f->names_start, kept = 0, *names = b->names.at + f->names_start;
	struct field_place *places = malloc(count * sizeof(*places));
	uint8_t *from = b->out.data + f->start + BODY_OBJECT_HEAD, *to = from,
		*end = b->out.data + b->out.length;
	bool *dead = calloc(count, sizeof(*dead));
	struct ref_keeper keeper = {.b = b};
	int r = 0;

	if (!places || !dead) {
		free(places);
		free(dead);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		places[i] = (struct field_place){names[i], i};
	qsort(places, count, sizeof(*places), by_name_then_last);
	for (uint32_t i = 1; i < count; i++)
		dead[places[i].position] = places[i].name == places[i - 1].name;
	/* list the references of kept values again, in at most as many places; release the others */
	b->refs.count = f->refs_start;
	for (uint32_t i = 0; i < count && r == 0; i++) {
		const uint8_t *after = value_after(from, end);
		size_t bytes = (size_t)(after - from);

		keeper.release = dead[i];
		r = value_each_ref(from, end, keep_or_release, &keeper);
		if (!dead[i]) {
			memmove(to, from, bytes);
			to += bytes;
			names[kept++] = names[i];
		}
		from += bytes;
	}
	b->out.length = (size_t)(to - b->out.data);
	b->names.count = f->names_start + kept;
	free(places);
	free(dead);
	return r;
}

/* ---- shapes new to their path ---- */

int
body_shape_other(struct body *b, struct body_frame *f, uint32_t *ret_ref)
{
	uint32_t count = b->names.count - f->names_start, *names = b->names.at + f->names_start;
	uint8_t *payload;
	uint32_t ref;
	bool known;
	int r = has_duplicates(names, count);

	if (r > 0)
		r = remove_duplicates(b, f);
	if (r < 0)
		return r;
	count = b->names.count - f->names_start;
	if (count > SHAPE_FIELDS_MAX)
		return -E2BIG;
	payload = calloc(1, shape_length(count));
	if (!payload)
		return -ENOMEM;
	memcpy(payload, &count, sizeof(count));
	for (uint32_t i = 0; i < count; i++) {
		struct value name = value_of_block(&b->arena->view, names[i]);
		const char *data = "";
		size_t length = 0;

		value_string(name, &data, &length);
		payload[SHAPE_FINGERPRINTS + i] = shape_fingerprint(data, length);
	}
	memcpy(payload + shape_names_offset(count), names, 4 * (size_t)count);
	r = intern_get(b->intern, BLOCK_SHAPE, payload, shape_length(count), &ref, &known);
	free(payload);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < count && !known; i++)
		intern_ref(b->intern, names[i]);
	schema_remember_shape(b->schema, f->node, schema_shape_place(names, count), ref);
	*ret_ref = ref;
	return 0;
}
