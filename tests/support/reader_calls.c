/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that ask for the objects of reader_calls_fill(). An answer has the result and everything that the
 * call set. Of lent strings it has address and length only: their bytes may be gone a moment later.
 */
#include "tests/support/reader_calls.h"

#include "reader-lib/read/compiled_path.h"
#include "reader-lib/read/copy.h"
#include "tests/room.h"

#define PODS 20

enum path_number { NODE_NAME, IMAGE, PRIORITY, LABEL, NOWHERE, IMAGES, RATIO };
static const char *const path_texts[READER_PATHS] = {
	"spec.nodeName", "spec.containers[1].image", "spec.priority", "metadata.labels.app",
	"spec.nowhere",  "spec.containers[*].image", "spec.ratio"};

/* A step without which there can be no call. */
static void
must_be(int r, const char *what)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, informer_error_name(r));
	abort();
}
#define must(called) must_be(called, #called)

static int
open_snapshot(struct reader *r)
{
	return informer_begin(r->inf, &r->snap);
}

static int
look_up(struct reader *r)
{
	int e = open_snapshot(r);

	return e < 0 ? e : informer_get_z(&r->snap, r->pods, "ns-1", "web-1", &r->object);
}

static int
look_into(struct reader *r)
{
	int e = look_up(r);

	return e < 0 ? e : informer_object_value(&r->object, &r->value);
}

static void
close_snapshot(struct reader *r)
{
	informer_end(&r->snap);
}

static void
keep_object(struct reader_answer *a, int r, const struct informer_object *o)
{
	a->r = r;
	if (r >= 0) {
		a->words[0] = (uint64_t)(uintptr_t)o->snapshot_;
		a->words[1] = (uint64_t)(uintptr_t)o->object_;
		a->words[2] = o->ref_;
		a->words[3] = o->entry_;
	}
}

/* A lent string: its address and length. Its bytes may be gone a moment later. */
static void
keep_string(struct reader_answer *a, int r, const char *data, size_t length)
{
	a->r = r;
	if (r >= 0) {
		a->words[0] = (uint64_t)(uintptr_t)data;
		a->words[1] = length;
	}
}

static int
keep_text(void *context, const char *data, size_t length)
{
	struct reader_answer *a = context;

	for (size_t i = 0; i < length && a->length < ANSWER_TEXT; i++)
		a->text[a->length++] = data[i];
	return 0;
}

static void
begin(struct reader *r, struct reader_answer *a)
{
	a->r = informer_begin(r->inf, &r->snap);
}

static void
moment(struct reader *r, struct reader_answer *a)
{
	struct informer_moment m;

	a->r = informer_snapshot_moment(&r->snap, &m);
	if (a->r == 0) {
		memcpy(a->text, &m, sizeof(m));
		a->length = sizeof(m);
	}
}

/* The object comes last, as OBJECT_OF needs it. */
static int
find(const struct informer_snapshot *snapshot, struct informer_resource *pods, enum informer_by by,
     const char *value, size_t length, struct informer_object *ret)
{
	return informer_find(snapshot, pods, by, value, length, ret, NULL);
}

/* A call that finds an object. */
#define OBJECT_OF(name, function, ...)                                                                       \
	static void name(struct reader *r, struct reader_answer *a)                                          \
	{                                                                                                    \
		struct informer_object o;                                                                    \
                                                                                                             \
		keep_object(a, function(__VA_ARGS__, &o), &o);                                               \
	}
OBJECT_OF(get, informer_get_z, &r->snap, r->pods, "ns-1", "web-1")
OBJECT_OF(get_absent, informer_get_z, &r->snap, r->pods, "ns-1", "nobody")
OBJECT_OF(get_by_uid, informer_get_by_uid, &r->snap, r->pods, "u-3", 3)
OBJECT_OF(get_by_ip, informer_pod_by_ip, &r->snap, r->pods, "10.0.0.2", 8)
OBJECT_OF(find_deleted, find, &r->snap, r->pods, INFORMER_BY_KEY, "ns-0/gone", 9)
OBJECT_OF(find_deleted_by_uid, find, &r->snap, r->pods, INFORMER_BY_UID, "u-gone", 6)
OBJECT_OF(find_deleted_by_ip, find, &r->snap, r->pods, INFORMER_BY_IP, "10.0.0.60", 9)
OBJECT_OF(next, informer_next, &r->it)

static void
get_many(struct reader *r, struct reader_answer *a)
{
	const struct informer_key keys[] = {{"ns-1", 4, "web-1", 5}, {"ns-1", 4, "nobody", 6}};
	struct informer_object objects[2];
	size_t found = 0;

	keep_object(a, informer_get_many(&r->snap, r->pods, keys, 2, objects, &found), &objects[0]);
	a->words[4] = found;
}

static void
count(struct reader *r, struct reader_answer *a)
{
	a->r = informer_count_by_index(&r->snap, r->pods, "nodeName", "n1", 2, &a->words[0]);
}

static int
count_object(void *context, const struct informer_object *object)
{
	struct reader_answer *a = context;
	struct informer_deletion deletion = {.size = sizeof(deletion)};
	uint64_t wall = 0;
	int e = informer_object_deletion(object, &deletion);

	a->words[0]++;
	if (informer_object_deleted(object, &wall))
		a->words[1] += object->ref_;
	a->words[1] += e == 0 ? deletion.seq : 0;
	return e == INFORMER_E_NOT_FOUND ? 0 : e;
}

static void
each_deleted(struct reader *r, struct reader_answer *a)
{
	a->r = informer_each_deleted(&r->snap, r->pods, count_object, a);
}

static void
list(struct reader *r, struct reader_answer *a)
{
	a->r = informer_list(&r->snap, r->pods, &r->it);
}

static int
list_open(struct reader *r)
{
	struct informer_object o;
	int e = open_snapshot(r);

	if (e == 0)
		e = informer_list(&r->snap, r->pods, &r->it);
	for (unsigned i = 0; i < 2 && e >= 0; i++)
		e = informer_next(&r->it, &o);
	return e;
}

static int
index_open(struct reader *r)
{
	struct informer_object o;
	int e = open_snapshot(r);

	if (e == 0)
		e = informer_by_index(&r->snap, r->pods, "nodeName", "n1", 2, &r->it);
	return e < 0 ? e : informer_next(&r->it, &o);
}

static void
by_index(struct reader *r, struct reader_answer *a)
{
	struct informer_object o;

	a->r = informer_by_index(&r->snap, r->pods, "nodeName", "n1", 2, &r->it);
	if (a->r == 0)
		keep_object(a, informer_next(&r->it, &o), &o);
}

static void
select_by_label(struct reader *r, struct reader_answer *a)
{
	struct informer_object o;
	int e = informer_select(&r->snap, r->pods, "ns-1", 4, r->selector, &r->it);

	while (e == 0 && (e = informer_next(&r->it, &o)) > 0) {
		a->words[0]++;
		a->words[1] += o.ref_;
		e = 0;
	}
	a->r = e;
}

/* All changes, as feeds walk them. */
static void
changes(struct reader *r, struct reader_answer *a)
{
	const struct snapshot *s = snapshot_of(&r->snap);
	const struct resource_binding *b;
	struct found found;
	int e = resource_bind(s, r->pods, &b);

	if (e == 0)
		e = by_seq_start(&r->by_seq, s, b, 3);
	while (e >= 0 && (e = by_seq_next(&r->by_seq, &found)) > 0) {
		a->words[0]++;
		a->words[1] += found.ref ^ found.seq << 32;
		a->words[2] += found.gone;
	}
	a->r = snapshot_validate(s, e);
}

/* A call that lends a string of the object. */
#define STRING_OF(name, function, ...)                                                                       \
	static void name(struct reader *r, struct reader_answer *a)                                          \
	{                                                                                                    \
		const char *data;                                                                            \
		size_t length;                                                                               \
		int e = function(__VA_ARGS__, &data, &length);                                               \
                                                                                                             \
		keep_string(a, e, data, length);                                                             \
	}
STRING_OF(string_near, informer_get_string, &r->object, r->paths[NODE_NAME])
STRING_OF(string_far, informer_get_string, &r->object, r->paths[IMAGE])
STRING_OF(string_of_label, informer_get_string, &r->object, r->paths[LABEL])
STRING_OF(string_nowhere, informer_get_string, &r->object, r->paths[NOWHERE])
STRING_OF(name, informer_object_name, &r->object)
STRING_OF(namespace_, informer_object_namespace, &r->object)
STRING_OF(uid, informer_object_uid, &r->object)

static void
int_by_path(struct reader *r, struct reader_answer *a)
{
	int64_t n = 0;

	a->r = informer_get_int(&r->object, r->paths[PRIORITY], &n);
	a->words[0] = a->r == 0 ? (uint64_t)n : 0;
}

static void
double_by_path(struct reader *r, struct reader_answer *a)
{
	double n = 0;

	a->r = informer_get_double(&r->object, r->paths[RATIO], &n);
	if (a->r == 0)
		memcpy(&a->words[0], &n, sizeof(n));
}

static int
count_value(void *context, const struct informer_value *value)
{
	struct reader_answer *a = context;

	(void)value;
	a->words[0]++;
	return 0;
}

static void
each_value(struct reader *r, struct reader_answer *a)
{
	a->r = informer_each_value(&r->object, r->paths[IMAGES], count_value, a);
}

static void
key(struct reader *r, struct reader_answer *a)
{
	size_t length = 0;

	a->r = informer_object_key(&r->object, a->text, ANSWER_TEXT, &length);
	a->length = a->r == 0 ? length : 0;
}

/* A call that returns a number and has no code for "none". */
#define NUMBER_OF(name, call)                                                                                \
	static void name(struct reader *r, struct reader_answer *a)                                          \
	{                                                                                                    \
		a->words[0] = call;                                                                          \
		a->r = a->words[0] ? 0 : INFORMER_E_EXPIRED;                                                 \
	}
NUMBER_OF(seq, informer_object_seq(&r->object))
NUMBER_OF(created_seq, informer_object_created_seq(&r->object))
NUMBER_OF(kind, informer_value_kind(&r->value))
NUMBER_OF(value_count_, informer_value_count(&r->value))

static void
whole_copy(struct reader *r, struct reader_answer *a)
{
	a->r = informer_object_copy(r->inf, &r->object, &r->copy);
}

static void
filtered_copy(struct reader *r, struct reader_answer *a)
{
	a->r = object_copy_filtered(r->inf, &r->object, r->wanted, &r->copy);
}

/* The copy is private memory: its content is read after everything else. */
static void
read_copy(struct reader *r)
{
	if (r->answer->r == 0) {
		if (informer_object_to_json(&r->copy, keep_text, r->answer) < 0)
			r->answer->length = 0;
		informer_object_free(&r->copy);
	}
	close_snapshot(r);
}

static void
json(struct reader *r, struct reader_answer *a)
{
	a->r = informer_object_to_json(&r->object, keep_text, a);
	if (a->r < 0) /* earlier pieces do not count */
		a->length = 0;
}

static int
first_item(struct reader *r)
{
	int e = look_into(r);

	if (e == 0)
		e = informer_value_iterate(&r->value, &r->items);
	return e < 0 ? e : informer_value_next(&r->items);
}

static void
next_item(struct reader *r, struct reader_answer *a)
{
	a->r = informer_value_next(&r->items);
	if (a->r > 0) {
		a->words[0] = (uint64_t)(uintptr_t)r->items.key;
		a->words[1] = r->items.key_length;
	}
}

static void
label_matches(struct reader *r, struct reader_answer *a)
{
	a->r = informer_label_selector_matches(r->selector, &r->object);
}

static void
field_matches(struct reader *r, struct reader_answer *a)
{
	a->r = informer_field_selector_matches(r->fields, &r->object);
}

static void
info(struct reader *r, struct reader_answer *a)
{
	struct informer_resource_info i = {.size = sizeof(i)};

	a->r = informer_resource_info(&r->snap, r->pods, &i);
	if (a->r == 0) {
		a->words[0] = i.object_count;
		a->words[1] = i.index_count;
		a->words[2] = (uint64_t)(uintptr_t)i.resource;
		a->words[3] = i.resource_length;
		a->words[4] = i.short_name_count | (uint64_t)i.namespaced << 32 | (uint64_t)i.synced << 33;
		a->words[5] = i.resource_version_length;
	}
}

/* Forget the resource's definition, as before the first lookup. */
static int
forget_resource(struct reader *r)
{
	if (r->answer->anew) {
		atomic_store(&r->pods->binding, NULL);
		while (r->pods->bindings) {
			struct resource_binding *b = r->pods->bindings;

			r->pods->bindings = b->next;
			allocator_put(&r->inf->memory, b);
		}
		definitions_free(r->inf, &r->inf->resources->definitions);
	}
	return open_snapshot(r);
}

void
reader_forget_shapes(struct reader *r)
{
	for (unsigned i = 0; i < READER_PATHS; i++)
		for (unsigned n = 0; n < r->paths[i]->path.count; n++)
			memset(&r->paths[i]->path.steps[n].memo, 0, sizeof(struct value_memo));
}

/* Forget the shapes that paths have met, as before their first use. */
static int
forget_shapes(struct reader *r)
{
	if (r->answer->anew)
		reader_forget_shapes(r);
	return look_up(r);
}

static void
verify(struct reader *r, struct reader_answer *a)
{
	struct informer_verify_counts counts = {0};

	a->r = informer_verify(&r->snap, NULL, NULL, &counts);
	a->words[0] = a->r == 0 ? counts.blocks : 0;
	a->words[1] = a->r == 0 ? counts.faults : 0;
}

#define EXPIRED INFORMER_E_EXPIRED
const struct reader_call reader_calls[] = {
	{"begin", NULL, begin, close_snapshot, INFORMER_E_NOT_READY, false, false},
	{"moment", open_snapshot, moment, close_snapshot, EXPIRED, false, false},
	{"get", open_snapshot, get, close_snapshot, EXPIRED, false, false},
	{"get, verifying", open_snapshot, get, close_snapshot, EXPIRED, true, false},
	{"get of an absent one", open_snapshot, get_absent, close_snapshot, EXPIRED, false, false},
	{"get of many", open_snapshot, get_many, close_snapshot, EXPIRED, false, false},
	{"get by uid", open_snapshot, get_by_uid, close_snapshot, EXPIRED, false, false},
	{"get by address", open_snapshot, get_by_ip, close_snapshot, EXPIRED, false, false},
	{"get for the first time", forget_resource, get_by_uid, close_snapshot, EXPIRED, false, true},
	{"count by index", open_snapshot, count, close_snapshot, EXPIRED, false, false},
	{"find a deleted one", open_snapshot, find_deleted, close_snapshot, EXPIRED, false, false},
	{"find a deleted one by uid", open_snapshot, find_deleted_by_uid, close_snapshot, EXPIRED, false,
	 false},
	{"find a deleted one by address", open_snapshot, find_deleted_by_ip, close_snapshot, EXPIRED, false,
	 false},
	{"each deleted one", open_snapshot, each_deleted, close_snapshot, EXPIRED, false, false},
	{"list", open_snapshot, list, close_snapshot, EXPIRED, false, false},
	{"next of a list", list_open, next, close_snapshot, EXPIRED, false, false},
	{"first of an index", open_snapshot, by_index, close_snapshot, EXPIRED, false, false},
	{"next of an index", index_open, next, close_snapshot, EXPIRED, false, false},
	{"select by label", open_snapshot, select_by_label, close_snapshot, EXPIRED, false, false},
	{"changes", open_snapshot, changes, close_snapshot, EXPIRED, false, false},
	{"string in the header", look_up, string_near, close_snapshot, EXPIRED, false, false},
	{"string by path", look_up, string_far, close_snapshot, EXPIRED, false, false},
	{"string of a label", look_up, string_of_label, close_snapshot, EXPIRED, false, false},
	{"string for the first time", forget_shapes, string_far, close_snapshot, EXPIRED, false, false},
	{"string that is not there", look_up, string_nowhere, close_snapshot, EXPIRED, false, false},
	{"integer by path", look_up, int_by_path, close_snapshot, EXPIRED, false, false},
	{"number by path", look_up, double_by_path, close_snapshot, EXPIRED, false, false},
	{"each value", look_up, each_value, close_snapshot, EXPIRED, false, false},
	{"key", look_up, key, close_snapshot, EXPIRED, false, false},
	{"name", look_up, name, close_snapshot, EXPIRED, false, false},
	{"namespace", look_up, namespace_, close_snapshot, EXPIRED, false, false},
	{"uid", look_up, uid, close_snapshot, EXPIRED, false, false},
	{"seq", look_up, seq, close_snapshot, EXPIRED, false, false},
	{"created seq", look_up, created_seq, close_snapshot, EXPIRED, false, false},
	{"kind of a value", look_into, kind, close_snapshot, EXPIRED, false, false},
	{"count of a value", look_into, value_count_, close_snapshot, EXPIRED, false, false},
	{"next of a value", first_item, next_item, close_snapshot, EXPIRED, false, false},
	{"whole copy", look_up, whole_copy, read_copy, EXPIRED, false, false},
	{"filtered copy", look_up, filtered_copy, read_copy, EXPIRED, false, false},
	{"JSON", look_up, json, close_snapshot, EXPIRED, false, false},
	{"match of labels", look_up, label_matches, close_snapshot, EXPIRED, false, false},
	{"match of fields", look_up, field_matches, close_snapshot, EXPIRED, false, false},
	{"info of a resource", open_snapshot, info, close_snapshot, EXPIRED, false, false},
	{"verify", open_snapshot, verify, close_snapshot, EXPIRED, true, true},
};
const size_t reader_calls_count = sizeof(reader_calls) / sizeof(reader_calls[0]);

/* ---- what is there ---- */

static const char pod[] =
	"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns-%d\",\"uid\":\"u-%s\",\"resourceVersion\":\"%d\","
	"\"labels\":{\"app\":\"web\",\"tier\":\"t%d\"},\"annotations\":{\"users\":\"ernie,bert\","
	"\"long\":\"%d-0123456789012345678901234567890123456789012345678901234567890123456789\"}},"
	"\"spec\":{\"nodeName\":\"n1\",\"priority\":-70000,\"ratio\":0.25,\"hostNetwork\":false,"
	"\"containers\":[{\"name\":\"c\",\"image\":\"i%d\"},{\"name\":\"d\",\"image\":\"registry/d:1\"%s}]},"
	"\"status\":{\"phase\":\"Running\",\"podIPs\":[{\"ip\":\"10.0.0.%d\"}]}}";

static void
put_pod(struct store_fixture *fx, const char *pod_name, int i, const char *more)
{
	const char *dash = strchr(pod_name, '-');

	assert_int_equal(store_fixture_putf(fx, pod, pod_name, i % 3, dash ? dash + 1 : pod_name, i + 100,
					    i % 2, i, i, more, i),
			 0);
}

void
reader_calls_fill(struct store_fixture *fx)
{
	char pod_name[16];

	for (int i = 0; i < PODS; i++) {
		snprintf(pod_name, sizeof(pod_name), "web-%d", i);
		put_pod(fx, pod_name, i, "");
	}
	put_pod(fx, "gone", 60, "");
	put_pod(fx, "lost", 1, "");
	assert_int_equal(store_commit(fx->store), 0);
	assert_int_equal(store_fixture_delete(fx, "ns-0", "gone"), 0);
	assert_int_equal(store_fixture_lose(fx, "ns-1", "lost"), 0);
	/* a shape of its own, on another page than its names */
	put_pod(fx, "web-1", 1, ",\"later\":true");
	assert_int_equal(store_set_version(fx->store, fx->pods, "1000", 4), 0);
	store_set_state(fx->store, fx->pods, RESOURCE_SYNCED);
	assert_int_equal(store_commit(fx->store), 0);
}

/* ---- the reader ---- */

void
reader_ready(struct reader *r, struct informer *inf)
{
	static const char labels[] = "app=web,tier in (t0,t1)";
	static const char fields[] = "spec.priority=-70000,status.phase!=Failed";
	static const char *const keep[] = {"metadata.labels", "spec.containers[*].image"};

	r->inf = inf;
	must(informer_resource_open(inf, "pods", &r->pods));
	for (unsigned i = 0; i < READER_PATHS; i++)
		must(informer_path_compile(inf, path_texts[i], strlen(path_texts[i]), &r->paths[i]));
	must(informer_label_selector_compile(inf, labels, strlen(labels), &r->selector, NULL));
	must(informer_field_selector_compile(inf, fields, strlen(fields), &r->fields));
	must(path_set_compile(inf, keep, 2, NULL, 0, &r->wanted));
}

void
reader_done(struct reader *r)
{
	for (unsigned i = 0; i < READER_PATHS; i++)
		informer_path_free(r->paths[i]);
	informer_label_selector_free(r->selector);
	informer_field_selector_free(r->fields);
	path_set_free(r->inf, r->wanted);
}

bool
reader_answer_same(const struct reader_answer *a, const struct reader_answer *b)
{
	return a->r == b->r && a->length == b->length && memcmp(a->words, b->words, sizeof(a->words)) == 0 &&
	       memcmp(a->text, b->text, a->length) == 0;
}
