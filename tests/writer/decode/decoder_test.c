/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder, against generated documents and a table of what RFC 8259 allows. Parts of streams are missing,
 * too deep, too long, duplicate, or out of order. (tests/upstream/wire_objects.sh has objects of every kind.)
 */
#include "shm-layout/path.h"
#include "tests/room.h"
#include "tests/support/body_fixture.h"
#include "tests/support/json_random.h"
#include "tests/support/stream_fixture.h"
#include "writer/decode/decoder_schema.h"

/* ---- documents ---- */

#define TEST(name) TEST_CASE_OF(struct body_fixture *fx, body_fixture_set_up, body_fixture_tear_down, name)

/* Documents are printed as they were sent, in any pieces, with the last of equal keys. Nothing leaks. */
TEST(generated_documents_survive_the_round_trip)
{
	struct json_random r = {.seed = test_seed(8259)};
	unsigned documents = test_is_long() ? 20000 : 1500;
	uint64_t duplicates = 0;

	for (unsigned i = 0; i < documents; i++) {
		size_t chunk = i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : 1 + json_random_below(&r, 40);

		json_random_document(&r);
		duplicates += r.duplicates;
		if (body_fixture_decode(fx, (char *)r.sent.data, r.sent.length,
					r.sent.length > 20000 ? 1000 : chunk) != 0)
			fail_msg("document %u: byte %llu: %s\n%.2000s", i, (unsigned long long)fx->offset,
				 fx->error, r.sent.data);
		assert_string_equal(body_fixture_print_ref(fx, fx->ref), (char *)r.expected.data);
	}
	assert_true(duplicates > documents / 20);
	json_random_done(&r);
	assert_nothing_left(fx);
}

/* Texts that RFC 8259 allows, and others by the offset of the first wrong byte. */
#define GOOD UINT32_MAX
static const struct {
	uint32_t offset;
	const char *texts[17];
} documents[] = {
	{GOOD,
	 {"0", "null", "\"\"", "[]", "{}", " [ ] ", "\t{\r\n} ", "[[[]]]", "{\"\":0}", "[true,false,null]",
	  "{\"a\":1,\"a\":2}", "{\"a\":{\"a\":{\"a\":[]}}}",
	  "[0,-0,1e1,1E+2,0e-5,-1.5e300,1e-400,1e999,1,2,3,123456789012345678901234567890]",
	  "[\"\\ud83d\\ude00\",\"\\ud800\",\"\\udc00\\ud800x\",\"\\ud800\\u0041\",\"\\u00e9\xc3\xa9\"]",
	  "[\"\x7f\",\"\xc2\x80\",\"\xef\xbf\xbf\",\"\xf4\x8f\xbf\xbf\"]",
	  "\" \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0000 \""}},
	{0,
	 {"", "]", "+1", ".5", "NaN", "Infinity", "True", "undefined", "'abc'", "\xef\xbb\xbf{}", "// c\n1",
	  "\f1", "\302\2401"}},
	{1,
	 {" ", "[,1]", "[", "{", "{,}", "{a:1}", "{'a':1}", "{1:1}", "01", "-", "--1", "0x10", "1_000",
	  "-Infinity", "\"", "\"\n\""}},
	{1,
	 {"\"\x1f\"", "\"\xff\"", "\"\x80\"", "\"\xc0\x80\"", "\"\xe0\x80\x80\"", "\"\xed\xa0\x80\"",
	  "\"\xf4\x90\x80\x80\"", "\"\xf0\x80\x80\x80\"", "\"\xc3\"", "\"\xe2\x82\"",
	  "\"\xf5\x80\x80\x80\""}},
	{2,
	 {"[1", "[1}", "-01", "[01]", "1.", "1e", "[-]", "\"a\tb\"", "\"\\x41\"", "\"\\", "{}{}", "1 2",
	  "[1/*c*/]", "{\"\xff\":1}"}},
	{3, {"[1,]", "[1 2]", "[1.]", "1e+", "nul", "nulL", "tru e", "[] x"}},
	{4, {"{\"a\"", "[1e+]", "truee", "\"abc"}},
	{5, {"{\"a\":", "{\"a\" 1}", "{\"a\"::1}", "\"\\u12G4\"", "\"\\u00", "{\"a\":/*c*/1}"}},
	{6, {"{\"a\":1]", "{\"a\":1", "\"\\u123\""}},
	{7, {"{\"a\":1,}", "{\"a\":1 \"b\":2}"}},
	{8, {"{\"a\":tru}"}},
	{9, {"{\"a\":\"b\"}#"}},
	{10, {"[\"\\u002c\",}"}},
	{11, {"[\"a\",\n4\n,1,"}},
};

static void
assert_stops(struct body_fixture *fx, const char *text, uint32_t offset, size_t chunk)
{
	bool good = offset == GOOD;
	/* with more bytes behind them these are JSON up to a later byte */
	bool whole = !good && strcmp(text, "{}{}") != 0 && strcmp(text, "1 2") != 0 &&
		     strcmp(text, "[] x") != 0;
	char within[200];
	int n = snprintf(within, sizeof(within), "{\"dropped\":%s%s", text, good ? "}" : "");
	int expected = good ? 0 : -EBADMSG;

	if (body_fixture_decode(fx, text, strlen(text), chunk) != expected ||
	    (!good && (fx->offset != offset || !fx->error[0])))
		fail_msg("%s (by %zu): byte %llu: %s", text, chunk, (unsigned long long)fx->offset,
			 fx->error);
	if (body_fixture_decode(fx, within, (size_t)n, chunk) != expected ||
	    (whole && fx->offset != offset + 11))
		fail_msg("%s (by %zu): byte %llu: %s", within, chunk, (unsigned long long)fx->offset,
			 fx->error);
}

/* RFC 8259's texts are accepted, others refused at their byte, in any pieces, kept or dropped. */
TEST_CASE(a_document_is_refused_where_it_stops_being_json)
{
	const char *drops[] = {"dropped"};
	struct body_fixture *fx = body_fixture_new(drops, 1);

	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
		for (const char *const *text = documents[i].texts; *text; text++)
			for (size_t chunk = 0; chunk < 8; chunk++)
				assert_stops(fx, *text, documents[i].offset, chunk);
	body_fixture_free(fx);
}

/* 128 levels are read and printed. The bracket that opens level 129 is refused. */
TEST(nesting_ends_at_128)
{
	char text[1000];

	for (unsigned depth = 127; depth <= 129; depth++) {
		char *p = text;

		for (unsigned i = 0; i < depth; i++)
			p += sprintf(p, i % 2 ? "[" : "{\"a\":");
		p += sprintf(p, "1");
		for (unsigned i = depth; i > 0; i--)
			*p++ = (i - 1) % 2 ? ']' : '}';
		*p = '\0';
		if (depth <= 128) {
			assert_string_equal(body_fixture_print(fx, body_fixture_value(fx, text)), text);
		} else {
			assert_int_equal(body_fixture_decode(fx, text, strlen(text), 0), -EBADMSG);
			assert_int_equal(fx->offset, 64 * 6);
		}
	}
}

static void
assert_prints(struct body_fixture *fx, const char *text, const char *expected)
{
	assert_string_equal(body_fixture_print(fx, body_fixture_value(fx, text)), expected);
}

/* A lone surrogate becomes U+FFFD, a pair its character; U+0000 stays. */
TEST(surrogates_become_what_the_api_server_prints)
{
	assert_prints(
		fx, "\"\\ud83d\\ude00\\ud83dx\\ude00\\ud800\\ud800\\udc00\\u0000\\udc01\\udc02\"",
		"\"\xf0\x9f\x98\x80\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd\xf0\x90\x80\x80\\u0000\xef\xbf\xbd"
		"\xef\xbf\xbd\"");
}

/* The last of equal keys wins, in its place, whatever the values, also of hundreds of keys. */
TEST(the_last_of_equal_keys_wins)
{
	struct bytes text = {0}, expected = {0};

	assert_prints(fx,
		      "{\"a\":{\"long\":\"a string long enough to be shared\"},\"b\":1,\"a\":[1,{\"x\":2}],"
		      "\"\\u0061\":3}",
		      "{\"b\":1,\"a\":3}");
	for (unsigned i = 0; i < 3000; i++) {
		bytes_say(&text, "%s\"k%u\":%u", i ? "," : "{", i % 1000, i);
		if (i >= 2000)
			bytes_say(&expected, "%s\"k%u\":%u", i > 2000 ? "," : "{", i % 1000, i);
	}
	bytes_say(&text, "}");
	bytes_say(&expected, "}");
	assert_prints(fx, (char *)text.data, (char *)expected.data);
	bytes_done(&text);
	bytes_done(&expected);
}

/* 70,000 fields, more than 16 bits count, are decoded in any pieces, found by name, and printed as sent. */
TEST(an_object_of_70000_fields_is_kept)
{
	struct bytes text = {0};
	struct value v;
	int64_t n;

	for (unsigned i = 0; i < 70000; i++)
		bytes_say(&text, "%s\"k%u\":%u", i ? "," : "{\"data\":{", i, i);
	bytes_say(&text, "}}");
	for (size_t chunk = 0; chunk < 3000; chunk += 1000) {
		assert_int_equal(body_fixture_decode(fx, (char *)text.data, text.length, chunk), 0);
		assert_string_equal(body_fixture_print_ref(fx, fx->ref), (char *)text.data);
		v = value_field(value_of_object(&fx->arena->view, fx->ref), "data", 4,
				shape_fingerprint("data", 4));
		assert_int_equal(value_count(v), 70000);
		assert_true(value_int(value_field(v, "k69998", 6, shape_fingerprint("k69998", 6)), &n));
		assert_int_equal(n, 69998);
		assert_null(value_field(v, "k70000", 6, shape_fingerprint("k70000", 6)).at);
	}
	bytes_done(&text);
}

/* Repeated strings with escapes share one block, and are printed as sent, in any pieces. */
TEST(repeated_strings_with_escapes_share_a_block)
{
	static const char *const tails[] = {"", "\\n", "x", "\\u00e9", "\\\\"};
	static const char head[] =
		"{\\\"name\\\": \\\"a text that is long enough\\\", \\\"and\\\": \\\"has escapes\\\"";
	char text[500];

	for (unsigned i = 0; i < 500; i++) {
		unsigned k = i % 5;
		int n = snprintf(text, sizeof(text), "{\"a\":[\"%s%s\",\"%s\",\"%s%s\"]}", head, tails[k],
				 tails[(k + 1) % 5], head, tails[k]);

		assert_int_equal(body_fixture_decode(fx, text, (size_t)n, (size_t)(i / 5 % 4) * 37), 0);
		if (k == 3) /* the API server prints \u00e9 as the character itself */
			assert_non_null(
				strstr(body_fixture_print_ref(fx, fx->ref), "has escapes\\\"\xc3\xa9\"]"));
		else if (k != 2)
			assert_string_equal(body_fixture_print_ref(fx, fx->ref), text);
		assert_true(intern_count(fx->intern) < 14);
	}
}

/* Decode a document that fills the schema: paths behind it get no nodes of their own. */
static void
fill_schema(struct body_fixture *fx)
{
	struct bytes text = {0};

	for (unsigned i = 0; i < 5000; i++) {
		bytes_say(&text, "%s\"f%u\":", i == 0 ? "{" : i % 100 ? "," : "},", i);
		bytes_say(&text, "%s{\"x%u\":1}", i % 100 ? "" : "{\"y\":", i);
	}
	bytes_say(&text, "}}");
	if (body_fixture_decode(fx, (char *)text.data, text.length, 0) != 0)
		fail_msg("byte %llu: %s", (unsigned long long)fx->offset, fx->error);
	bytes_done(&text);
}

/* Where paths share a node, what was learnt at one path is not used at another. */
TEST_CASE(a_full_schema_confuses_no_paths)
{
	const char *drops[] = {"A.gone", "A[*].gone", "L[*].gone"};
	struct body_fixture *fx = body_fixture_new(drops, 3);
	struct bytes text = {0}, expected = {0};

	/* more names of one object than have nodes */
	for (unsigned n = 0; n < 300; n++) {
		bytes_say(&text, "%s\"k%u\":{\"gone\":0}", n ? "," : "{\"A\":{", n);
		bytes_say(&expected, "%s\"k%u\":{}", n ? "," : "{\"A\":{", n);
	}
	bytes_say(&text, ",\"gone\":0}}");
	bytes_say(&expected, "}}");
	assert_prints(fx, (char *)text.data, (char *)expected.data);
	fill_schema(fx);
	fill_schema(fx); /* a full schema starts anew, but not at each item */
	for (int i = 0; i < 3; i++)
		assert_prints(fx,
			      "{\"A\":{\"new1\":{\"gone\":[1,2],\"x\":1},\"gone\":2},"
			      "\"B\":{\"new2\":1,\"gone\":3},\"L\":[{\"gone\":4}]}",
			      "{\"A\":{\"new1\":{\"x\":1}},\"B\":{\"new2\":1,\"gone\":3},\"L\":[{}]}");
	/* below one level 100 levels fit, below sixty they are too many */
	for (int round = 0; round < 8; round++) {
		int outer = round < 7 ? 1 : 60;

		text.length = 0;
		for (int i = 0; i < outer + 100; i++)
			bytes_say(&text, i < outer ? "{\"C\":" : "[\"x\",");
		bytes_say(&text, "0");
		for (int i = 0; i < 100 + outer; i++)
			bytes_say(&text, i < 100 ? "]" : "}");
		assert_int_equal(body_fixture_decode(fx, (char *)text.data, text.length, 0),
				 outer == 1 ? 0 : -EBADMSG);
	}
	bytes_done(&text);
	bytes_done(&expected);
	body_fixture_free(fx);
}

/* The last of equal keys stays, also in a sub-tree whose text is remembered. */
TEST(the_last_of_equal_keys_stays_in_a_remembered_text)
{
#define ELEMENTS                                                                                             \
	"\"b\":[\"elem 1\",\"elem 2\",\"elem 3\",\"elem 4\",\"elem 5\",\"elem 6\",\"elem 7\",\"elem 8\"],"
#define LINES                                                                                                \
	"\"c\":\"in line\",\"d\":\"in line\",\"e\":\"in line\",\"f\":\"in line\",\"g\":\"in "                \
	"line\",\"h\":\"in line\","
	for (int i = 0; i < 10; i++)
		assert_prints(fx, "{\"x\":{\"a\":1," ELEMENTS LINES "\"a\":2}}",
			      "{\"x\":{" ELEMENTS LINES "\"a\":2}}");
}

/* A string of nearly 64 MiB is read in pieces of 16 KiB. A longer string is refused. */
TEST(huge_strings_are_read_up_to_the_limit)
{
	size_t length = 64u << 20;
	const char *data;
	struct value v;
	char *text = malloc(length + 3);

	assert_non_null(text);
	memset(text, 'x', length + 2);
	text[0] = text[length - 1] = '"';
	assert_int_equal(body_fixture_decode(fx, text, length, 16384), 0);
	v = value_of_object(&fx->arena->view, fx->ref);
	assert_true(value_string(v, &data, &length));
	assert_int_equal(length, (64u << 20) - 2);
	assert_memory_equal(data, text + 1, length);
	length += 2;
	text[length - 1] = 'x';
	text[length] = '"';
	assert_int_equal(body_fixture_decode(fx, text, length + 1, 16384), -EBADMSG);
	assert_non_null(strstr(fx->error, "longer"));
	free(text);
}

/* 2,000 objects of 20 kinds have their common values once in the arena, and are printed as sent. */
TEST(repeated_values_are_shared_and_others_inline)
{
	struct json_random r = {.seed = 44};
	uint64_t sent = 0, late = 0, shared;
	static uint32_t refs[2000];
	struct arena_stats stats;
	char text[2048];

	for (unsigned i = 0; i < 2000; i++) {
		unsigned kind = json_random_below(&r, 20);
		size_t n = (size_t)snprintf(
			text, sizeof(text),
			"{\"uid\":\"%08x-aaaa-bbbb-cccc-%012x\",\"spec\":{\"containers\":[{\"name\":\"contain"
			"er-number-%u\",\"image\":\"registry.example.com/some/image/of/kind:%u\","
			"\"env\":[{\"name\":\"A_VARIABLE\",\"value\":\"its value in kind %u\"},"
			"{\"name\":\"ANOTHER\",\"value\":\"%u\"}],\"args\":[\"--one\",\"--two\","
			"\"--three\"]}],\"restartPolicy\":\"Always\"}}",
			json_random_below(&r, 1u << 31), json_random_below(&r, 1u << 31), kind, kind, kind,
			kind);

		sent += n;
		assert_int_equal(body_fixture_decode(fx, text, n, i % 2 ? 0 : 100), 0);
		assert_string_equal(body_fixture_print_ref(fx, fx->ref), text);
		refs[i] = fx->ref;
		fx->ref = 0; /* the test keeps the object */
		if (i >= 1000)
			late += block_footprint(block_length(arena_block(fx->arena, refs[i])));
	}
	arena_stats(fx->arena, &stats);
	shared = intern_count(fx->intern);
	/* the uid, a reference, and the headers */
	assert_true(late / 1000 <= 144);
	assert_true(stats.used_bytes < sent / 2);
	assert_true(shared < 500);
	for (unsigned i = 0; i < 2000; i++)
		draft_discard(fx->arena, fx->intern, (struct draft){refs[i]});
}

/* ---- streams ---- */

/* Tests write JSON with ' in place of ". Returns the JSON that is sent. */
static char *
replaced(const char *text, char old, char with)
{
	char *copy = strdup(text);

	for (char *c = copy; (c = strchr(c, old)); c++)
		*c = with;
	return copy;
}

static void
assert_log(const struct stream *s, const char *expected)
{
	char *log = replaced(s->log, '"', '\'');

	assert_string_equal(log, expected);
	free(log);
}

/* The report of a stream is the same in pieces of 1, 2, … bytes and whole. */
static void
assert_stream_limited(enum decoder_mode mode, const char *const *drops, size_t drop_count, const char *text_,
		      uint64_t max_bytes, const char *expected)
{
	const size_t chunks[] = {0, 1, 2, 3, 7, 16, 61};
	char *text = replaced(text_, '\'', '"');

	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		struct stream *s = stream_new(drops, drop_count, NULL);

		s->max_bytes = max_bytes;
		if (stream_run(s, mode, text, strlen(text), chunks[i]) != 0)
			fail_msg("%s", s->why);
		assert_log(s, expected);
		assert_nothing_left(s->fx);
		stream_free(s);
	}
	free(text);
}

static void
assert_stream(enum decoder_mode mode, const char *text, const char *expected)
{
	assert_stream_limited(mode, NULL, 0, text, 0, expected);
}

/* A list gives its items in order, then its version, wherever these stand in the list. */
TEST_CASE(a_list_gives_items_and_version_in_any_order)
{
	const char *items = "'items':[{'metadata':{'name':'a','namespace':'n'}},"
			    "{'spec':1,'metadata':{'namespace':'n','name':'b'}},{'metadata':{'name':'c'}}]";
	const char *objects = "[n/a]{'metadata':{'name':'a','namespace':'n'}}\n"
			      "[n/b]{'spec':1,'metadata':{'namespace':'n','name':'b'}}\n"
			      "[/c]{'metadata':{'name':'c'}}\n";
	const char *metadata = "'metadata':{'resourceVersion':'12','x':[{}],"
			       "'continue':'t\\u006fken','remainingItemCount':7}";
	char text[1024], expected[1024];

	snprintf(text, sizeof(text), "{'kind':'PodList',%s,%s}\n", metadata, items);
	snprintf(expected, sizeof(expected), "%sEND:12,token,7\n", objects);
	assert_stream(DECODE_LIST, text, expected);
	snprintf(text, sizeof(text), " { %s , 'apiVersion' : 'v1' , %s } ", items, metadata);
	assert_stream(DECODE_LIST, text, expected);
	assert_stream(DECODE_LIST, "{'items':null,'metadata':{'resourceVersion':'3'}}", "END:3,,0\n");
	assert_stream(DECODE_LIST, "{'items':[ ],'metadata':null}", "END:,,0\n");
}

/* An event's type and object may come in either order. Bookmarks and errors are given as text. */
TEST_CASE(a_watch_gives_events_in_any_order_of_fields)
{
	assert_stream(DECODE_WATCH,
		      "{'type':'ADDED','object':{'metadata':{'name':'a','namespace':'n'}}}\n"
		      "{'object':{'metadata':{'name':'a','namespace':'n'}},'type':'DELETED'}\n"
		      "{'type':'BOOKMARK','object':{'kind':'Pod','metadata':{'resourceVersion':'9'}}}\n"
		      "{'object':{'kind':'Status','metadata':{},'code':410},'type':'ERROR'}"
		      "{'type':'MODIFIED','extra':[1,{'object':2}],'object':{'metadata':{'name':'b'}}}\n",
		      "ADDED[n/a]{'metadata':{'name':'a','namespace':'n'}}\n"
		      "DELETED[n/a]{'metadata':{'name':'a','namespace':'n'}}\n"
		      "BOOKMARK:{'kind':'Pod','metadata':{'resourceVersion':'9'}}\n"
		      "ERROR:{'kind':'Status','metadata':{},'code':410}\n"
		      "MODIFIED[/b]{'metadata':{'name':'b'}}\n");
}

/* The last of an event's equal fields wins. Nothing of the first field is left. */
TEST_CASE(the_last_of_an_events_equal_fields_wins)
{
	assert_stream(DECODE_WATCH,
		      "{'type':'ADDED','object':{'metadata':{'name':'first, and long enough'}},"
		      "'object':{'metadata':{'name':'x'},'metadata':{'name':'z','namespace':'n','name':'y'}},"
		      "'type':'DELETED'}",
		      "DELETED[n/y]{'metadata':{'namespace':'n','name':'y'}}\n");
	assert_stream(DECODE_WATCH,
		      "{'type':'ADDED','object':{'metadata':{'name':'x'},'metadata':{'namespace':'n'}}}",
		      "BAD:the object at byte 25 is left out: it has no metadata.name\n");
}

/* An object without a usable key is reported with the reason, and the stream goes on. */
TEST_CASE(objects_without_a_key_are_reported)
{
	static const struct {
		const char *object, *why;
	} cases[] = {
		{"{}", "it has no metadata.name"},
		{"{'metadata':{}}", "it has no metadata.name"},
		{"{'metadata':5}", "it has no metadata.name"},
		{"{'metadata':[{'name':'x'}]}", "it has no metadata.name"},
		{"{'spec':{'metadata':{'name':'x'}}}", "it has no metadata.name"},
		{"{'metadata':{'name':''}}", "it has no metadata.name"},
		{"{'metadata':{'name':7}}", "its metadata.name is not a string"},
		{"{'metadata':{'name':{'name':'x'}}}", "its metadata.name is not a string"},
		{"{'metadata':{'name':null}}", "its metadata.name is not a string"},
		{"{'metadata':{'name':'a/b'}}", "its metadata.name contains a '/'"},
		{"{'metadata':{'name':'a','namespace':'a/b'}}", "its metadata.namespace contains a '/'"},
		{"{'metadata':{'name':'a','namespace':false}}", "its metadata.namespace is not a string"},
		{"[]", "it is not a JSON object"},
		{"null", "it is not a JSON object"},
		{"'metadata'", "it is not a JSON object"},
		{"12", "it is not a JSON object"},
	};
	char text[512], expected[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "{'items':[%s,{'metadata':{'name':'ok','namespace':null}}]}",
			 cases[i].object);
		snprintf(expected, sizeof(expected),
			 "BAD:the object at byte 10 is left out: "
			 "%s\n[/ok]{'metadata':{'name':'ok','namespace':null}}\nEND:,,0\n",
			 cases[i].why);
		assert_stream(DECODE_LIST, text, expected);
	}
	assert_stream(
		DECODE_WATCH,
		"{'type':'ADDED'}\n{'object':{'metadata':{'name':'a'}}}\n{'type':'ADDED','object':null}\n",
		"BAD:the event that ends at byte 16 has no object\n"
		"BAD:the event with the object at byte 27 has no type\n"
		"BAD:the object at byte 79 is left out: it is not a JSON object\n");
}

SET_UP(set_up_stream, stream_new(NULL, 0, NULL))
#define STREAM(name) TEST_CASE_OF(struct stream *s, set_up_stream, stream_tear_down, name)

/* Names and namespaces up to their limits are keys; longer ones are refused. */
STREAM(key_lengths_are_limited)
{
	char name[1100], ns[300], text[2000];

	memset(name, 'n', sizeof(name));
	memset(ns, 's', sizeof(ns));
	for (int over = 0; over < 3; over++) {
		int n = snprintf(text, sizeof(text),
				 "{\"items\":[{\"metadata\":{\"name\":\"%.*s\",\"namespace\":\"%.*s\"}}]}",
				 1024 + (over == 1), name, 255 + (over == 2), ns);

		assert_int_equal(stream_run(s, DECODE_LIST, text, (size_t)n, 0), 0);
		assert_non_null(strstr(s->log, over == 0   ? "[sssss"
					       : over == 1 ? "name is longer than 1,024"
							   : "namespace is longer than 255"));
	}
}

/* The header of an object with this metadata, until the next call. */
static const struct object *
header_of(struct stream *s, const char *metadata)
{
	char text[1000];
	int n = snprintf(text, sizeof(text), "{\"items\":[{\"metadata\":{%s,\"name\":\"x\"}}]}", metadata);

	stream_give_back(s);
	s->keep = 1;
	assert_int_equal(stream_run(s, DECODE_LIST, text, (size_t)n, 0), 0);
	return object_at(&s->fx->arena->view, s->drafts[0].ref);
}

/* The header has the last UID and version. A value that is no string, or too long, is only in the body. */
STREAM(the_header_has_uid_and_version)
{
	static const struct {
		const char *metadata, *uid, *version;
	} cases[] = {
		{"\"uid\":\"u1\",\"resourceVersion\":\"7\"", "u1", "7"},
		{"\"resourceVersion\":\"\\u0037\",\"labels\":{\"uid\":\"no\"}", "", "7"},
		{"\"uid\":\"u1\",\"uid\":\"u/2\"", "u/2", ""},
		{"\"uid\":\"u1\",\"uid\":null,\"resourceVersion\":7", "", ""},
		{"\"uid\":\"\",\"resourceVersion\":{\"uid\":\"no\"}", "", ""},
	};
	char text[1000], longest[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct object *o = header_of(s, cases[i].metadata);

		assert_int_equal(o->uid_length, strlen(cases[i].uid));
		assert_memory_equal(object_uid(o), cases[i].uid, o->uid_length);
		assert_int_equal(o->version_length, strlen(cases[i].version));
		assert_memory_equal(object_version(o), cases[i].version, o->version_length);
	}
	snprintf(longest, sizeof(longest), "%0255d", 7);
	for (unsigned longer = 0; longer < 2; longer++) {
		snprintf(text, sizeof(text), "\"uid\":\"%s%s\"", longest, longer ? "1" : "");
		assert_int_equal(header_of(s, text)->uid_length, longer ? 0 : 255);
		assert_non_null(strstr(s->log, text));
	}
}

/* ---- repeated objects ---- */

#define CHANGE(spec) "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"a\"}," spec "}}"
#define LONG "a text that is long enough to be shared by all who have it"
#define SPEC "\"spec\":{\"n\":5,\"long\":[\"" LONG "\",\"" LONG "\"]}"

/* Decode an event in pieces; its object becomes the known one. Returns its spec.n. */
static int64_t
change(struct stream *s, const char *text, size_t chunk)
{
	struct value n;
	int64_t number = -1;

	s->keep = s->kept + 1;
	assert_int_equal(stream_run(s, DECODE_WATCH, text, strlen(text), chunk), 0);
	assert_int_equal(s->objects, 1);
	s->known = s->drafts[s->kept - 1].ref;
	n = value_at_name(value_at_name(value_of_object(&s->fx->arena->view, s->known), "spec"), "n");
	assert_true(value_int(n, &number));
	return number;
}

/* Set the known object's spec.n to 6: a copy of the spec has 6. */
static void
mark(struct stream *s)
{
	struct value body = value_of_object(&s->fx->arena->view, s->known);

	*(uint8_t *)(uintptr_t)value_at_name(value_at_name(body, "spec"), "n").at = TAG_SMALL0 + 6;
}

/* Make a known object whose spec would be copied, with n 6. */
static void
change_and_mark(struct stream *s)
{
	change(s, CHANGE(SPEC), 0);
	change(s, CHANGE(SPEC), 0);
	mark(s);
}

/* A spec is copied from the known object if both have the same bytes and schema. */
STREAM(a_repeated_spec_is_copied)
{
	assert_int_equal(change(s, CHANGE(SPEC), 0), 5); /* no known object yet */
	mark(s);
	assert_int_equal(change(s, CHANGE(SPEC), 0), 5); /* the known object's bytes are not remembered yet */
	mark(s);
	assert_int_equal(change(s, CHANGE(SPEC), 0), 6);
	assert_string_equal(s->log,
			    "MODIFIED[/a]{\"metadata\":{\"name\":\"a\"},\"spec\":{\"n\":6,\"long\":[\"" LONG
			    "\",\"" LONG "\"]}}\n");
	assert_int_equal(change(s, CHANGE("\"spec\":{\"n\":4}"), 0), 4);
}

/* A spec that comes in pieces, comes before its key, or was read by another schema is read anew. */
STREAM(a_spec_that_cannot_be_compared_is_read)
{
	const char *reversed = "{\"type\":\"MODIFIED\",\"object\":{" SPEC ",\"metadata\":{\"name\":\"a\"}}}";

	change_and_mark(s);
	assert_int_equal(change(s, CHANGE(SPEC), 100), 5); /* its bytes are not remembered then */
	stream_give_back(s);
	change_and_mark(s);
	assert_int_equal(change(s, reversed, 0), 5);
	stream_give_back(s);
	change_and_mark(s);
	decoder_schema_forget_texts(s->fx->schema);
	assert_int_equal(change(s, CHANGE(SPEC), 0), 5);
	mark(s);
	/* the last of two specs counts, and its bytes */
	assert_int_equal(change(s, CHANGE(SPEC ",\"spec\":{\"n\":3}"), 0), 3);
}

static uint64_t
used_bytes(struct stream *s)
{
	struct arena_stats stats;

	arena_reclaim(s->fx->arena, UINT64_MAX);
	arena_stats(s->fx->arena, &stats);
	return stats.used_bytes;
}

/* Strings of 60 KB that came twice are remembered: up to 2 MiB, and none when their room is needed. */
STREAM(remembered_texts_are_bounded_and_given_back)
{
	enum { LENGTH = 60000, STRINGS = 60 };
	uint64_t most = 0, before = used_bytes(s);
	char *item = malloc(2 * LENGTH + 100);

	assert_non_null(item);
	for (unsigned i = 0; i < STRINGS; i++) {
		int n = sprintf(item, "{\"x\":\"%0*u\",\"y\":\"%0*u\"}", LENGTH, i, LENGTH, i);

		assert_int_equal(body_fixture_decode(s->fx, item, (size_t)n, 0), 0);
		most = used_bytes(s) - before > most ? used_bytes(s) - before : most;
	}
	assert_in_range(most, 1u << 20, (2u << 20) + (1u << 17));
	assert_int_equal(body_fixture_decode(s->fx, "{}", 2, 0), 0); /* discards the object before */
	assert_true(used_bytes(s) - before > 1u << 20);
	decoder_schema_give_back(s->fx->schema);
	assert_true(used_bytes(s) - before < LENGTH);
	free(item);
}

/* A name goes into the key, though the schema remembers the same text as a value. */
STREAM(a_repeated_name_with_escapes_is_a_name)
{
	static const char name[] = "a-name-that-has-\\u0065scapes-and-is-long-enough-to-be-remembered";
	char item[300], text[400];
	int n = snprintf(item, sizeof(item), "{\"other\":\"%s\",\"metadata\":{\"name\":\"%s\"}}", name, name);

	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(body_fixture_decode(s->fx, item, (size_t)n, 0), 0);
	n = snprintf(text, sizeof(text), "{\"items\":[%s]}", item);
	assert_int_equal(stream_run(s, DECODE_LIST, text, (size_t)n, 0), 0);
	assert_memory_equal(s->log, "[/a-name-that-has-escapes-and", 29);
}

/* An item nested 10,000 deep, or longer than allowed, is reported and skipped. Items beside it arrive. */
TEST_CASE(items_too_deep_or_too_long_are_skipped)
{
	static const struct {
		const char *begin, *again, *middle, *closing;
		unsigned times;
		uint64_t max_bytes;
		const char *why;
	} cases[] = {
		{"", "[{'a':", "{}", "}]", 5000, 0, "nested deeper than 128 levels"},
		{"'", "\\n", "'", "", 5000, 4000, "it is longer than 4000 bytes"},
		{"[", "1,", "1]", "", 5000, 4000, "it is longer than 4000 bytes"},
	};
	const char *ok = "{'metadata':{'name':'ok'}}";
	struct bytes text = {0};
	char expected[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text.length = 0;
		bytes_say(&text, "{'items':[%s,{'x':{'y':%s", ok, cases[i].begin);
		for (unsigned n = 0; n < cases[i].times; n++)
			bytes_say(&text, "%s", cases[i].again);
		bytes_say(&text, "%s", cases[i].middle);
		for (unsigned n = 0; n < cases[i].times; n++)
			bytes_say(&text, "%s", cases[i].closing);
		bytes_say(&text, ",'metadata':{'name':'bad'}}},%s]}", ok);
		snprintf(expected, sizeof(expected),
			 "[/ok]%s\nBAD:the object at byte 37 is left out: %s\n[/ok]%s\nEND:,,0\n", ok,
			 cases[i].why, ok);
		assert_stream_limited(DECODE_LIST, NULL, 0, (char *)text.data, cases[i].max_bytes, expected);
	}
	bytes_done(&text);
}

/* The limit counts the item's own bytes. An item of the limit is kept, one byte more is refused. */
TEST_CASE(the_length_limit_is_exact)
{
	const char *text = "{'items':[{'metadata':{'name':'ok'}}]}";

	assert_stream_limited(DECODE_LIST, NULL, 0, text, 26, "[/ok]{'metadata':{'name':'ok'}}\nEND:,,0\n");
	assert_stream_limited(
		DECODE_LIST, NULL, 0, text, 25,
		"BAD:the object ok at byte 10 is left out: it is longer than 25 bytes\nEND:,,0\n");
}

/* The log of a stream in which Pods are expected and kinds are dropped, with its error at the end. */
static void
assert_pods(enum decoder_mode mode, const char *text_, const char *expected)
{
	static const char *const drops[] = {"apiVersion", "kind"};
	const size_t chunks[] = {1, 2, 7, 1000};
	char *text = replaced(text_, '\'', '"');

	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		struct stream *s = stream_new(drops, 2, NULL);
		int r;

		s->kind = "Pod";
		r = stream_run(s, mode, text, strlen(text), chunks[i]);
		if (r < 0)
			strcat(strcat(s->log, "ERROR:"), s->why);
		assert_log(s, expected);
		stream_free(s);
	}
	free(text);
}

/* An event's object of another kind, or without metadata, is reported as foreign. A list of it is refused. */
TEST_CASE(objects_of_another_kind_are_reported)
{
	assert_pods(
		DECODE_WATCH,
		"{'type':'ADDED','object':{'kind':'Pod','apiVersion':'v1','metadata':{'name':'a'}}}\n"
		"{'type':'ADDED','object':{'metadata':{'name':'b'}}}\n"
		"{'type':'ADDED','object':{'metadata':{'name':'c','namespace':'n'}, 'kind' : 'Service' }}\n"
		"{'type':'ADDED','object':{'kind':'Pod'}}\n"
		"{'type':'ADDED','object':{'kind':'Pod','metadata':{}}}\n"
		"{'type':'ADDED','object':{'kind':'Po','kind':'Pod','metadata':{'name':'d'}}}\n"
		"{'type':'BOOKMARK','object':{'kind':'Service'}}\n"
		"{'type':'ERROR','object':{'kind':'Status'}}\n",
		"ADDED[/a]{'metadata':{'name':'a'}}\nADDED[/b]{'metadata':{'name':'b'}}\n"
		"FOREIGN:the object n/c at byte 160 is left out: it is a Service, not a Pod\n"
		"FOREIGN:the object at byte 249 is left out: it has no metadata.name\n"
		"BAD:the object at byte 290 is left out: it has no metadata.name\n"
		"ADDED[/d]{'metadata':{'name':'d'}}\nBOOKMARK:{}\nERROR:{}\n");
	assert_pods(DECODE_LIST,
		    "{'items':[{'metadata':{'name':'a'}},{'metadata':{'name':'b'},'kind':'Node'}]}",
		    "[/a]{'metadata':{'name':'a'}}\nERROR:it is a Node, not a Pod");
}

/* An event's object of another apiVersion is reported as foreign; in a list it counts, as in client-go. */
TEST_CASE(objects_of_another_version_are_reported)
{
	assert_pods(
		DECODE_WATCH,
		"{'type':'MODIFIED','object':{'kind':'Pod','apiVersion':'v2','metadata':{'name':'a'}}}\n"
		"{'type':'MODIFIED','object':{'apiVersion': 'v1' ,'metadata':{'name':'b'}}}\n"
		"{'type':'MODIFIED','object':{'metadata':{'name':'c'},'apiVersion':'v'}}\n"
		"{'type':'ADDED','object':{'apiVersion':'v2','apiVersion':'v1','metadata':{'name':'d'}}}\n"
		"{'type':'BOOKMARK','object':{'apiVersion':'v2'}}\n",
		"FOREIGN:the object a at byte 28 is left out: its apiVersion is v2, not v1\n"
		"MODIFIED[/b]{'metadata':{'name':'b'}}\n"
		"FOREIGN:the object c at byte 189 is left out: its apiVersion is v, not v1\n"
		"ADDED[/d]{'metadata':{'name':'d'}}\nBOOKMARK:{}\n");
	assert_pods(DECODE_LIST, "{'items':[{'apiVersion':'v2','kind':'Pod','metadata':{'name':'a'}}]}",
		    "[/a]{'metadata':{'name':'a'}}\nEND:,,0\n");
}

/* Dropped paths are left out in every spelling, in arrays and under [*]. Similar paths stay. */
TEST_CASE(drops_leave_out_their_paths)
{
	const char *drops[] = {"metadata.managedFields", "spec.containers[*].env", "status['a.b'].c",
			       "data[*].secret", "all[*]"};
	const char *text = "{'items':[{'metadata':{'managedFields':[{'f':{'x':[1,2]}},'}]'],'name':'a'},"
			   "'managedFields':1,'spec':{'containers':[{'env':[],'image':'i'},{'image':'j',"
			   "'\\u0065nv':{}},{'env':1}],'env':2},'status':{'a.b':{'c':1,'d':2},'c':3},"
			   "'data':{'x':{'secret':1,'y':2},'secret':{'z':1}},'all':[1,2,3]}]}";

	assert_stream_limited(
		DECODE_LIST, drops, 5, text, 0,
		"[/a]{'metadata':{'name':'a'},'managedFields':1,"
		"'spec':{'containers':[{'image':'i'},{'image':'j'},{}],'env':2},"
		"'status':{'a.b':{'d':2},'c':3},'data':{'x':{'y':2},'secret':{'z':1}},'all':[]}\n"
		"END:,,0\n");
}

/* For keys alone nothing else is decoded, and almost nothing stays in the arena. */
TEST_CASE(keys_are_read_without_the_rest)
{
	char text[] = "{'kind':'PodList','items':[{'spec':{'a':'long enough to be shared','b':[{}]},"
		      "'metadata':{'labels':{'name':'no'},'name':'a','uid':'u','namespace':'n',"
		      "'annotations':{'x':'long enough to be shared'}},'status':{'name':'no'}},"
		      "{'metadata':{'name':'b','resourceVersion':'7'}}]}";
	struct stream *s = stream_new(NULL, 0, NULL);
	struct decoder_schema *whole = s->fx->schema;
	uint64_t names;

	for (char *c = text; (c = strchr(c, '\'')); c++)
		*c = '"';
	s->fx->schema = decoder_schema_new_for_keys();
	for (size_t chunk = 0; chunk < 3; chunk++)
		assert_int_equal(stream_run(s, DECODE_LIST, text, strlen(text), chunk), 0);
	names = intern_count(s->fx->intern);
	assert_log(s, "[n/a]{'metadata':{'name':'a','uid':'u','namespace':'n'}}\n"
		      "[/b]{'metadata':{'name':'b','resourceVersion':'7'}}\nEND:,,0\n");
	assert_int_equal(names, 6 + 3); /* fields, shapes */
	decoder_schema_free(s->fx->schema);
	s->fx->schema = whole;
	stream_free(s);
}

/* An impossible drop (drop_path_test.c) is named by its number. */
TEST_CASE(impossible_drops_are_refused)
{
	const char *drops[] = {"metadata.managedFields", "metadata.name"};
	int bad = 99;

	assert_null(decoder_schema_new(drops, 2, &bad));
	assert_int_equal(bad, 1);
}

/* Bytes around the items are checked, too. */
TEST_CASE(broken_envelopes_are_refused)
{
	static const struct {
		enum decoder_mode mode;
		const char *text;
		unsigned offset;
	} cases[] = {
		{DECODE_LIST, "[]", 0},
		{DECODE_LIST, "{\"items\":{}}", 9},
		{DECODE_LIST, "{\"items\":[{}}", 12},
		{DECODE_LIST, "{\"items\":[{},]}", 13},
		{DECODE_LIST, "{\"items\":[],}", 12},
		{DECODE_LIST, "{\"metadata\":7}", 12},
		{DECODE_LIST, "{\"metadata\":{\"resourceVersion\":7}}", 31},
		{DECODE_LIST, "{\"metadata\":{\"remainingItemCount\":\"7\"}}", 34},
		{DECODE_LIST, "{} {}", 3},
		{DECODE_LIST, "", 0},
		{DECODE_LIST, "{\"items\":[", 10},
		{DECODE_WATCH, "[1]", 0},
		{DECODE_WATCH, "{\"type\":1}", 8},
		{DECODE_WATCH, "{\"type\":\"ADDED\",\"object\":{\"a\":1}", 32},
		{DECODE_WATCH, "{\"type\" \"ADDED\"}", 8},
		{DECODE_WATCH, "{}{}}", 4},
		{DECODE_WATCH, "{\"x\":[1,}", 8},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t chunk = 1; chunk < 50; chunk += 6) {
			struct stream *s = stream_new(NULL, 0, NULL);

			assert_int_equal(
				stream_run(s, cases[i].mode, cases[i].text, strlen(cases[i].text), chunk),
				-EBADMSG);
			if (!s->why[0] || s->offset != cases[i].offset)
				fail_msg("%s: byte %llu: %s", cases[i].text, (unsigned long long)s->offset,
					 s->why);
			stream_free(s);
		}
}

/* A callback's result, negative or positive, stops the decoder and is returned. */
STREAM(a_callback_stops_the_decoder)
{
	const char *text = "{\"items\":[{\"metadata\":{\"name\":\"a\"}},{\"metadata\":{\"name\":\"b\"}}]}";
	const int answers[] = {-ENOSPC, 1, 77, -1};

	for (size_t i = 0; i < 4; i++) {
		s->answer = answers[i];
		assert_int_equal(stream_run(s, DECODE_LIST, text, strlen(text), 0), answers[i]);
		assert_string_equal(s->log, "[/a]{\"metadata\":{\"name\":\"a\"}}\n");
	}
}

/* A full arena at any allocation is an error. The decoder frees its blocks, and reads on after a reset. */
TEST_CASE(a_full_arena_leaves_nothing_behind)
{
	struct json_random r = {.seed = 99};
	unsigned failed = 0;

	for (unsigned i = 0; i < 60; i++) {
		struct body_fixture *fx = body_fixture_new(NULL, 0);
		int result;

		do
			json_random_document(&r);
		while (r.sent.length < 200 || r.sent.length > 20000);
		for (uint64_t n = 0;; n++) {
			arena_fail_after(fx->arena, n);
			result = body_fixture_decode(fx, (char *)r.sent.data, r.sent.length, 100);
			if (result == 0)
				break;
			assert_int_equal(result, -ENOSPC);
			failed++;
		}
		arena_fail_after(fx->arena, UINT64_MAX);
		assert_string_equal(body_fixture_print_ref(fx, fx->ref), (char *)r.expected.data);
		assert_nothing_left(fx);
		body_fixture_free(fx);
	}
	assert_true(failed > 100);
	json_random_done(&r);
}

/* A schema moved to another arena forgets the first arena's blocks, and serves the second. */
TEST_CASE(a_schema_moves_to_another_arena)
{
	struct stream *a = stream_new(NULL, 0, NULL), *b = stream_new(NULL, 0, NULL);
	const char *text = "{\"items\":[{\"metadata\":{\"name\":\"a\",\"labels\":{\"k\":\"v\"}}}]}";

	assert_int_equal(stream_run(a, DECODE_LIST, text, strlen(text), 0), 0);
	assert_true(intern_count(a->fx->intern) > 0);
	decoder_free(a->fx->document);
	decoder_free(b->fx->document);
	a->fx->document = b->fx->document = NULL;
	decoder_schema_free(b->fx->schema);
	b->fx->schema = a->fx->schema;
	a->fx->schema = NULL;
	assert_int_equal(stream_run(b, DECODE_LIST, text, strlen(text), 0), 0);
	assert_int_equal(intern_count(a->fx->intern), 0);
	assert_nothing_left(b->fx);
	stream_free(a);
	stream_free(b);
}
