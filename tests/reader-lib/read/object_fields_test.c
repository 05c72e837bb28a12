/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of objects and values, read as an agent reads them. */
#include "tests/room.h"
#include "tests/support/dispatch.h"
#include "tests/support/reader_world.h"

/* As the API server sends it; the output must equal this. */
static const char pod[] =
	"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-0\",\"namespace\":\"default\","
	"\"uid\":\"u-1\",\"resourceVersion\":\"77\",\"labels\":{\"app\":\"web\","
	"\"a.b/c\":\"d\"},\"annotations\":{\"a.b/c\":\"e\",\"odd\":1},\"ownerReferences\":["
	"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\"},{\"apiVersion\":\"apps/v1\","
	"\"kind\":\"ReplicaSet\",\"name\":\"web\",\"uid\":\"u-2\",\"controller\":true,"
	"\"blockOwnerDeletion\":true},3]},\"spec\":{\"nodeName\":\"n1\",\"hostNetwork\":false,"
	"\"priority\":-5,\"big\":18446744073709551615,\"huge\":1e999,\"ratio\":0.25,"
	"\"nothing\":null,\"none\":{},\"empty\":[],\"containers\":[{\"name\":\"c1\","
	"\"image\":\"i1\"},{\"name\":\"c2\",\"image\":\"i2\"}]},"
	"\"text\":\"\\u0000\xc3\xa4\\n\"}";

static int
set_up(void **state)
{
	struct reader_world *w = reader_world_of((const char *const[]){pod, NULL}, 0);

	reader_world_look(w, "web-0", &w->pod);
	*state = w;
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

TEST(an_object_has_namespace_name_uid_and_version)
{
	const char *data;
	size_t length;

	ASSERT_TEXT(informer_object_namespace(&w->pod, &data, &length), "default");
	ASSERT_TEXT(informer_object_name(&w->pod, &data, &length), "web-0");
	ASSERT_TEXT(informer_object_uid(&w->pod, &data, &length), "u-1");
	ASSERT_TEXT(informer_object_resource_version(&w->pod, &data, &length), "77");
	assert_true(informer_object_seq(&w->pod) > 0);
	assert_int_equal(informer_object_seq(&w->pod), informer_object_created_seq(&w->pod));
	assert_int_equal(informer_object_seq(NULL), 0);
}

static void
assert_owner(struct informer_owner o, const char *expected)
{
	char text[128];

	snprintf(text, sizeof(text), "%.*s %.*s %.*s %.*s%s%s", (int)o.api_version.length, o.api_version.data,
		 (int)o.kind.length, o.kind.data, (int)o.name.length, o.name.data, (int)o.uid.length,
		 o.uid.data, o.controller ? " controls" : "", o.block_owner_deletion ? " blocks" : "");
	assert_string_equal(text, expected);
}

/* Labels, annotations and owners are read by name; absent values and other types have their own codes. */
TEST(labels_annotations_and_owners_are_read_by_name)
{
	const char *bare[] = {"{\"metadata\":{\"name\":\"bare\",\"namespace\":\"default\"}}", NULL};
	struct informer_owner owner;
	const char *data;
	size_t length;

	ASSERT_TEXT(informer_object_label(&w->pod, "a.b/c", &data, &length), "d");
	ASSERT_TEXT(informer_object_annotation(&w->pod, "a.b/c", &data, &length), "e");
	assert_int_equal(informer_object_label(&w->pod, "odd", &data, &length), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_object_annotation(&w->pod, "odd", &data, &length), INFORMER_E_TYPE);
	assert_int_equal(informer_object_label(&w->pod, NULL, &data, &length), -EINVAL);
	assert_int_equal(informer_object_owner(&w->pod, 0, &owner), 0);
	assert_owner(owner, "v1 Node n1 ");
	assert_int_equal(informer_object_owner(&w->pod, 2, &owner), 0);
	assert_owner(owner, "   ");
	assert_int_equal(informer_object_owner(&w->pod, 3, &owner), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_object_controller(&w->pod, NULL), -EINVAL);
	assert_int_equal(informer_object_controller(&w->pod, &owner), 0);
	assert_owner(owner, "apps/v1 ReplicaSet web u-2 controls blocks");
	broker_fixture_put(w->fx, bare);
	reader_world_renew(w);
	reader_world_look(w, "bare", &w->other);
	assert_int_equal(informer_object_controller(&w->other, &owner), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_object_label(&w->other, "app", &data, &length), INFORMER_E_NOT_FOUND);
}

/* The text of a path gives the same string as the compiled path. */
TEST(a_string_is_read_by_the_text_of_its_path)
{
	const char *data;
	size_t length;

	ASSERT_TEXT(informer_get_string_at(&w->pod, "spec.nodeName", &data, &length), "n1");
	ASSERT_TEXT(informer_get_string_at(&w->pod, "metadata.labels[\"a.b/c\"]", &data, &length), "d");
	ASSERT_TEXT(informer_get_string_at(&w->pod, "spec.containers[1].image", &data, &length), "i2");
	assert_int_equal(informer_get_string_at(&w->pod, "spec.nowhere", &data, &length),
			 INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_get_string_at(&w->pod, "spec.priority", &data, &length), INFORMER_E_TYPE);
	assert_int_equal(informer_get_string_at(&w->pod, "spec[", &data, &length), INFORMER_E_SYNTAX);
	assert_error_text(INFORMER_E_SYNTAX, "path 'spec[', at byte");
	assert_int_equal(informer_get_string_at(&w->pod, NULL, &data, &length), -EINVAL);
}

/* A uid too long for the object's header is in the body; a resourceVersion that is no string is absent. */
TEST_CASE(a_long_uid_is_read_as_well)
{
	char text[600], uid[300];
	struct reader_world *w;
	const char *data;
	size_t length;
	int r;

	memset(uid, 'u', sizeof(uid));
	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"web-0\",\"namespace\":\"default\","
		 "\"uid\":\"%.*s\",\"resourceVersion\":77}}",
		 (int)sizeof(uid), uid);
	w = reader_world_of((const char *const[]){text, NULL}, 0);
	reader_world_look(w, "web-0", &w->pod);
	r = informer_object_uid(&w->pod, &data, &length);
	assert_int_equal(r, 0);
	assert_int_equal(length, sizeof(uid));
	assert_memory_equal(data, uid, sizeof(uid));
	assert_int_equal(informer_object_resource_version(&w->pod, &data, &length), INFORMER_E_NOT_FOUND);
	reader_world_tear_down((void **)&w);
}

/* A field is read by its path, only as its own type; an absent field is NOT_FOUND. */
TEST(fields_are_read_by_path_and_kind)
{
	struct informer_path *paths[10];
	const char *data;
	size_t length;
	int64_t n = 0;
	double d = 0;
	bool b = true;

	paths[0] = reader_world_path(w, "spec.nodeName");
	paths[1] = reader_world_path(w, ".spec.priority");
	paths[2] = reader_world_path(w, "{.spec.hostNetwork}");
	paths[3] = reader_world_path(w, "spec.containers[*].image");
	paths[4] = reader_world_path(w, "metadata.labels[\"a.b/c\"]");
	paths[5] = reader_world_path(w, "spec.absent.deep");
	paths[6] = reader_world_path(w, "spec.big");
	paths[7] = reader_world_path(w, "metadata.name");
	paths[8] = reader_world_path(w, "metadata.uid");
	paths[9] = reader_world_path(w, "metadata.resourceVersion");
	ASSERT_TEXT(informer_get_string(&w->pod, paths[0], &data, &length), "n1");
	assert_int_equal(informer_get_int(&w->pod, paths[1], &n), 0);
	assert_int_equal(n, -5);
	assert_int_equal(informer_get_double(&w->pod, paths[1], &d), 0);
	assert_true(d == -5);
	assert_int_equal(informer_get_bool(&w->pod, paths[2], &b), 0);
	assert_false(b);
	ASSERT_TEXT(informer_get_string(&w->pod, paths[8], &data, &length), "u-1");
	ASSERT_TEXT(informer_get_string(&w->pod, paths[9], &data, &length), "77");
	ASSERT_TEXT(informer_get_string(&w->pod, paths[3], &data, &length), "i1");
	ASSERT_TEXT(informer_get_string(&w->pod, paths[4], &data, &length), "d");
	ASSERT_TEXT(informer_get_string(&w->pod, paths[7], &data, &length), "web-0");
	assert_int_equal(informer_get_string(&w->pod, paths[5], &data, &length), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_get_string(&w->pod, paths[1], &data, &length), INFORMER_E_TYPE);
	assert_int_equal(informer_get_int(&w->pod, paths[0], &n), INFORMER_E_TYPE);
	assert_int_equal(informer_get_bool(&w->pod, paths[0], &b), INFORMER_E_TYPE);
	assert_int_equal(informer_get_int(&w->pod, paths[6], &n), -ERANGE);
	assert_int_equal(informer_get_string(&w->pod, NULL, &data, &length), -EINVAL);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		informer_path_free(paths[i]);
	informer_path_free(NULL);
}

TEST(a_bad_path_is_refused_with_its_place)
{
	struct informer_path *path;
	char text[256];

	assert_int_equal(informer_path_compile(w->inf, "spec..x", 7, &path), INFORMER_E_SYNTAX);
	assert_error_text(INFORMER_E_SYNTAX, "spec..x");
	assert_error_text(INFORMER_E_SYNTAX, "at byte 5");
	assert_int_equal(informer_error_text(INFORMER_E_SYNTAX, text, 3),
			 informer_error_text(INFORMER_E_SYNTAX, NULL, 0));
	assert_int_equal(strlen(text), 2);
}

static int
join(void *context, const struct informer_value *value)
{
	const char *data;
	size_t length;
	int r = informer_value_string(value, &data, &length);

	strncat(context, data, length);
	return r;
}

static int
stop_at_once(void *context, const struct informer_value *value)
{
	(void)value;
	++*(int *)context;
	return 42;
}

/* A path with [*] visits every hit in order; the callback can stop the visit. */
TEST(every_hit_of_a_path_is_visited)
{
	struct informer_path *path = reader_world_path(w, "spec.containers[*].image");
	char text[32] = "";
	int calls = 0;

	assert_int_equal(informer_each_value(&w->pod, path, join, text), 0);
	assert_string_equal(text, "i1i2");
	assert_int_equal(informer_each_value(&w->pod, path, stop_at_once, &calls), 42);
	assert_int_equal(calls, 1);
	informer_path_free(path);
}

/* Values are walked by field, element and step, and each has its kind. */
TEST(values_are_walked)
{
	static const struct {
		const char *field;
		enum informer_kind kind;
	} kinds[] = {
		{"nodeName", INFORMER_STRING},  {"hostNetwork", INFORMER_BOOL}, {"priority", INFORMER_INT},
		{"big", INFORMER_UINT},         {"huge", INFORMER_NUMBER},      {"ratio", INFORMER_DOUBLE},
		{"nothing", INFORMER_NULL},     {"none", INFORMER_OBJECT},      {"empty", INFORMER_ARRAY},
		{"containers", INFORMER_ARRAY},
	};
	struct informer_value root, spec, v, none = {{0}};
	struct informer_value_iter it;
	const char *data;
	size_t length;
	uint64_t u;
	unsigned i = 0;
	int r;

	assert_int_equal(informer_object_value(&w->pod, &root), 0);
	assert_int_equal(informer_value_kind(&root), INFORMER_OBJECT);
	assert_int_equal(informer_value_field(&root, "spec", 4, &spec), 0);
	assert_int_equal(informer_value_count(&spec), 10);
	informer_value_iterate(&spec, &it);
	while ((r = informer_value_next(&it)) > 0) {
		assert_text(0, it.key, it.key_length, kinds[i].field);
		assert_int_equal(informer_value_kind(&it.item), kinds[i].kind);
		i++;
	}
	assert_int_equal(r, 0);
	assert_int_equal(informer_value_next(&it), 0);
	assert_int_equal(i, 10);
	assert_int_equal(informer_value_field(&spec, "big", 3, &v), 0);
	assert_int_equal(informer_value_uint(&v, &u), 0);
	assert_true(u == UINT64_MAX);
	assert_int_equal(informer_value_field(&spec, "huge", 4, &v), 0);
	ASSERT_TEXT(informer_value_string(&v, &data, &length), "1e999");
	assert_int_equal(informer_value_field(&spec, "containers", 10, &v), 0);
	assert_int_equal(informer_value_count(&v), 2);
	assert_int_equal(informer_value_element(&v, 1, &v), 0);
	assert_int_equal(informer_value_field(&v, "name", 4, &v), 0);
	ASSERT_TEXT(informer_value_string(&v, &data, &length), "c2");
	assert_int_equal(informer_value_field(&v, "x", 1, &v), INFORMER_E_TYPE);
	assert_int_equal(informer_value_field(&spec, "x", 1, &v), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_value_element(&spec, 0, &v), INFORMER_E_TYPE);
	assert_int_equal(informer_value_kind(&none), INFORMER_NONE);
	assert_int_equal(informer_value_field(&none, "x", 1, &v), INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_value_iterate(&none, &it), INFORMER_E_NOT_FOUND);
	/* an embedded U+0000 is a character like others */
	assert_int_equal(informer_value_field(&root, "text", 4, &v), 0);
	assert_int_equal(informer_value_string(&v, &data, &length), 0);
	assert_int_equal(length, 4);
	assert_memory_equal(data, "\0\xc3\xa4\n", 4);
}

static int
fail_at_once(void *context, const char *data, size_t length)
{
	(void)context;
	(void)data;
	(void)length;
	return 7;
}

/* A buffer too small gets the part that fits, and the whole length is returned. */
TEST(an_object_comes_out_as_the_json_that_came_in)
{
	char text[2048], small[10];
	size_t length, again;

	assert_int_equal(informer_object_json(&w->pod, text, sizeof(text), &length), 0);
	assert_int_equal(strlen(text), length);
	/* the input has no white space, and only needed escapes */
	assert_string_equal(text, pod);
	assert_int_equal(informer_object_json(&w->pod, small, sizeof(small), &again), 0);
	assert_int_equal(again, length);
	assert_int_equal(strlen(small), 9);
	assert_memory_equal(small, text, 9);
	assert_int_equal(informer_object_json(&w->pod, NULL, 0, &again), 0);
	assert_int_equal(again, length);
	assert_int_equal(informer_object_to_json(&w->pod, fail_at_once, NULL), 7);
}
