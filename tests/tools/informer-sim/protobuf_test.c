/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf bodies of typed clients become the equal JSON. Unknown fields are refused. No bytes do harm. */
#include "tests/room.h"
#include "tools/informer-sim/protobuf.h"
#include "tools/serving/proto_document.h"
#include "tools/serving/proto_encode.h"

/* Fields of a message that is being built. */
static void
add_varint(struct api_buf *buf, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		api_buf_put(buf, &(char){(char)(value | 0x80)}, 1);
	api_buf_put(buf, &(char){(char)value}, 1);
}

static void
add_int(struct api_buf *buf, unsigned number, int64_t value)
{
	add_varint(buf, number << 3);
	add_varint(buf, (uint64_t)value);
}

/* Frees the inner message. */
static void
add_message(struct api_buf *buf, unsigned number, struct api_buf *inner)
{
	api_proto_bytes(buf, number, inner->data ? inner->data : "", inner->len);
	api_buf_done(inner);
	*inner = (struct api_buf){0};
}

static void
add_entry(struct api_buf *buf, unsigned number, const char *key, const char *value)
{
	struct api_buf entry = {0};

	api_proto_text(&entry, 1, key);
	api_proto_text(&entry, 2, value);
	add_message(buf, number, &entry);
}

/* The document of a message, which is freed. */
static struct api_buf
wrapped(const char *api_version, const char *kind, struct api_buf *raw)
{
	struct api_buf body = {0};

	api_proto_wrap(&body, api_version, kind, raw);
	api_buf_done(raw);
	*raw = (struct api_buf){0};
	return body;
}

static void
expect_json(struct api_buf *body, const char *json)
{
	struct api_buf out = {0};
	char why[200] = "";

	if (sim_protobuf_json(body->data, body->len, &out, why) < 0)
		fail_msg("refused: %s", why);
	assert_string_equal(out.data, json);
	api_buf_done(&out);
	api_buf_done(body);
}

static void
expect_refused(struct api_buf *body, int code, const char *part)
{
	struct api_buf out = {0};
	char why[200] = "";

	assert_int_equal(sim_protobuf_json(body->data, body->len, &out, why), code);
	if (!strstr(why, part))
		fail_msg("'%s' is not in: %s", part, why);
	api_buf_done(&out);
	api_buf_done(body);
}

/* metadata with a name, and the empty fields that Go writes */
static void
add_metadata(struct api_buf *object, const char *name)
{
	struct api_buf meta = {0}, never = {0};

	api_proto_text(&meta, 1, name);
	api_proto_text(&meta, 2, "");
	api_proto_text(&meta, 4, "");
	add_int(&meta, 7, 0);
	add_message(&meta, 8, &never);
	add_message(object, 1, &meta);
}

/* A deployment as kubectl sends it, with zeros behind pointers, and port names beside numbers. */
static struct api_buf
deployment(void)
{
	struct api_buf object = {0}, spec = {0}, selector = {0}, template = {0}, pod = {0}, container = {0},
		       strategy = {0}, rolling = {0}, value = {0}, limits = {0}, entry = {0}, quantity = {0},
		       status = {0};

	add_metadata(&object, "web");
	add_int(&spec, 1, 0);
	add_entry(&selector, 1, "app", "web");
	add_entry(&selector, 1, "quote", "\"");
	add_message(&spec, 2, &selector);
	api_proto_text(&container, 1, "c");
	api_proto_text(&container, 2, "nginx");
	api_proto_text(&container, 3, "sleep");
	api_proto_text(&container, 3, "");
	api_proto_text(&container, 5, "");
	api_proto_text(&quantity, 1, "500m");
	api_proto_text(&entry, 1, "cpu");
	add_message(&entry, 2, &quantity);
	add_message(&limits, 1, &entry);
	add_message(&container, 8, &limits);
	add_int(&container, 16, 0);
	add_int(&container, 18, 1);
	add_message(&pod, 2, &container);
	api_proto_text(&pod, 3, "");
	add_int(&pod, 4, 30);
	add_int(&pod, 11, 0);
	add_metadata(&template, "");
	add_message(&template, 2, &pod);
	add_message(&spec, 3, &template);
	add_int(&value, 1, 1);
	add_int(&value, 2, 0);
	api_proto_text(&value, 3, "25%");
	add_message(&rolling, 1, &value);
	add_int(&value, 1, 0);
	add_int(&value, 2, -1);
	api_proto_text(&value, 3, "");
	add_message(&rolling, 2, &value);
	add_message(&strategy, 2, &rolling);
	add_message(&spec, 4, &strategy);
	add_message(&object, 2, &spec);
	add_int(&status, 2, 0);
	add_message(&object, 3, &status);
	return wrapped("apps/v1", "Deployment", &object);
}

/* All types of fields become JSON. Empty fields are left out as Go does, a pointer to 0 is kept. */
TEST_CASE(a_body_becomes_its_json)
{
	struct api_buf body = deployment(), object = {0}, time = {0}, meta = {0};

	expect_json(&body, "{\"kind\":\"Deployment\",\"apiVersion\":\"apps/"
			   "v1\",\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":0,"
			   "\"selector\":{\"matchLabels\":{\"app\":\"web\",\"quote\":\"\\\"\"}},\"template\":"
			   "{\"metadata\":{},\"spec\":{\"containers\":"
			   "[{\"name\":\"c\",\"image\":\"nginx\",\"command\":[\"sleep\",\"\"],\"resources\":{"
			   "\"limits\":{\"cpu\":\"500m\"}},\"tty\":true}],"
			   "\"terminationGracePeriodSeconds\":30}},\"strategy\":{\"rollingUpdate\":{"
			   "\"maxUnavailable\":\"25%\",\"maxSurge\":-1}}}}");

	add_metadata(&object, "s");
	add_entry(&object, 2, "key", "\x01\xff");
	api_proto_text(&object, 3, "Opaque");
	body = wrapped("v1", "Secret", &object);
	expect_json(&body, "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"s\"},"
			   "\"data\":{\"key\":\"Af8=\"},\"type\":\"Opaque\"}");

	api_proto_text(&meta, 1, "n");
	add_int(&time, 1, 1700000000);
	add_int(&time, 2, 0);
	add_message(&meta, 8, &time);
	add_message(&object, 1, &meta);
	body = wrapped("v1", "Namespace", &object);
	expect_json(&body, "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n\","
			   "\"creationTimestamp\":\"2023-11-14T22:13:20Z\"}}");
}

/* An unknown kind or field is refused by name. An empty unknown field loses nothing and is accepted. */
TEST_CASE(an_unknown_field_is_refused_by_name)
{
	struct api_buf object = {0}, spec = {0}, body;

	add_metadata(&object, "q");
	body = wrapped("v1", "ResourceQuota", &object);
	expect_refused(&body, -EOPNOTSUPP, "protobuf ResourceQuota");
	add_metadata(&object, "p");
	api_proto_text(&spec, 18, "an affinity");
	add_message(&object, 2, &spec);
	body = wrapped("v1", "Pod", &object);
	expect_refused(&body, -EOPNOTSUPP, "field 18 of a protobuf PodSpec");
	add_metadata(&object, "p");
	api_proto_text(&spec, 18, "");
	add_message(&object, 2, &spec);
	body = wrapped("v1", "Pod", &object);
	expect_json(&body,
		    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\"},\"spec\":{}}");
	api_buf_puts(&body, "{\"kind\":\"Pod\"}");
	expect_refused(&body, -EPROTO, "no protobuf message");
}

/* Read a copy of so many bytes with nothing behind it; flip: the bit to invert, or SIZE_MAX. */
static void
read_copy(const struct api_buf *body, size_t length, size_t flip)
{
	char *copy = malloc(length ? length : 1), why[200];
	struct api_buf out = {0};

	assert_non_null(copy);
	memcpy(copy, body->data, length);
	if (flip < length * 8)
		copy[flip / 8] = (char)(copy[flip / 8] ^ 1 << flip % 8);
	sim_protobuf_json(copy, length, &out, why);
	api_buf_done(&out);
	free(copy);
}

/* A cut body, or one with a wrong bit, is refused or becomes some JSON. No byte behind it is read. */
TEST_CASE(no_bytes_do_harm)
{
	struct api_buf body = deployment();

	for (size_t length = 0; length < body.len; length++)
		read_copy(&body, length, SIZE_MAX);
	for (size_t i = 0; i < body.len * 8; i++)
		read_copy(&body, body.len, i);
	body.len -= 1;
	expect_refused(&body, -EPROTO, "no protobuf message");
}
