/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which syntax is asked for, and the fallback from protobuf. A LIST, a WATCH and a WatchList go on in JSON
 * from where they were, and readers see the server's state. (A field taken out of the schema stands for a
 * server with a newer field.)
 */
#include "tests/room.h"
#include "tests/support/proto_text.h"
#include "tests/support/reflector_fixture.h"
#include "tests/support/stream_fixture.h"
#include "writer/base/log.h"
#include "writer/reflect/wire.h"

#define PROTOBUF TRANSPORT_PROTOBUF_TYPE

/* informerd's schema of pods; the server's spec has a field more. */
static const char schema_text[] = "kind v1 Pod Pod\n"
				  "kind v1 Status Status\n"
				  "kind meta.k8s.io/v1 PartialObjectMetadata Pod\n"
				  "message Pod\n"
				  "1 metadata Meta.v1 omitempty\n"
				  "2 spec Spec.v1 omitempty\n"
				  "message Meta.v1\n"
				  "1 name string omitempty\n"
				  "3 namespace string omitempty\n"
				  "5 uid string omitempty\n"
				  "6 resourceVersion string omitempty\n"
				  "12 annotations map[]string omitempty\n"
				  "message Spec.v1\n"
				  "1 nodeName string omitempty\n"
				  "message Status\n"
				  "3 message string omitempty\n"
				  "4 reason string omitempty\n"
				  "6 code int omitempty\n";

struct world {
	struct reflector_fixture *t;
	struct source_fixture *fx; /* of t */
	struct proto_schema *schema;
	struct wire wire;
	struct bytes bytes;
	FILE *log;
	char said[8192];
};

/* ---- the world ---- */

static void
choose(struct world *w, enum wire_choice choice, const char *api_version, const char *kind)
{
	wire_init(&w->wire, &w->fx->clock.clock, choice, w->schema, api_version, kind, false);
}

static struct world *
world_new(const struct list_choices *choices)
{
	struct world *w = calloc(1, sizeof(*w));
	char why[128];

	assert_non_null(w);
	w->schema = proto_schema_parse(schema_text, sizeof(schema_text) - 1, why, sizeof(why));
	assert_non_null(w->schema);
	w->log = tmpfile();
	assert_non_null(w->log);
	log_open(LOG_LEVEL_INFO, fileno(w->log));
	w->t = reflector_fixture_new(choices);
	w->fx = w->t->fx;
	choose(w, WIRE_AUTO, "v1", "Pod");
	/* the Reflector has a copy of its source */
	w->fx->source.wire = &w->wire;
	reflector_free(w->t->reflector);
	w->t->reflector = reflector_new(&(struct reflector_options){
		.source = &w->fx->source, .choices = choices ? *choices : (struct list_choices){0}});
	assert_non_null(w->t->reflector);
	return w;
}

static struct world *
begin(struct world *w)
{
	reflector_start(w->t->reflector, "", 0);
	return w;
}

SET_UP(set_up, world_new(NULL))
SET_UP(begun, begin(world_new(NULL)))
SET_UP(begun_watch_list, begin(world_new(&(struct list_choices){.watch_list = true})))

static int
tear_down(void **state)
{
	struct world *w = *state;
	int r = reflector_fixture_free(w->t);

	log_open(LOG_LEVEL_INFO, STDERR_FILENO);
	fclose(w->log);
	proto_schema_free(w->schema);
	bytes_done(&w->bytes);
	free(w);
	return r;
}

/* The log so far. */
static const char *
said(struct world *w)
{
	size_t n;

	fflush(w->log);
	rewind(w->log);
	n = fread(w->said, 1, sizeof(w->said) - 1, w->log);
	w->said[n] = '\0';
	return w->said;
}

static void
answer_list(struct world *w, const char *items)
{
	char text[2048];

	snprintf(text, sizeof(text), "'k8s' 00 1:{1:'v1' 2:'PodList'} 2:{1:{1:'' 2:'10' 3:''} %s} 3:'' 4:''",
		 items);
	proto_text(&w->bytes, text);
	server_open_with(w->fx, 200, PROTOBUF);
	if (server_send_bytes(w->fx, w->bytes.data, w->bytes.length))
		server_end(w->fx, 0);
}

/* A pod as an item, with this spec. */
#define POD(name, version, spec) "{1:{1:'" name "' 3:'a' 5:'u-" name "' 6:'" version "'} 2:{" spec "}}"

static bool
send_event(struct world *w, const char *type, const char *kind, const char *object)
{
	char text[2048];

	snprintf(text, sizeof(text), "1:'%s' 2:{1:{'k8s' 00 1:{1:'v1' 2:'%s'} 2:%s 3:'' 4:''}}", type, kind,
		 object);
	bytes_clear(&w->bytes);
	stream_frame(&w->bytes, text);
	return server_send_bytes(w->fx, w->bytes.data, w->bytes.length);
}

/* List in protobuf, then watch. */
static void
watch_in_protobuf(struct world *w)
{
	answer_list(w, "2:" POD("x", "5", "1:'n'"));
	server_open_with(w->fx, 200, PROTOBUF ";stream=watch");
	assert_string_equal(seen(w->t), "[10] a/x@5 ");
	assert_string_equal(diary(w->fx), "LIST protobuf rv=0 limit=500; WATCH protobuf rv=10; ");
}

/* ---- the request ---- */

#define TEST(name, set_up_) TEST_CASE_OF(struct world *w, set_up_, tear_down, name)

TEST(protobuf_is_asked_for_where_the_schema_has_the_kind, set_up)
{
	struct wire wire;
	static const struct {
		enum wire_choice choice;
		const char *api_version, *kind;
		bool schema, metadata_only, wanted;
	} cases[] = {
		{WIRE_AUTO, "v1", "Pod", true, false, true},
		{WIRE_PROTOBUF, "v1", "Pod", true, false, true},
		{WIRE_JSON, "v1", "Pod", true, false, false},
		{WIRE_AUTO, "v1", "Pod", false, false, false},
		{WIRE_AUTO, "v2", "Pod", true, false, false},
		{WIRE_AUTO, "example.com/v1", "Widget", true, false, false},
		{WIRE_PROTOBUF, "example.com/v1", "Widget", true, false, false},
		{WIRE_AUTO, "example.com/v1", "Widget", true, true, true},
		{WIRE_AUTO, NULL, NULL, true, false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		wire_init(&wire, &w->fx->clock.clock, cases[i].choice, cases[i].schema ? w->schema : NULL,
			  cases[i].api_version, cases[i].kind, cases[i].metadata_only);
		assert_int_equal(wire_wants_protobuf(&wire), cases[i].wanted);
		assert_int_equal(wire_comes_in_protobuf(&wire), cases[i].wanted);
		assert_string_equal(wire_syntax_name(&wire), "");
	}
}

/* If releases print a kind differently, protobuf waits until the server's release is known. */
TEST(protobuf_waits_for_the_release, set_up)
{
	static const char text[] =
		"releases v0.33.1 v0.36.1\nkind v1 Pod Pod\nmessage Pod\n1 l []string since=1.35\n";
	struct wire wire;
	char why[128];
	struct proto_schema *s = proto_schema_parse(text, sizeof(text) - 1, why, sizeof(why));

	assert_non_null(s);
	wire_init(&wire, &w->fx->clock.clock, WIRE_AUTO, s, "v1", "Pod", false);
	assert_false(wire_wants_protobuf(&wire));
	proto_schema_fit(s, 1032); /* older than the schema's */
	assert_false(wire_wants_protobuf(&wire));
	proto_schema_fit(s, 1034);
	assert_true(wire_wants_protobuf(&wire));
	proto_schema_fit(s, 1040);
	assert_true(wire_wants_protobuf(&wire));
	proto_schema_fit(s, 0);
	assert_false(wire_wants_protobuf(&wire));
	proto_schema_free(s);
}

/* The answer's Content-Type decides, not the request. A list may be in JSON, its watch in protobuf. */
TEST(the_content_type_decides, begun)
{
	server_answer(w->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
	assert_string_equal(wire_syntax_name(&w->wire), "json");
	assert_false(wire_comes_in_protobuf(&w->wire));
	server_open_with(w->fx, 200, PROTOBUF ";stream=watch");
	assert_string_equal(wire_syntax_name(&w->wire), "protobuf");
	assert_true(send_event(w, "ADDED", "Pod", POD("y", "11", "1:'n'")));
	assert_string_equal(seen(w->t), "[11] a/x@5 a/y@11 ");
	assert_string_equal(diary(w->fx), "LIST protobuf rv=0 limit=500; WATCH protobuf rv=10; ");
	assert_int_equal(w->wire.fallbacks, 0);
	assert_null(strstr(said(w), "WARN"));
}

TEST(json_alone_is_logged_if_protobuf_is_configured, set_up)
{
	choose(w, WIRE_PROTOBUF, "v1", "Pod");
	reflector_start(w->t->reflector, "", 0);
	server_answer(w->fx, 200, pod_list("10", NULL, NULL));
	server_answer(w->fx, 200, "");
	assert_non_null(strstr(
		said(w), "pods: it comes in JSON, though protobuf is configured: the server answers so"));
	*strstr(w->said, "though protobuf") = '!';
	assert_null(strstr(w->said, "though protobuf")); /* once */
	choose(w, WIRE_PROTOBUF, "example.com/v1", "Widget");
	wait_out(w->t);
	server_open(w->fx);
	assert_non_null(strstr(said(w), "though protobuf is configured: its kind is not in the schema"));
}

/* ---- the fallback ---- */

/* No block of the two decoded items is left. The list in JSON is whole. */
TEST(a_list_with_an_unknown_field_is_asked_for_in_json, begun)
{
	answer_list(w, "2:" POD("x", "5", "") " 2:" POD("y", "6", "") " 2:" POD("z", "7", "1:'n' 42:'new'"));
	assert_string_equal(seen(w->t), "[-] ");
	assert_string_equal(diary(w->fx), "LIST protobuf rv=0 limit=500; LIST rv=0 limit=500; ");
	assert_int_equal(status_of(w->t).failures, 0);
	assert_int_equal(w->wire.fallbacks, 1);
	assert_string_equal(w->wire.why, "field 42 of Spec.v1 is not known");
	assert_non_null(
		strstr(said(w), "pods: asking for JSON from now on: field 42 of Spec.v1 is not known"));
	server_answer(w->fx, 200, pod_list("10", NULL, pod("a/x", 5), pod("a/y", 6), pod("a/z", 7), NULL));
	assert_string_equal(seen(w->t), "[10] a/x@5 a/y@6 a/z@7 ");
	assert_string_equal(diary(w->fx), "WATCH rv=10; ");
}

/* A list starts anew on its second page: both pages must have one syntax. */
TEST(a_later_page_begins_the_list_anew, begun)
{
	proto_text(&w->bytes,
		   "'k8s' 00 1:{1:'v1' 2:'PodList'} 2:{1:{1:'' 2:'10' 3:'more'} 2:" POD("x", "5", "") "}");
	server_open_with(w->fx, 200, PROTOBUF);
	assert_true(server_send_bytes(w->fx, w->bytes.data, w->bytes.length));
	server_end(w->fx, 0);
	answer_list(w, "2:" POD("y", "6", "9=1"));
	assert_string_equal(diary(w->fx),
			    "LIST protobuf rv=0 limit=500; LIST protobuf continue=more limit=500; "
			    "LIST rv=0 limit=500; ");
	server_answer(w->fx, 200, pod_list("12", NULL, pod("a/y", 6), NULL));
	assert_string_equal(seen(w->t), "[12] a/y@6 ");
}

/* Earlier events of the stream stay. The bad event, and those behind it, come again in JSON. */
TEST(a_watch_goes_on_in_json_from_the_last_good_event, begun)
{
	watch_in_protobuf(w);
	assert_true(send_event(w, "MODIFIED", "Pod", POD("x", "11", "1:'n'")));
	assert_false(send_event(w, "ADDED", "Pod", POD("y", "12", "2:'new'")));
	assert_string_equal(seen(w->t), "[11] a/x@11 ");
	assert_string_equal(diary(w->fx), "WATCH rv=11; ");
	assert_int_equal(w->wire.fallbacks, 1);
	assert_int_equal(status_of(w->t).lists, 1);
	server_open(w->fx);
	server_send(w->fx, EVENT("ADDED", pod("a/y", 12)));
	assert_string_equal(seen(w->t), "[12] a/x@11 a/y@12 ");
	server_end(w->fx, 0);
	assert_string_equal(diary(w->fx), "WATCH rv=12; ");
}

TEST(a_watch_list_becomes_a_list_in_json, begun_watch_list)
{
	server_open_with(w->fx, 200, PROTOBUF ";stream=watch");
	assert_true(send_event(w, "ADDED", "Pod", POD("x", "5", "")));
	assert_false(send_event(w, "ADDED", "Pod", POD("y", "6", "2=0")));
	assert_string_equal(diary(w->fx), "WATCHLIST protobuf rv=\"\"; LIST rv=0 limit=500; ");
	server_answer(w->fx, 200, pod_list("10", NULL, pod("a/x", 5), pod("a/y", 6), NULL));
	assert_string_equal(seen(w->t), "[10] a/x@5 a/y@6 ");
	assert_string_equal(diary(w->fx), "WATCH rv=10; ");
}

/* All parts are known: Bookmark, end mark and ERROR in protobuf. */
TEST(a_watch_list_stays_in_protobuf, begun_watch_list)
{
	server_open_with(w->fx, 200, PROTOBUF ";stream=watch");
	assert_true(send_event(w, "ADDED", "Pod", POD("x", "5", "")));
	assert_true(
		send_event(w, "BOOKMARK", "Pod", "{1:{6:'10' 12:{1:'k8s.io/initial-events-end' 2:'true'}}}"));
	assert_string_equal(seen(w->t), "[10] a/x@5 ");
	assert_true(send_event(w, "BOOKMARK", "Pod", "{1:{6:'20'}}"));
	assert_string_equal(seen(w->t), "[20] a/x@5 ");
	assert_false(send_event(w, "ERROR", "Status", "{3:'too old resource version' 4:'Expired' 6=410}"));
	assert_string_equal(status_of(w->t).last_reason, "Expired");
	assert_int_equal(status_of(w->t).last_code, 410);
	assert_int_equal(w->wire.fallbacks, 0);
}

/* An aggregated server that accepts protobuf and cannot write it is asked at once for JSON alone. */
TEST(not_acceptable_is_asked_for_in_json, begun)
{
	server_open_with(w->fx, 406, "application/json");
	server_send(w->fx, "{\"kind\":\"Status\",\"reason\":\"NotAcceptable\",\"code\":406}");
	server_end(w->fx, 0);
	assert_string_equal(diary(w->fx), "LIST protobuf rv=0 limit=500; LIST rv=0 limit=500; ");
	assert_string_equal(w->wire.why, "the server has no protobuf of it (406)");
	assert_int_equal(status_of(w->t).failures, 0);
	/* in JSON it is a failure as any other */
	server_answer(w->fx, 406, "{\"kind\":\"Status\",\"reason\":\"NotAcceptable\",\"code\":406}");
	assert_int_equal(status_of(w->t).failures, 1);
	assert_int_equal(w->wire.fallbacks, 1);
	assert_string_equal(diary(w->fx), "");
}

TEST(not_acceptable_for_a_watch, begun)
{
	answer_list(w, "2:" POD("x", "5", ""));
	diary(w->fx);
	server_open_with(w->fx, 406, "application/json");
	server_end(w->fx, 0);
	assert_string_equal(diary(w->fx), "WATCH rv=10; ");
	assert_string_equal(seen(w->t), "[10] a/x@5 ");
}

/* A broken connection does not end protobuf, whatever the transport calls the error. */
TEST(a_broken_connection_keeps_protobuf, begun)
{
	static const int results[] = {-EPROTO, -ECONNRESET, -ETIMEDOUT, -EIO};

	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++) {
		assert_string_equal(diary(w->fx), "LIST protobuf rv=0 limit=500; ");
		proto_text(&w->bytes, "'k8s' 00 1:{1:'v1' 2:'PodList'} raw 12 20");
		server_open_with(w->fx, 200, PROTOBUF);
		assert_true(server_send_bytes(w->fx, w->bytes.data, w->bytes.length));
		server_end(w->fx, results[i]);
		wait_out(w->t);
	}
	assert_int_equal(w->wire.fallbacks, 0);
}

/* A first malformed answer may be the network's fault. A second in a row leads to JSON. */
TEST(malformed_twice_means_json, begun)
{
	answer_list(w, "2:{1:{1=7}}");
	assert_non_null(strstr(status_of(w->t).last_error, "the list cannot be read at byte "));
	assert_non_null(strstr(status_of(w->t).last_error, ": a message Meta.v1 is malformed"));
	assert_string_equal(diary(w->fx), "LIST protobuf rv=0 limit=500; ");
	wait_out(w->t);
	answer_list(w, "2:{1:{1=7}}");
	assert_string_equal(diary(w->fx), "LIST protobuf rv=0 limit=500; LIST rv=0 limit=500; ");
	assert_string_equal(w->wire.why, "protobuf cannot be read: a message Meta.v1 is malformed");
}

/* Malformed protobuf that was not asked for does not change the request. */
TEST(unrequested_protobuf_changes_no_request, set_up)
{
	choose(w, WIRE_JSON, "v1", "Pod");
	reflector_start(w->t->reflector, "", 0);
	for (unsigned i = 0; i < 2; i++) {
		answer_list(w, "2:{1:{1=7}}");
		wait_out(w->t);
	}
	diary(w->fx);
	server_answer(w->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
	assert_int_equal(w->wire.fallbacks, 0);
	assert_string_equal(diary(w->fx), "WATCH rv=10; ");
	assert_string_equal(seen(w->t), "[10] a/x@5 ");
}

TEST(a_good_answer_in_between_counts, set_up)
{
	for (unsigned i = 0; i < 3; i++) {
		reflector_start(w->t->reflector, "", 0);
		answer_list(w, "2:{1:{1=7}}");
		wait_out(w->t);
		answer_list(w, "2:" POD("x", "5", ""));
		server_open_with(w->fx, 200, PROTOBUF);
		server_end(w->fx, 0);
	}
	assert_int_equal(w->wire.fallbacks, 0);
}

/* ---- protobuf again ---- */

TEST(protobuf_is_asked_for_again_after_an_hour, begun)
{
	uint64_t began = w->fx->clock.now;

	answer_list(w, "2:" POD("x", "5", "42:'new'"));
	server_answer(w->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
	diary(w->fx);
	server_open(w->fx);
	w->fx->clock.now = began + WIRE_AGAIN_MS - 1;
	server_send(w->fx, BOOKMARK, 10);
	server_end(w->fx, 0);
	assert_string_equal(diary(w->fx), "WATCH rv=10; ");
	server_open(w->fx);
	virtual_clock_advance(&w->fx->clock, 1);
	server_send(w->fx, BOOKMARK, 11);
	server_end(w->fx, 0);
	assert_string_equal(diary(w->fx), "WATCH protobuf rv=11; ");
	/* the server is unchanged: one warning, counted */
	server_open_with(w->fx, 200, PROTOBUF);
	assert_false(send_event(w, "MODIFIED", "Pod", POD("x", "12", "42:'new'")));
	assert_string_equal(diary(w->fx), "WATCH rv=11; ");
	assert_int_equal(w->wire.fallbacks, 2);
	assert_non_null(strstr(said(w), "pods: still asking for JSON: field 42 of Spec.v1 is not known"));
	*strstr(w->said, "from now on") = '!';
	assert_null(strstr(w->said, "from now on"));
}

/* Another release is asked at once: the server may have lost the field, or our schema gained it. */
TEST(another_release_is_asked_for_protobuf_at_once, begun)
{
	answer_list(w, "2:" POD("x", "5", "42:'new'"));
	server_answer(w->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
	diary(w->fx);
	server_open(w->fx);
	wire_ask_again(&w->wire);
	server_send(w->fx, BOOKMARK, 10);
	server_end(w->fx, 0);
	assert_string_equal(diary(w->fx), "WATCH protobuf rv=10; ");
}

/* Where a WatchList in JSON would cost the server more, a LIST is used; and the other way round. */
TEST(a_watch_list_is_for_protobuf, begun_watch_list)
{
	server_open(w->fx); /* in JSON nevertheless, this time */
	server_send(w->fx, END_MARK, 10);
	reflector_relist(w->t->reflector, RESULT_EXPIRED);
	assert_string_equal(diary(w->fx), "WATCHLIST protobuf rv=\"\"; CANCEL; LIST protobuf rv=10; ");
	answer_list(w, "");
	server_open_with(w->fx, 200, PROTOBUF);
	reflector_relist(w->t->reflector, RESULT_EXPIRED);
	assert_string_equal(diary(w->fx), "WATCH protobuf rv=10; CANCEL; WATCHLIST protobuf rv=10; ");
}
