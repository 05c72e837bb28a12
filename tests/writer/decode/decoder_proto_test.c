/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf gives the same body as the server's JSON: each kind of field, set, zero and absent, by a schema of
 * the test, fed whole or byte by byte. Unknown fields, cuts and damage end in an error, and leave nothing in
 * the arena. (tests/upstream/wire_objects.sh has every kind of Kubernetes.)
 */
#include "tests/room.h"
#include "tests/support/proto_text.h"
#include "tests/support/stream_fixture.h"
#include "writer/decode/decoder_schema.h"

static const char schema_text[] =
	"releases test\n"
	"kind v1 Thing Thing.v1\n"
	"kind v1 Status Status.v1\n"
	"message Thing.v1\n"
	"1 metadata Meta.v1 omitempty\n"
	"2 spec Spec.v1 omitempty\n"
	"message Meta.v1\n"
	"1 name string omitempty\n"
	"3 namespace string omitempty\n"
	"6 resourceVersion string omitempty\n"
	"8 creationTimestamp time omitempty omitzero\n"
	"11 labels map[]string omitempty\n"
	"17 managedFields []Fields.v1 omitempty\n"
	"message Fields.v1\n"
	"1 manager string\n"
	"message Spec.v1\n"
	"1 text string omitempty\n"
	"2 always string\n"
	"3 number int omitempty\n"
	"4 maybe *int omitempty\n"
	"5 yes bool omitempty\n"
	"6 perhaps *bool\n"
	"7 bytes bytes\n"
	"8 list []string\n"
	"9 numbers []int omitempty\n"
	"10 parts []Part.v1 omitempty\n"
	"11 - Inner.v1\n"
	"12 port intOrString\n"
	"13 amount quantity omitempty\n"
	"14 at *time omitempty\n"
	"15 exactly microTime omitempty\n"
	"16 raw raw omitempty\n"
	"17 extra map[]list[]string omitempty\n"
	"18 sizes map[]quantity omitempty\n"
	"19 was []string gone\n"
	"20 words map[]string omitempty\n"
	"21 files map[]bytes omitempty\n"
	"1000 far string omitempty\n"
	"message Part.v1\n"
	"0 kind \"Part\"\n"
	"1 name string\n"
	"2 part *Part.v1 omitempty\n"
	"message Inner.v1\n"
	"1 inner string omitempty\n"
	"message Status.v1\n"
	"3 message string omitempty\n"
	"6 code int omitempty\n";

static const char *const drops[] = {"metadata.managedFields", "kind", "apiVersion"};
SET_UP(set_up, stream_new(drops, 3, schema_text))

/* Decode s->in. */
static int
run(struct stream *s, enum decoder_mode mode, size_t chunk)
{
	return stream_run(s, mode, s->in.data, s->in.length, chunk);
}

/* Decode a list of one item of this kind with these fields. */
static void
read_item(struct stream *s, const char *kind, const char *fields)
{
	struct bytes text = {0};

	bytes_say(&text, "'k8s' 00 1:{1:'v1' 2:'%sList'} 2:{1:{} 2:{1:{1:'n'} %s}} 3:'' 4:''", kind, fields);
	proto_text(&s->in, (const char *)text.data);
	bytes_done(&text);
	assert_int_equal(run(s, DECODE_LIST, 0), 0);
}

/* ---- fields ---- */

/* The fields of the item's spec as text (proto_text.h), and the spec in JSON. */
static const struct {
	const char *fields, *json;
} cases[] = {
	/* absent: only fields that print null */
	{"", "{\"perhaps\":null,\"bytes\":null,\"list\":null}"},
	/* zeros: always-printed fields are there, omitempty fields are not, pointers are */
	{"1:'' 2:'' 3=0 4=0 5=0 6=0 7:'' 13:{} 12:{1=0 2=0 3:''} 15:{} 16:{} 1000:''",
	 "{\"always\":\"\",\"maybe\":0,\"perhaps\":false,\"bytes\":\"\",\"list\":null,\"port\":0,\"amount\":"
	 "\"0\",\"exactly\":null,\"raw\":null}"},
	{"1:'a' 2:'b' 3=7 4=8 5=1 6=1 7:'abcd' 8:'x' 8:'' 9=1 9=0 9=-5 1000:'far'",
	 "{\"text\":\"a\",\"always\":\"b\",\"number\":7,\"maybe\":8,\"yes\":true,\"perhaps\":true,\"bytes\":"
	 "\"YWJjZA==\",\"list\":[\"x\",\"\"],\"numbers\":[1,0,-5],\"far\":\"far\"}"},
	/* a message that contains itself, with a constant; members in the outer object; JSON's order */
	{"11:{1:'in'} 10:{1:'p' 2:{1:'q'}} 10:{}",
	 "{\"perhaps\":null,\"bytes\":null,\"list\":null,\"parts\":[{\"kind\":\"Part\",\"name\":\"p\","
	 "\"part\":{\"kind\":\"Part\",\"name\":\"q\"}},{\"kind\":\"Part\"}],\"inner\":\"in\"}"},
	/* fields with forms of their own */
	{"6=1 7:'' 8:'' 12:{1=1 3:'http'} 13:{1:'100m'} 14:{1=0 2=0} 15:{1=1700000000 2=123456789}",
	 "{\"perhaps\":true,\"bytes\":\"\",\"list\":[\"\"],\"port\":\"http\",\"amount\":\"100m\",\"at\":"
	 "\"1970-01-01T00:00:00Z\",\"exactly\":\"2023-11-14T22:13:20.123456Z\"}"},
	{"6=1 7:'' 8:'' 12:{1=0 2=-1} 14:{1=-62135596800}",
	 "{\"perhaps\":true,\"bytes\":\"\",\"list\":[\"\"],\"port\":-1,\"at\":null}"},
	/* years that no time text can have, as the server prints them */
	{"6=1 7:'' 8:'' 14:{1=253402300800} 15:{1=-62167219201 2=5000}",
	 "{\"perhaps\":true,\"bytes\":\"\",\"list\":[\"\"],\"at\":\"10000-01-01T00:00:00Z\",\"exactly\":"
	 "\"-0001-12-31T23:59:59.000005Z\"}"},
	{"6=1 7:'' 8:'' 16:{1:' {\"a\" : [1, 2.5, null], \"b\":\"\"} '}",
	 "{\"perhaps\":true,\"bytes\":\"\",\"list\":[\"\"],\"raw\":{\"a\":[1,2.5,null],\"b\":\"\"}}"},
	{"6=1 7:'' 8:'' 17:{1:'k' 2:{1:'a' 1:'b'}} 17:{1:'l' 2:{}} 18:{1:'' 2:{1:'1Gi'}} 18:{1:'z'}",
	 "{\"perhaps\":true,\"bytes\":\"\",\"list\":[\"\"],\"extra\":{\"k\":[\"a\",\"b\"],\"l\":[]},"
	 "\"sizes\":{\"\":\"1Gi\",\"z\":\"0\"}}"},
	/* a map entry and a text without their text */
	{"6=1 7:'' 8:'' 12:{1=1} 20:{1:'k'} 20:{} 21:{1:'b'}",
	 "{\"perhaps\":true,\"bytes\":\"\",\"list\":[\"\"],\"port\":\"\",\"words\":{\"k\":\"\",\"\":\"\"},"
	 "\"files\":{\"b\":\"\"}}"},
	/* invalid UTF-8 in a text and in a key */
	{"1:'a\xff\xc0\xafz' 6=1 7:'' 8:'\xed\xa0\x80' 18:{1:'\xc3' 2:{1:'1'}}",
	 "{\"text\":\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\",\"perhaps\":true,\"bytes\":\"\",\"list\":["
	 "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"],\"sizes\":{\"\xef\xbf\xbd\":\"1\"}}"},
	/* repeated fields with another field in between */
	{"6=1 7:'' 8:'a' 2:'b' 8:'c'",
	 "{\"always\":\"b\",\"perhaps\":true,\"bytes\":\"\",\"list\":[\"a\",\"c\"]}"},
};

static void
a_list_of(struct stream *s, const char *spec)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "'k8s' 00 1:{1:'v1' 2:'ThingList'} 2:{1:{1:'' 2:'77' 3:'next' 4=5 5:{} 6=1} "
		 "2:{1:{1:'n' 3:'d' 6:'3' 8:{1=-62135596800} 11:{1:'app' 2:'web'} 17:{1:'someone' "
		 "9:'unknown'}} 2:{%s}}} 3:'' 4:''",
		 spec);
	proto_text(&s->in, text);
}
#define TEST(name) TEST_CASE_OF(struct stream *w, set_up, stream_tear_down, name)

TEST(each_field_gives_the_servers_json)
{
	char want[1024];

	for (unsigned again = 0; again < 3; again++) /* remembered texts change nothing */
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			a_list_of(w, cases[i].fields);
			snprintf(want, sizeof(want),
				 "[d/n]{\"metadata\":{\"name\":\"n\",\"namespace\":\"d\",\"resourceVersion\":"
				 "\"3\",\"labels\":{\"app\":\"web\"}},\"spec\":%s}\nEND:77,next,5\n",
				 cases[i].json);
			for (size_t chunk = 1; chunk < w->in.length;
			     chunk = chunk < 8 ? chunk + 1 : chunk * 2) {
				assert_int_equal(run(w, DECODE_LIST, chunk), 0);
				assert_string_equal(w->log, want);
			}
		}
}

/* The same bytes give other JSON for a server of another release, also where they are remembered. */
TEST(the_release_decides_what_is_printed)
{
	static const char line[] = "8 list []string\n", since[] = "8 list []string since=1.35\n";
	static const struct {
		unsigned release;
		const char *list;
	} servers[] = {{1035, ",\"list\":null"}, {1034, ""}, {1036, ",\"list\":null"}, {1033, ""}};
	char text[sizeof(schema_text) + sizeof(since)], want[256];
	const char *at = strstr(schema_text, line);

	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - schema_text), schema_text, since,
		 at + sizeof(line) - 1);
	stream_use_schema(w, text);
	w->keep = STREAM_KEPT;
	a_list_of(w, "1:'0123456789' 2:'abcdefghij' "
		     "3=1099511627776 4=1099511627777 6=1 7:'0123' 12:{1=1 3:'abcdefghi'}");
	for (size_t i = 0; i < sizeof(servers) / sizeof(*servers); i++) {
		assert_true(proto_schema_fit(w->proto, servers[i].release));
		decoder_schema_forget_texts(w->fx->schema);
		snprintf(want, sizeof(want),
			 "\"bytes\":\"MDEyMw==\"%s,\"port\":\"abcdefghi\"}}\n",
			 servers[i].list);
		for (unsigned again = 0; again < 150; again++) { /* until the text is remembered */
			assert_int_equal(run(w, DECODE_LIST, 0), 0);
			assert_non_null(strstr(w->log, want));
		}
	}
	stream_give_back(w);
}

#define LEFT_AND_RIGHT                                                                                       \
	"message A.v1\n1 left string\n2 b string\n3 c string\n4 d string\n5 e string\n"                      \
	"message B.v1\n1 right string\n2 b string\n3 c string\n4 d string\n5 e string\n"
#define SAME "{1:'texts that' 2:'stand where' 3:'they are' 4:'and are not' 5:'shared'}"

/*
 * Where a schema has too many paths to tell apart, fields of two messages share a path node. Texts remembered
 * there for one message are not used for the other. (The first two items have more names than are remembered.
 * With the second the schema starts anew, and keeps its nodes.)
 */
TEST(fields_at_one_path_are_not_confused)
{
	enum { MAPS = 17, NAMES = 256, TIMES = 150 };
	struct bytes schema = {0}, names = {0};

	bytes_say(&schema, "kind v1 Thing Thing.v1\nmessage Meta.v1\n1 name string\n" LEFT_AND_RIGHT
			   "message Thing.v1\n1 metadata Meta.v1\n2 a *A.v1 omitempty\n"
			   "3 b *B.v1 omitempty\n");
	for (unsigned m = 0; m < MAPS; m++) {
		bytes_say(&schema, "%u m%u map[]string omitempty\n", 10 + m, m);
		for (unsigned i = 0; i < NAMES; i++)
			bytes_say(&names, " %u:{1:'%u'}", 10 + m, i);
	}
	stream_use_schema(w, (const char *)schema.data);
	for (unsigned i = 0; i < 2; i++)
		read_item(w, "Thing", (const char *)names.data);
	w->keep = STREAM_KEPT;
	for (unsigned i = 0; i < 2 * TIMES; i++) {
		read_item(w, "Thing", i < TIMES ? "2:" SAME : "3:" SAME);
		assert_non_null(strstr(w->log, i < TIMES ? "\"a\":{\"left\":" : "\"b\":{\"right\":"));
	}
	stream_give_back(w);
	bytes_done(&schema);
	bytes_done(&names);
}

/* Two kinds of one schema share the path. */
TEST(kinds_at_one_path_are_not_confused)
{
	enum { TIMES = 150 };
	static const char text[] = "kind v1 Thing Thing.v1\nkind v1 Other Other.v1\nmessage Meta.v1\n"
				   "1 name string\nmessage Thing.v1\n1 metadata Meta.v1\n2 part A.v1\n"
				   "message Other.v1\n1 metadata Meta.v1\n2 part B.v1\n" LEFT_AND_RIGHT;

	stream_use_schema(w, text);
	w->keep = STREAM_KEPT;
	for (unsigned i = 0; i < 4 * TIMES; i++) {
		bool thing = i / TIMES % 2 == 0;

		read_item(w, thing ? "Thing" : "Other", "2:" SAME);
		assert_non_null(strstr(w->log, thing ? "\"part\":{\"left\":\"" : "\"part\":{\"right\":\""));
		if (i % TIMES == TIMES - 1) {
			stream_give_back(w);
			w->keep = STREAM_KEPT;
		}
	}
}

/* Texts remembered for one schema's message are not used for the next one's at the same address. */
TEST(schemas_at_one_path_are_not_confused)
{
	static const char text[] = "kind v1 Thing Thing.v1\nmessage Meta.v1\n1 name string\n"
				   "message Thing.v1\n1 metadata Meta.v1\n2 part Part.v1\n"
				   "message Part.v1\n1 %s string\n2 %s string\n";
	static const char *const names[][2] = {{"left", "right"}, {"over", "under"}, {"same", "same"}};
	char whole[512], want[128];

	for (unsigned i = 0; i < 12; i++) {
		const char *const *name = names[i % 3];

		snprintf(whole, sizeof(whole), text, name[0], name[1]);
		stream_use_schema(w, whole);
		snprintf(want, sizeof(want), "\"part\":{\"%s\":\"a\",\"%s\":\"b\"}", name[0], name[1]);
		if (i % 3 == 2) /* the last of two fields with one name stays */
			snprintf(want, sizeof(want), "\"part\":{\"%s\":\"b\"}", name[0]);
		for (unsigned again = 0; again < 3; again++) {
			read_item(w, "Thing", "2:{1:'a' 2:'b'}");
			assert_non_null(strstr(w->log, want));
		}
	}
}

/* ---- unknown, cut, damaged ---- */

static const char *const unknown[] = {
	"22:'new'",
	"23=0",
	"10:{1:'p' 3:'new'}",
	"10:{2:{2:{7=1}}}",
	"11:{2:''}",
	"17:{1:'k' 3:'new'}",
	"17:{1:'k' 2:{2:'new'}}",
	"12:{4=1}",
	"13:{2:''}",
	"14:{3=1}",
	"16:{1:'no JSON'}",
	"16:{1:'1,\"b\":2'}",
	"18:{1:'k' 2:{1:'1' 2:''}}",
};

TEST(unknown_fields_end_the_stream)
{
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		a_list_of(w, unknown[i]);
		for (size_t chunk = 1; chunk <= w->in.length; chunk += w->in.length - 1) {
			assert_int_equal(run(w, DECODE_LIST, chunk), -EPROTO);
			assert_true(strstr(w->why, "not known") || strstr(w->why, "should be JSON"));
			assert_string_equal(w->log, "");
		}
	}
}

TEST(malformed_bytes_are_refused)
{
	static const char *const wrong[] = {
		"1=5",          "3:'text'",
		"1:'a' 1:'b'",  "8=1",
		"10=1",         "13=0",
		"12:{1:''}",    "14:{1:''}",
		"18=1",         "raw ff ff ff ff ff ff ff ff ff ff 01",
		"raw 0a 7f 61", "raw 02 01",
		"raw 0b",       "18:{1=0}",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		a_list_of(w, wrong[i]);
		assert_int_equal(run(w, DECODE_LIST, 0), -EBADMSG);
		assert_string_equal(w->log, "");
	}
}

/* With any bit flipped, decoding gives an error or another object, and never a crash. */
TEST(any_flipped_bit_is_survived)
{
	size_t whole;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		a_list_of(w, cases[i].fields);
		whole = w->in.length;
		for (size_t at = 0; at < whole; at++)
			for (unsigned bit = 0; bit < 8; bit++) {
				w->in.data[at] ^= (uint8_t)(1 << bit);
				run(w, DECODE_LIST, bit ? 5 : whole);
				w->in.data[at] ^= (uint8_t)(1 << bit);
			}
	}
}

TEST(items_too_long_are_left_out)
{
	proto_text(&w->in, "'k8s' 00 1:{1:'v1' 2:'ThingList'} 2:{1:{2:'7'} 2:{1:{1:'a'}} "
			   "2:{1:{1:'b'} 2:{1:'0123456789012345678901234567890123456789'}} 2:{1:{1:'c'}}}");
	w->max_bytes = 30;
	for (size_t chunk = 1; chunk <= w->in.length; chunk++) {
		assert_int_equal(run(w, DECODE_LIST, chunk), 0);
		assert_string_equal(w->log,
				    "[/a]{\"metadata\":{\"name\":\"a\"}}\n"
				    "BAD:the object at byte 37 is left out: it is longer than 30 bytes\n"
				    "[/c]{\"metadata\":{\"name\":\"c\"}}\nEND:7,,0\n");
	}
}

/* ---- watches ---- */

TEST(a_watch_gives_its_events)
{
	stream_frame(&w->in, "1:'ADDED' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{1:{1:'a' 6:'1'}} 3:'' 4:''}}");
	stream_frame(&w->in,
		     "1:'DELETED' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{1:{1:'a' 6:'2'}} 3:'' 4:''}}");
	stream_frame(&w->in,
		     "1:'BOOKMARK' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{1:{1:'' 6:'9'}} 3:'' 4:''}}");
	stream_frame(&w->in, "1:'ERROR' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Status'} 2:{3:'gone' 6=410} 3:'' 4:''}}");
	for (size_t chunk = 1; chunk <= w->in.length; chunk++) {
		assert_int_equal(run(w, DECODE_WATCH, chunk), 0);
		assert_string_equal(w->log,
				    "ADDED[/a]{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}\n"
				    "DELETED[/a]{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"2\"}}\n"
				    "BOOKMARK:{\"metadata\":{\"resourceVersion\":\"9\"}}\n"
				    "ERROR:{\"message\":\"gone\",\"code\":410}\n");
	}
}

/* Only an event's object has kind and apiVersion: texts remembered for lists are not used for events. */
TEST(a_type_is_kept_only_where_it_was_sent)
{
	body_fixture_free(w->fx);
	w->fx = body_fixture_new(NULL, 0);
	for (unsigned i = 0; i < 4; i++) {
		bytes_clear(&w->in);
		stream_frame(&w->in,
			     "1:'ADDED' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{1:{1:'n'}} 3:'' 4:''}}");
		assert_int_equal(run(w, DECODE_WATCH, 0), 0);
		assert_string_equal(w->log, "ADDED[/n]{\"kind\":\"Thing\",\"apiVersion\":\"v1\","
					    "\"metadata\":{\"name\":\"n\"}}\n");
		read_item(w, "Thing", "");
		assert_string_equal(w->log, "[/n]{\"metadata\":{\"name\":\"n\"}}\nEND:,,0\n");
	}
}
