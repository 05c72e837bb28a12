/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document's protobuf equals that of upstream's Go types byte for byte, and the writer reads it as it reads
 * the JSON. Upstream's types printed the records (tests/schema):
 *
 *	schema golden 2 v1/Pod v1/ConfigMap … > tests/tools/serving/golden.records
 */
#include "tests/room.h"
#include "tests/support/body_fixture.h"
#include "tools/serving/proto_document.h"
#include "tools/serving/proto_encode.h"
#include "tools/informer-sim/typed.h"
#include "writer/decode/value_same.h"

__asm__(".pushsection .rodata\n"
	"golden_records:\n"
	".incbin \"tests/tools/serving/golden.records\"\n"
	"golden_records_end:\n"
	".popsection\n");
/* hidden: as(1) for arm64 gives two labels of a section one place in the GOT */
extern const char golden_records[] __attribute__((visibility("hidden")));
extern const char golden_records_end[] __attribute__((visibility("hidden")));

/* ---- records ---- */

struct part {
	const char *data;
	size_t len;
};

struct record {
	struct part name, json, proto; /* "apps/v1/Deployment" */
	char api_version[64], kind[64];
};

static bool
next_part(const char **at, struct part *part)
{
	uint32_t len;

	if (*at == golden_records_end)
		return false;
	assert_true((size_t)(golden_records_end - *at) >= sizeof(len));
	memcpy(&len, *at, sizeof(len));
	*at += sizeof(len);
	assert_true((size_t)(golden_records_end - *at) >= len);
	*part = (struct part){*at, len};
	*at += len;
	return true;
}

static bool
next_record(const char **at, struct record *r)
{
	size_t slash = 0;

	if (!next_part(at, &r->name))
		return false;
	assert_true(next_part(at, &r->json) && next_part(at, &r->proto));
	for (size_t i = 0; i < r->name.len; i++)
		if (r->name.data[i] == '/')
			slash = i;
	snprintf(r->api_version, sizeof(r->api_version), "%.*s", (int)slash, r->name.data);
	snprintf(r->kind, sizeof(r->kind), "%.*s", (int)(r->name.len - slash - 1), r->name.data + slash + 1);
	return true;
}

/* The record's document, fitted to its type, which is returned. doc borrows the record's texts. */
static const struct proto_message *
fit(const struct record *r, struct api_doc *doc)
{
	const struct proto_schema *schema = proto_schema_builtin();
	const struct proto_message *message;
	struct api_doc_error error;
	char why[SIM_TYPED_WHY];

	message = proto_schema_kind(schema, r->api_version, strlen(r->api_version), r->kind, strlen(r->kind));
	assert_non_null(message);
	assert_int_equal(api_doc_parse(doc, r->json.data, r->json.len, NULL, &error), 0);
	if (sim_typed_fit(doc, doc->root, schema, message, why) < 0)
		fail_msg("%s: %s", r->kind, why);
	return message;
}

static void
put_document(const struct record *r, struct api_buf *buf)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_buf_done) struct api_buf message = {0};
	const struct proto_message *type = fit(r, &doc);

	api_proto_message(type, doc.root, &message);
	api_proto_wrap(buf, r->api_version, r->kind, &message);
}

TEST_CASE(the_bytes_equal_those_of_upstreams_types)
{
	const char *at = golden_records;
	struct record r;
	unsigned count = 0;

	for (; next_record(&at, &r); count++) {
		_cleanup_(api_buf_done) struct api_buf ours = {0};
		size_t same = 0;

		put_document(&r, &ours);
		while (same < ours.len && same < r.proto.len && ours.data[same] == r.proto.data[same])
			same++;
		if (ours.len != r.proto.len || same != ours.len)
			fail_msg("%s, record %u: %zu bytes, not %zu; another one at %zu, of\n%.*s", r.kind,
				 count, ours.len, r.proto.len, same, (int)r.json.len, r.json.data);
	}
	assert_int_equal(count, 63);
}

TEST_CASE(fitting_does_not_change_upstreams_documents)
{
	const char *at = golden_records;
	struct record r;

	while (next_record(&at, &r)) {
		_cleanup_(api_doc_done) struct api_doc before = {0};
		_cleanup_(api_doc_done) struct api_doc after = {0};
		_cleanup_(api_buf_done) struct api_buf printed = {0};
		_cleanup_(api_buf_done) struct api_buf fitted = {0};
		struct api_doc_error error;
		size_t mark;

		assert_int_equal(api_doc_parse(&before, r.json.data, r.json.len, NULL, &error), 0);
		api_print(before.root, &printed, NULL, &mark);
		fit(&r, &after);
		api_print(after.root, &fitted, NULL, &mark);
		assert_string_equal(fitted.data + strcspn(fitted.data, ","), /* apiVersion and kind */
				    printed.data + strcspn(printed.data, ","));
	}
}

/* ---- the writer reads them ---- */

static int
keep(void *context, const char *type, size_t type_length, struct draft d)
{
	(void)type;
	(void)type_length;
	*(struct draft *)context = d;
	return 0;
}

static int
refuse(void *context, const char *why)
{
	(void)context;
	fail_msg("%s", why);
	return 0;
}

static int
end(void *context, const char *version, const char *token, int64_t remaining)
{
	(void)context;
	(void)version;
	(void)token;
	(void)remaining;
	return 0;
}

static const struct decoder_events events = {
	.on_object = keep,
	.on_bad_object = refuse,
	.on_list_end = end,
};

static struct draft
decode(struct body_fixture *fx, const struct api_buf *list, bool proto)
{
	struct draft draft = {0};
	struct decoder *d = decoder_new(DECODE_LIST, fx->arena, fx->intern, fx->schema, &events, &draft, 0);
	uint64_t offset;

	if (proto)
		decoder_use_protobuf(d, proto_schema_builtin());
	if (decoder_feed(d, list->data, list->len) < 0 || decoder_finish(d) < 0)
		fail_msg("%s", decoder_error(d, &offset));
	decoder_free(d);
	assert_int_not_equal(draft.ref, 0);
	return draft;
}

TEST_CASE(the_writer_reads_the_bytes_as_the_json)
{
	static const char *drops[] = {"apiVersion", "kind"};
	struct body_fixture *fx = body_fixture_new(drops, 2);
	const char *at = golden_records;
	struct record r;

	while (next_record(&at, &r)) {
		_cleanup_(api_doc_done) struct api_doc doc = {0};
		_cleanup_(api_buf_done) struct api_buf json = {0};
		_cleanup_(api_buf_done) struct api_buf item = {0};
		_cleanup_(api_buf_done) struct api_buf inside = {0};
		_cleanup_(api_buf_done) struct api_buf proto = {0};
		const struct proto_message *type;
		struct draft a, b;
		char list[80];

		api_buf_printf(&json, "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[%.*s]}",
			       (int)r.json.len, r.json.data);
		a = decode(fx, &json, false);
		type = fit(&r, &doc);
		api_proto_message(type, doc.root, &item);
		api_proto_bytes(&inside, 1, "", 0); /* no metadata */
		api_proto_bytes(&inside, 2, item.data, item.len);
		snprintf(list, sizeof(list), "%sList", r.kind);
		api_proto_wrap(&proto, r.api_version, list, &inside);
		b = decode(fx, &proto, true);
		if (!value_same(value_of_object(&fx->arena->view, a.ref),
				value_of_object(&fx->arena->view, b.ref)))
			fail_msg("%s: from JSON and from protobuf\n%s\n", r.kind,
				 body_fixture_print_ref(fx, a.ref));
		draft_discard(fx->arena, fx->intern, a);
		draft_discard(fx->arena, fx->intern, b);
	}
	body_fixture_free(fx);
}

/* ---- what a type makes of a document ---- */

static void
fits(const char *kind, const char *text, const char *wanted)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_buf_done) struct api_buf printed = {0};
	struct record r = {.json = {text, strlen(text)}, .api_version = "v1"};
	size_t mark;

	snprintf(r.kind, sizeof(r.kind), "%s", kind);
	fit(&r, &doc);
	api_print(doc.root, &printed, NULL, &mark);
	assert_string_equal(printed.data, wanted);
}

TEST_CASE(a_document_becomes_what_its_type_prints)
{
	/* order, unknown fields, null and empty values */
	fits("ConfigMap",
	     "{\"x\":1,\"data\":{\"b\":\"2\",\"a\\u0061\":\"1\",\"a\":null},\"binaryData\":{},\"metadata\":{"
	     "\"name\":\"m\",\"labels\":null,\"uid\":\"\"},\"kind\":\"ConfigMap\"}",
	     "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\"},\"data\":{\"a\":\"\",\"a\\u0061\":\"1\","
	     "\"b\":\"2\"}}");
	/* fields that are always printed */
	fits("Pod", "{}", "{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}");
	fits("Pod", "{\"spec\":{\"containers\":[]}}",
	     "{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}");
	/* numbers that may be texts, zeros behind pointers, times */
	fits("Service", "{\"spec\":{\"ports\":[{\"port\":80}],\"publishNotReadyAddresses\":false}}",
	     "{\"metadata\":{},\"spec\":{\"ports\":[{\"port\":80,\"targetPort\":0}]},\"status\":{"
	     "\"loadBalancer\":{}}}");
	fits("Pod",
	     "{\"metadata\":{\"creationTimestamp\":\"2026-01-02T03:04:05.7+02:00\","
	     "\"deletionGracePeriodSeconds\":0}}",
	     "{\"metadata\":{\"creationTimestamp\":\"2026-01-02T01:04:05Z\","
	     "\"deletionGracePeriodSeconds\":0},\"spec\":{\"containers\":null},\"status\":{}}");
	fits("ResourceQuota", "{\"spec\":{\"hard\":{\"pods\":4}}}",
	     "{\"metadata\":{},\"spec\":{\"hard\":{\"pods\":\"4\"}},\"status\":{}}");
}

static const struct {
	const char *text, *why; /* NULL: a valid one */
} others[] = {
	{"{\"spec\":{\"hostNetwork\":\"yes\"}}",
	 "json: cannot unmarshal string into Go struct field PodSpec.hostNetwork of type bool"},
	{"{\"status\":{\"startTime\":\"9999-12-31T23:59:59-01:00\"}}",
	 "json: cannot unmarshal string into Go struct field PodStatus.startTime of type time.Time"},
	{"{\"status\":{\"startTime\":\"0000-01-01T00:00:00+01:00\"}}",
	 "json: cannot unmarshal string into Go struct field PodStatus.startTime of type time.Time"},
	{"{\"status\":{\"startTime\":\"9999-12-31T23:59:59+00:00\"}}", NULL},
	{"{\"status\":{\"startTime\":\"0000-01-01T00:00:00-00:00\"}}", NULL},
};

TEST_CASE(a_value_of_another_type_is_refused)
{
	const struct proto_schema *schema = proto_schema_builtin();
	const struct proto_message *pod = proto_schema_kind(schema, "v1", 2, "Pod", 3);

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		_cleanup_(api_doc_done) struct api_doc doc = {0};
		struct api_doc_error error;
		char why[SIM_TYPED_WHY];
		int r;

		assert_int_equal(api_doc_parse(&doc, others[i].text, strlen(others[i].text), NULL, &error),
				 0);
		r = sim_typed_fit(&doc, doc.root, schema, pod, why);
		assert_int_equal(r, others[i].why ? -EINVAL : 0);
		if (r < 0)
			assert_string_equal(why, others[i].why);
	}
}
