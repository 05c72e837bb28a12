/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the type's fields and looks up each in the document; see typed.h. */
#include "tools/informer-sim/typed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

#include "tools/informer-sim/doc_edit.h"
#include "tools/printer/age.h"

#define MEMBERS_MAX (4 * PROTO_FIELDS_MAX) /* of an object: of its message and of inlined ones */
#define YEAR_ZERO INT64_C(-62167219200)    /* in seconds */
#define YEAR_ONE INT64_C(-62135596800)     /* Go's zero time */
#define YEAR_9999_END INT64_C(253402300799)
#define TIME_LENGTH 20 /* 2026-01-02T03:04:05Z */

struct fit {
	struct api_doc *doc;
	const struct proto_schema *schema;
	char *why;
};

/* The members of the result, in order. */
struct members {
	struct api_node *at[MEMBERS_MAX];
	unsigned count;
};

static int
mismatch(const struct fit *f, const struct proto_message *m, const struct proto_field *field,
	 const struct api_node *node, const char *type)
{
	static const char *const have[] = {
		[API_OBJECT] = "object", [API_ARRAY] = "array", [API_STRING] = "string",
		[API_NUMBER] = "number", [API_TRUE] = "bool",   [API_FALSE] = "bool",
		[API_NULL] = "null"};
	const char *name = strrchr(m->name, '.');

	snprintf(f->why, SIM_TYPED_WHY, "json: cannot unmarshal %s into Go struct field %s.%.*s of type %s",
		 have[node->type], name ? name + 1 : m->name, field->name_length - 3, field->name + 1, type);
	return -EINVAL;
}

static struct api_node *
token(struct api_doc *doc, enum api_type type, const char *text)
{
	return sim_new_token(doc, type, text);
}

static bool
is_integer(const struct api_node *node)
{
	char digits[24], *end;

	if (node->type != API_NUMBER || node->text_len >= sizeof(digits))
		return false;
	memcpy(digits, node->text, node->text_len);
	digits[node->text_len] = '\0';
	errno = 0;
	strtoll(digits, &end, 10);
	return !errno && !*end;
}

/* ---- times ---- */

/*
 * Convert a time to UTC; Go's zero time becomes null. If the zone moves the time beyond years 0 to 9999, it
 * is refused, because objects are kept as JSON. A real server accepts it, and prints an unreadable time.
 */
static bool
fit_time(const struct fit *f, struct api_node *node, bool micro)
{
	size_t wanted = TIME_LENGTH + (micro ? 7u : 0u);
	char text[64], fraction[16] = "";
	int64_t seconds;
	unsigned ns;
	time_t t;
	struct tm tm;

	if (node->type != API_STRING ||
	    !age_read((struct field_text){node->text, node->text_len}, &seconds, &ns) ||
	    seconds < YEAR_ZERO || seconds > YEAR_9999_END)
		return false;
	if (seconds == YEAR_ONE && (!micro || ns < 1000)) {
		sim_become(node, token(f->doc, API_NULL, "null"));
		return true;
	}
	if (node->text_len == wanted && node->text[wanted - 1] == 'Z')
		return true;
	t = (time_t)seconds;
	if (!gmtime_r(&t, &tm))
		return false;
	if (micro)
		snprintf(fraction, sizeof(fraction), ".%06u", ns / 1000);
	snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d%sZ", tm.tm_year + 1900, tm.tm_mon + 1,
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, fraction);
	sim_put_text(f->doc, node, text);
	return true;
}

/* ---- values ---- */

static bool
is_base64(const struct api_node *node)
{
	_cleanup_(api_freep) char *text = api_text_dup(node);
	_cleanup_(api_freep) char *bytes = api_alloc(strlen(text) + 1);
	size_t len;

	return node->type == API_STRING &&
	       sodium_base642bin((unsigned char *)bytes, strlen(text) + 1, text, strlen(text), "\r\n", &len,
				 NULL, sodium_base64_VARIANT_ORIGINAL) == 0;
}

static int fit_message(const struct fit *f, struct api_node *object, const struct proto_message *m);

/* The zero value of a field's type. */
static struct api_node *
zero(const struct fit *f, const struct proto_field *field)
{
	struct api_node *object;

	switch ((enum proto_type)field->type) {
	case PROTO_STRING:
	case PROTO_BYTES:
		return sim_new_string(f->doc, "");
	case PROTO_QUANTITY:
		return sim_new_string(f->doc, "0");
	case PROTO_BOOL:
		return token(f->doc, API_FALSE, "false");
	case PROTO_INT:
	case PROTO_INT_OR_STRING:
		return token(f->doc, API_NUMBER, "0");
	case PROTO_MESSAGE:
		object = api_new(f->doc, API_OBJECT);
		fit_message(f, object, proto_schema_message(f->schema, field->message));
		return object;
	default:
		return token(f->doc, API_NULL, "null");
	}
}

/* Fit one value of a field, which is not null. */
static int
fit_value(const struct fit *f, const struct proto_message *m, const struct proto_field *field,
	  struct api_node *node)
{
	switch ((enum proto_type)field->type) {
	case PROTO_STRING:
		return node->type == API_STRING ? 0 : mismatch(f, m, field, node, "string");
	case PROTO_BYTES:
		return is_base64(node) ? 0 : mismatch(f, m, field, node, "[]uint8");
	case PROTO_BOOL:
		if (node->type == API_TRUE || node->type == API_FALSE)
			return 0;
		return mismatch(f, m, field, node, "bool");
	case PROTO_INT:
		return is_integer(node) ? 0 : mismatch(f, m, field, node, "int");
	case PROTO_INT_OR_STRING:
		return node->type == API_STRING || is_integer(node)
			       ? 0
			       : mismatch(f, m, field, node, "intstr.IntOrString");
	case PROTO_QUANTITY:
		if (node->type == API_NUMBER)
			node->type = API_STRING; /* the number's token becomes the text */
		return node->type == API_STRING ? 0 : mismatch(f, m, field, node, "resource.Quantity");
	case PROTO_TIME:
	case PROTO_MICRO_TIME:
		return fit_time(f, node, field->type == PROTO_MICRO_TIME)
			       ? 0
			       : mismatch(f, m, field, node, "time.Time");
	case PROTO_MESSAGE:
		return node->type == API_OBJECT
			       ? fit_message(f, node, proto_schema_message(f->schema, field->message))
			       : mismatch(f, m, field, node, "object");
	default:
		return 0;
	}
}

/* Fit the elements of a list or a map, including nulls. */
static int
fit_elements(const struct fit *f, const struct proto_message *m, const struct proto_field *field,
	     struct api_node *node)
{
	bool lists = field->flags & PROTO_REPEATED && field->flags & PROTO_LIST;
	struct proto_field inner = *field;
	int r = 0;

	inner.flags &= (uint16_t)~PROTO_REPEATED;
	for (struct api_node *child = node->child; child && r == 0; child = child->next) {
		if (lists && child->type == API_NULL)
			sim_become(child, api_new(f->doc, API_ARRAY));
		else if (lists)
			r = child->type == API_ARRAY ? fit_elements(f, m, &inner, child)
						     : mismatch(f, m, field, child, "array");
		else if (child->type == API_NULL)
			sim_become(child, zero(f, field));
		else
			r = fit_value(f, m, field, child);
	}
	return r;
}

struct entry {
	char *key;
	size_t key_len;
	struct api_node *node;
};

static int
by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	size_t n = x->key_len < y->key_len ? x->key_len : y->key_len;
	int r = memcmp(x->key, y->key, n);

	return r ? r : (x->key_len > y->key_len) - (x->key_len < y->key_len);
}

static void
link_up(struct api_node *object, struct api_node *const *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		nodes[i]->next = i + 1 < count ? nodes[i + 1] : NULL;
	object->child = count ? nodes[0] : NULL;
	object->last = count ? nodes[count - 1] : NULL;
}

static void
sort(struct api_node *map)
{
	size_t count = sim_count(map), i = 0;
	struct entry *entries = api_alloc((count + 1) * sizeof(*entries));

	for (struct api_node *child = map->child; child; child = child->next, i++) {
		struct api_buf key = {0};

		sim_key(child, &key);
		entries[i] = (struct entry){.key_len = key.len, .node = child};
		entries[i].key = api_buf_take(&key);
	}
	qsort(entries, count, sizeof(*entries), by_key);
	for (i = 0; i < count; i++) {
		free(entries[i].key);
		entries[i].node->next = i + 1 < count ? entries[i + 1].node : NULL;
	}
	if (count) {
		map->child = entries[0].node;
		map->last = entries[count - 1].node;
	}
	free(entries);
}

/* ---- members ---- */

/* Whether a value is empty, for omitempty. */
static bool
is_empty(const struct proto_field *field, const struct api_node *node)
{
	if (field->flags & (PROTO_REPEATED | PROTO_LIST))
		return !node->child;
	if (field->flags & PROTO_POINTER)
		return false;
	switch ((enum proto_type)field->type) {
	case PROTO_STRING:
	case PROTO_BYTES:
		return node->text_len == 0;
	case PROTO_BOOL:
		return node->type == API_FALSE;
	case PROTO_INT:
		return node->text_len == 1 && node->text[0] == '0';
	default:
		return false;
	}
}

/* Fit a member that is present and not null. */
static int
fit_member(const struct fit *f, const struct proto_message *m, const struct proto_field *field,
	   struct api_node *node)
{
	int r;

	if (!(field->flags & (PROTO_REPEATED | PROTO_LIST)))
		return fit_value(f, m, field, node);
	if (field->flags & PROTO_MAP ? node->type != API_OBJECT : node->type != API_ARRAY)
		return mismatch(f, m, field, node, field->flags & PROTO_MAP ? "map" : "array");
	r = fit_elements(f, m, field, node);
	if (r == 0 && field->flags & PROTO_MAP)
		sort(node);
	return r;
}

/* The value that the server prints for an absent member; NULL: none. */
static struct api_node *
absent(const struct fit *f, const struct proto_field *field)
{
	if (field->flags & PROTO_GONE)
		return NULL;
	if (field->flags & (PROTO_POINTER | PROTO_REPEATED | PROTO_LIST) || field->type == PROTO_BYTES)
		return field->flags & PROTO_OMIT_EMPTY ? NULL : token(f->doc, API_NULL, "null");
	if (field->flags & (PROTO_DROP_ZERO | PROTO_OMIT_ZERO))
		return NULL;
	return zero(f, field);
}

/* The member of a field. The search begins behind *after: most members are in order. */
static struct api_node *
find(const struct api_node *object, const struct proto_field *field, struct api_node **after)
{
	struct api_node *begin = *after ? (*after)->next : object->child, *node = begin;
	size_t len = field->name_length - 3u;

	for (bool again = false;; node = node->next) {
		if (!node && (again || !*after))
			return NULL;
		if (!node) {
			again = true;
			node = object->child;
		}
		if (again && node == begin)
			return NULL;
		if (node->key_len == len && memcmp(node->key, field->name + 1, len) == 0)
			return *after = node;
	}
}

static int
collect(const struct fit *f, struct api_node *object, const struct proto_message *m, struct members *kept)
{
	struct api_node *after = NULL;
	int r = 0;

	for (unsigned i = 0; i < m->count && r == 0; i++) {
		const struct proto_field *field = &m->fields[i];
		struct api_node *node;

		if (field->flags & PROTO_INLINE) {
			r = collect(f, object, proto_schema_message(f->schema, field->message), kept);
			continue;
		}
		if (field->type == PROTO_CONSTANT) {
			node = api_new(f->doc, API_STRING);
			node->text = field->constant + 1;
			node->text_len = (uint32_t)strlen(field->constant) - 2;
		} else {
			node = find(object, field, &after);
			if (node && node->type != API_NULL)
				r = fit_member(f, m, field, node);
			/* an empty member counts as absent; a time may have become null */
			if (node &&
			    (node->type == API_NULL ||
			     (is_empty(field, node) && (field->flags & (PROTO_OMIT_EMPTY | PROTO_REPEATED)))))
				node = NULL;
			if (!node)
				node = absent(f, field);
		}
		if (!node)
			continue;
		if (kept->count == MEMBERS_MAX)
			return -EINVAL;
		node->key = field->name + 1;
		node->key_len = field->name_length - 3u;
		kept->at[kept->count++] = node;
	}
	return r;
}

static int
fit_message(const struct fit *f, struct api_node *object, const struct proto_message *m)
{
	struct members kept = {.count = 0};
	int r = collect(f, object, m, &kept);

	if (r == 0)
		link_up(object, kept.at, kept.count);
	return r;
}

int
sim_typed_fit(struct api_doc *doc, struct api_node *object, const struct proto_schema *schema,
	      const struct proto_message *message, char ret_why[SIM_TYPED_WHY])
{
	struct fit f = {doc, schema, ret_why};
	struct api_node *version = api_get(object, "apiVersion"), *kind = api_get(object, "kind");
	struct api_node *beside[] = {version, kind};
	int r;

	ret_why[0] = '\0';
	r = fit_message(&f, object, message);
	for (size_t i = 0; i < 2 && r == 0; i++) {
		if (!beside[i])
			continue;
		beside[i]->next = object->child;
		object->child = beside[i];
		if (!object->last)
			object->last = beside[i];
	}
	return r;
}
