/*
 * Building a body. The interesting part is the end of a container: find its shape, write its head, decide whether it is shared.
 */
#include "writer/body_build.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/object.h"
#include "shm-layout/path.h"
#include "writer/value_encode.h"

#define OBJECT_HEAD 7u	/* tag, u16 length, u32 shape */
#define ARRAY_HEAD 3u
#define FIELDS_MAX UINT16_MAX

void
body_init(struct body *b, struct arena *arena, struct intern *in, struct decoder_schema *schema)
{
	memset(b, 0, sizeof(*b));
	b->arena = arena;
	b->intern = in;
	b->schema = schema;
}

static void
release_from(struct body *b, struct refs *r, uint32_t start)
{
	while (r->count > start)
		intern_unref(b->intern, r->at[--r->count]);
}

void
body_clear(struct body *b)
{
	release_from(b, &b->refs, 0);
	release_from(b, &b->loose, 0);
	refs_clear(&b->refs);
	refs_clear(&b->loose);
	refs_clear(&b->names);
	bytes_clear(&b->out);
	b->depth = 0;
}

void
body_done(struct body *b)
{
	body_clear(b);
	refs_done(&b->refs);
	refs_done(&b->loose);
	refs_done(&b->names);
	bytes_done(&b->out);
}

/* Take over one reference that the caller holds. */
static int
hold(struct body *b, struct refs *list, uint32_t ref)
{
	int r = refs_push(list, ref);

	if (r < 0)
		intern_unref(b->intern, ref);
	return r;
}

/* ---- containers ---- */

int
body_open(struct body *b, struct path_node *node, bool object)
{
	struct body_frame *f = &b->frames[b->depth];
	size_t head = object ? OBJECT_HEAD : ARRAY_HEAD;
	int r = bytes_room(&b->out, head);

	if (r < 0)
		return r;
	f->node = node;
	f->object = object;
	f->start = b->out.length;
	f->refs_start = b->refs.count;
	f->names_start = b->names.count;
	f->loose_start = b->loose.count;
	f->predict = &node->first;
	f->child = NULL;
	if (!object) {
		f->child = schema_element(b->schema, node);
		if (!f->child)
			return -ENOMEM;
	}
	b->out.length += head;
	b->depth++;
	return 0;
}

static int
loose_name(struct body *b, const char *name, size_t length)
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
	r = intern_get(b->intern, BLOCK_VALUE, b->out.data + b->out.length, (uint32_t)(head + length), &ref, &known);
	if (r == 0)
		r = hold(b, &b->loose, ref);
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
	return c->name_ref ? refs_push(&b->names, c->name_ref) : loose_name(b, name, length);
}

struct shape_layout {
	uint32_t names;	/* where the refs stand */
	uint32_t length;
};

static inline struct shape_layout
shape_layout(uint32_t count)
{
	uint32_t names = (2 + count + 3) & ~3u;

	return (struct shape_layout){names, names + 4 * count};
}

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

/* Take out the earlier ones of fields of equal name. Their values are there already, so this rewrites the contents. */
static int
remove_duplicates(struct body *b, struct body_frame *f)
{
	uint32_t count = b->names.count - f->names_start, kept = 0, *names = b->names.at + f->names_start;
	struct field_place *places = malloc(count * sizeof(*places));
	uint8_t *from = b->out.data + f->start + OBJECT_HEAD, *to = from, *end = b->out.data + b->out.length;
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
	/* what stays is listed again, in at most as many places; what goes is released */
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
	b->duplicate_keys += count - kept;
	free(places);
	free(dead);
	return r;
}

/* A shape that this path has not had lately: look it up among all, or make it. */
static int
other_shape(struct body *b, struct body_frame *f, uint32_t *ret_ref)
{
	uint32_t count = b->names.count - f->names_start, *names = b->names.at + f->names_start;
	struct shape_layout at;
	uint8_t *payload;
	uint16_t stored;
	uint32_t ref;
	bool known;
	int r = has_duplicates(names, count);

	if (r > 0)
		r = remove_duplicates(b, f);
	if (r < 0)
		return r;
	count = b->names.count - f->names_start;
	if (count > FIELDS_MAX)
		return -E2BIG;
	at = shape_layout(count);
	payload = calloc(1, at.length);
	if (!payload)
		return -ENOMEM;
	stored = (uint16_t)count;
	memcpy(payload, &stored, sizeof(stored));
	for (uint32_t i = 0; i < count; i++) {
		struct value name = value_of_block(&b->arena->view, names[i]);
		const char *data = "";
		size_t length = 0;

		value_string(name, &data, &length);
		payload[2 + i] = path_fingerprint(data, length);
	}
	memcpy(payload + at.names, names, 4 * (size_t)count);
	r = intern_get(b->intern, BLOCK_SHAPE, payload, at.length, &ref, &known);
	free(payload);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < count && !known; i++)
		intern_ref(b->intern, names[i]);
	schema_remember_shape(b->schema, f->node, schema_shape_place(names, count), ref);
	*ret_ref = ref;
	return 0;
}

/* The shape of the object that closes, with one reference. ret_from: from whose stock it was taken, or NULL. */
static int
find_shape(struct body *b, struct body_frame *f, uint32_t *ret_ref, struct stocked_ref **ret_from)
{
	uint32_t count = b->names.count - f->names_start;
	const uint32_t *names = b->names.at + f->names_start;
	struct shape_layout at = shape_layout(count);
	struct stocked_ref *place = &f->node->shapes[schema_shape_place(names, count)];
	const struct block *shape = place->ref ? arena_block(b->arena, place->ref) : NULL;

	if (shape && block_length(shape) == at.length && memcmp(shape->payload + at.names, names, 4 * (size_t)count) == 0) {
		*ret_from = place;
		*ret_ref = stocked_ref_take(place, b->intern);
		return 0;
	}
	*ret_from = NULL;
	return other_shape(b, f, ret_ref);
}

/* Fill in the reserved head; the contents move when they need a longer one. */
static int
write_head(struct body *b, const struct body_frame *f, uint32_t shape)
{
	size_t head = f->object ? OBJECT_HEAD : ARRAY_HEAD, length = b->out.length - f->start - head;
	uint32_t n32 = (uint32_t)length;
	uint16_t n16 = (uint16_t)length;
	uint8_t *at;
	int r;

	if (length > BLOCK_LENGTH_MAX)
		return -E2BIG;
	if (length <= UINT16_MAX) {
		at = b->out.data + f->start;
		*at = f->object ? TAG_OBJECT16 : TAG_ARRAY16;
		memcpy(at + 1, &n16, 2);
		memcpy(at + 3, &shape, f->object ? 4 : 0);
		return 0;
	}
	r = bytes_room(&b->out, 2);
	if (r < 0)
		return r;
	at = b->out.data + f->start;
	memmove(at + head + 2, at + head, length);
	b->out.length += 2;
	*at = f->object ? TAG_OBJECT32 : TAG_ARRAY32;
	memcpy(at + 1, &n32, 4);
	memcpy(at + 5, &shape, f->object ? 4 : 0);
	return 0;
}

/* Put a reference in the place of the container that has just been closed. */
static int
share(struct body *b, const struct body_frame *f, struct stocked_ref *shape_from)
{
	size_t length = b->out.length - f->start;
	uint32_t ref;
	bool known;
	int r = intern_get(b->intern, BLOCK_VALUE, b->out.data + f->start, (uint32_t)length, &ref, &known);

	if (r == -E2BIG)
		return 0;	/* it stays where it is */
	if (r < 0)
		return r;
	sharing_note(&f->node->containers, known, (uint32_t)length);
	if (known && shape_from) {
		shape_from->stock++;
		b->refs.count--;
	}
	if (known) {
		release_from(b, &b->refs, f->refs_start);
		b->known_ref = ref;
	}
	b->refs.count = f->refs_start;
	b->out.length = f->start + encode_ref(b->out.data + f->start, ref);
	return hold(b, &b->refs, ref);
}

int
body_close(struct body *b)
{
	struct body_frame *f = &b->frames[b->depth - 1];
	struct stocked_ref *shape_from = NULL;
	bool empty = b->out.length == f->start + (f->object ? OBJECT_HEAD : ARRAY_HEAD);
	uint32_t shape = 0;
	int r = 0;

	b->known_ref = 0;
	if (empty) {
		b->out.data[f->start] = f->object ? TAG_EMPTY_OBJECT : TAG_EMPTY_ARRAY;
		b->out.length = f->start + 1;
		b->depth--;
		return 0;
	}
	if (f->object) {
		r = find_shape(b, f, &shape, &shape_from);
		if (r == 0)
			r = hold(b, &b->refs, shape);
		if (r < 0)
			return r;
		b->names.count = f->names_start;
		if (b->loose.count > f->loose_start)
			release_from(b, &b->loose, f->loose_start);
	}
	r = write_head(b, f, shape);
	if (r < 0)
		return r;
	b->depth--;
	if (b->out.length - f->start >= SHARING_CONTAINER_MIN && b->depth > 0 && !f->node->unshared &&
	    sharing_wanted(&f->node->containers))
		return share(b, f, shape_from);
	return 0;
}

int
body_shared(struct body *b, struct path_node *node, struct text_memo_place *place)
{
	int r = bytes_room(&b->out, ENCODED_HEAD_MAX);

	if (r < 0)
		return r;
	b->out.length += encode_ref(b->out.data + b->out.length, place->value.ref);
	sharing_note(&node->containers, true, place->length);
	return hold(b, &b->refs, stocked_ref_take(&place->value, b->intern));
}

/* ---- scalars ---- */

int
body_tag(struct body *b, enum value_tag tag)
{
	int r = bytes_room(&b->out, 1);

	if (r == 0)
		b->out.data[b->out.length++] = (uint8_t)tag;
	return r;
}

/* The place of a string that was met here lately, or NULL. */
static struct stocked_ref *
known_string(const struct body *b, const struct path_node *node, uint32_t hash, const char *data, size_t length)
{
	struct stocked_ref *place;
	const struct block *block;
	uint8_t head[ENCODED_HEAD_MAX];
	size_t head_bytes;

	if (!node->known_strings || node->known_strings->hashes[hash % STRING_MEMO_PLACES] != hash)
		return NULL;
	place = &node->known_strings->values[hash % STRING_MEMO_PLACES];
	head_bytes = encode_string_head(head, length);
	if (!place->ref)
		return NULL;
	block = arena_block(b->arena, place->ref);
	return block_length(block) == head_bytes + length && memcmp(block->payload + head_bytes, data, length) == 0 ? place : NULL;
}

int
body_string(struct body *b, struct path_node *node, const char *data, size_t length)
{
	struct stocked_ref *place;
	uint32_t ref, hash;
	uint8_t *at;
	size_t bytes;
	bool known;
	int r = bytes_room(&b->out, length + ENCODED_HEAD_MAX);

	if (r < 0)
		return r;
	at = b->out.data + b->out.length;
	bytes = encode_string_head(at, length);
	if (length < SHARING_STRING_MIN || b->depth == 0 || bytes + length > BLOCK_LENGTH_MAX || !sharing_wanted(&node->strings)) {
		memcpy(at + bytes, data, length);
		b->out.length += bytes + length;
		return 0;
	}
	hash = string_memo_hash(data, length);
	place = known_string(b, node, hash, data, length);
	if (place) {
		known = true;
		bytes += length;
		ref = stocked_ref_take(place, b->intern);
	} else {
		memcpy(at + bytes, data, length);
		bytes += length;
		r = intern_get(b->intern, BLOCK_VALUE, at, (uint32_t)bytes, &ref, &known);
		if (r < 0)
			return r;
		if (known)
			schema_remember_string(b->schema, node, hash, ref);
	}
	sharing_note(&node->strings, known, (uint32_t)bytes);
	b->out.length += encode_ref(at, ref);
	return hold(b, &b->refs, ref);
}

/* Whether the text, an integer's, fits 64 bits; "-0" does not, it would lose its sign. */
static bool
read_integer(const char *text, size_t length, bool *ret_negative, uint64_t *ret_n)
{
	uint64_t n = 0;
	size_t i = text[0] == '-';

	if (length - i > 20 || (i == 1 && text[1] == '0'))
		return false;
	*ret_negative = i == 1;
	for (; i < length; i++)
		if (__builtin_mul_overflow(n, 10u, &n) || __builtin_add_overflow(n, (uint64_t)(text[i] - '0'), &n))
			return false;
	*ret_n = n;
	return !*ret_negative || n <= (uint64_t)INT64_MAX + 1;
}

/* The double that is nearest, whatever the locale. */
static int
read_double(const char *text, size_t length, double *ret)
{
	char small[64], *copy = small;
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* a constant of libc's, nothing is allocated */

	if (!c_locale)
		return -ENOMEM;
	if (length >= sizeof(small))
		copy = malloc(length + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, length);
	copy[length] = '\0';
	*ret = strtod_l(copy, NULL, c_locale);
	if (copy != small)
		free(copy);
	freelocale(c_locale);
	return 0;
}

int
body_number(struct body *b, const char *text, size_t length, bool integer)
{
	bool negative, fits;
	uint64_t n = 0;
	double d = 0;
	uint8_t *at;
	int r = bytes_room(&b->out, length + ENCODED_HEAD_MAX);

	if (r < 0)
		return r;
	at = b->out.data + b->out.length;
	if (integer && read_integer(text, length, &negative, &n)) {
		if (!negative && n > INT64_MAX)
			b->out.length += encode_uint64(at, n);
		else
			b->out.length += encode_int(at, (int64_t)(negative ? 0 - n : n));
		return 0;
	}
	fits = !integer || (length == 2 && text[1] == '0');
	if (fits) {
		r = read_double(text, length, &d);
		if (r < 0)
			return r;
	}
	if (fits && d - d == 0) {
		b->out.length += encode_double(at, d);
		return 0;
	}
	b->out.length += encode_number_head(at, length);
	memcpy(b->out.data + b->out.length, text, length);
	b->out.length += length;
	return 0;
}

/* ---- the end ---- */

int
body_emit(struct body *b, const char *ns, size_t ns_length, const char *name, size_t name_length, uint32_t *ret_ref)
{
	size_t body_offset = offsetof(struct object, key) + ns_length + name_length;
	struct object *o;
	uint32_t ref;
	int r;

	if (b->out.length > BLOCK_LENGTH_MAX - body_offset)
		return -E2BIG;
	r = arena_new_block(b->arena, BLOCK_OBJECT, (uint32_t)(body_offset + b->out.length), 0, &ref);
	if (r < 0)
		return r;
	o = arena_payload(b->arena, ref);
	memset(o, 0, offsetof(struct object, key));
	o->key_hash = object_key_hash(b->arena->header->hash_key, ns, ns_length, name, name_length);
	o->namespace_length = (uint8_t)ns_length;
	o->name_length = (uint16_t)name_length;
	o->body_offset = (uint16_t)body_offset;
	memcpy(o->key, ns, ns_length);
	memcpy(o->key + ns_length, name, name_length);
	memcpy((uint8_t *)o + body_offset, b->out.data, b->out.length);
	refs_clear(&b->refs);	/* the references are the draft's now */
	body_clear(b);
	*ret_ref = ref;
	return 0;
}
