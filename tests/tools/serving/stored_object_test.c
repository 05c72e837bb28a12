/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as texts: which parts are taken out, and damaged texts. */
#include "tests/tools/serving/made_object.h"
#include "tools/serving/proto_object.h"

#define HEAD "{\"kind\":\"Lease\",\"apiVersion\":\"v1\","

static const struct api_resource resource = {
	.group = "", .plural = "leases", .namespaced = true, .head = HEAD, .head_len = sizeof(HEAD) - 1};

static struct api_object *
make(const char *text)
{
	struct api_object *object = made_object(&resource, text);

	sim_object_stamp(object, 7);
	return object;
}

static void
expect_bare(const char *text, const char *bare_text)
{
	struct api_object *object = make(text), *bare = api_object_bare(object);
	struct api_buf printed = {0};
	char *metadata;

	api_object_print(&resource, bare, 1234, &printed);
	assert_string_equal(printed.data, bare_text);
	metadata = strndup(bare->text + bare->meta_at, bare->meta_len);
	assert_non_null(strstr(bare_text, "\"metadata\":{"));
	assert_int_equal(metadata[0], '{');
	assert_int_equal(metadata[bare->meta_len - 1], '}');
	assert_string_equal(bare->key, "default/a");
	assert_string_equal(api_object_name(bare), "a");
	assert_string_equal(api_object_label(bare, "app") ? api_object_label(bare, "app") : "", "x");
	free(metadata);
	api_buf_done(&printed);
	api_object_unref(bare);
	api_object_unref(object);
}

#define NAME "\"name\":\"a\",\"namespace\":\"default\""
#define APP "\"labels\":{\"app\":\"x\"}"
#define MANAGED "\"managedFields\":[{\"manager\":\"a,}\\\"]\",\"fieldsV1\":{\"f:spec\":{}}}]"

/* Managed fields are left out wherever they are in metadata. The rest is unchanged. */
TEST_CASE(managed_fields_are_left_out)
{
	expect_bare("{\"metadata\":{" NAME ",\"resourceVersion\":\"1\"," APP "," MANAGED
		    "},\"spec\":{\"a\":1}}",
		    HEAD "\"metadata\":{" NAME ",\"resourceVersion\":\"1234\"," APP "},\"spec\":{\"a\":1}}");
	expect_bare("{\"spec\":{\"a\":1},\"metadata\":{" MANAGED "," NAME ",\"resourceVersion\":\"1\"," APP
		    "}}",
		    HEAD "\"spec\":{\"a\":1},\"metadata\":{" NAME ",\"resourceVersion\":\"1234\"," APP "}}");
	expect_bare("{\"metadata\":{" NAME "," MANAGED "," APP ",\"resourceVersion\":\"1\"}}",
		    HEAD "\"metadata\":{" NAME "," APP ",\"resourceVersion\":\"1234\"}}");
}

/* Other members named managedFields stay. An object without managed fields is returned as it is. */
TEST_CASE(other_members_of_that_name_stay)
{
	struct api_object *object = make("{\"metadata\":{" NAME
					 ",\"resourceVersion\":\"1\",\"annotations\":{" MANAGED "}},"
					 "\"spec\":{" MANAGED "}}");
	struct api_object *bare = api_object_bare(object);

	assert_ptr_equal(bare, object);
	api_object_unref(bare);
	api_object_unref(object);
}

/* A time that its type would refuse does not end the program: upstream may have accepted it. */
TEST_CASE(a_time_out_of_range_is_printed_unchanged)
{
	expect_bare("{\"metadata\":{" NAME ",\"resourceVersion\":\"1\"," APP "," MANAGED "},"
		    "\"spec\":{\"renewTime\":\"9999-12-31T23:59:59-10:00\"}}",
		    HEAD "\"metadata\":{" NAME ",\"resourceVersion\":\"1234\"," APP "},"
			 "\"spec\":{\"renewTime\":\"9999-12-31T23:59:59-10:00\"}}");
}

/* A text that is no JSON comes of damaged memory. It is still a row, and its protobuf message is empty. */
TEST_CASE(a_damaged_text_is_an_empty_object)
{
	struct api_object *object = make("{\"metadata\":{" NAME ",\"resourceVersion\":\"1\"}}");
	const struct api_shape table = {.kind = API_TABLE, .version = "v1", .rows = API_ROW_NONE},
			       partial = {.kind = API_PARTIAL, .version = "v1"};

	for (size_t at = 0; at < object->text_len; at++) {
		_cleanup_(api_buf_done) struct api_buf row = {0}, message = {0};
		char before = object->text[at];

		object->text[at] = '\xff';
		api_table_row(&table, &resource, object, 0, &row);
		assert_memory_equal(row.data, "{\"cells\":[\"", 11);
		api_proto_object(&partial, &resource, object, 0, &message);
		assert_int_equal(message.len, 0);
		api_object_unref(api_object_bare(object));
		object->text[at] = before;
	}
	api_object_unref(object);
}
