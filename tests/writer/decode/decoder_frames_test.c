/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The envelope in protobuf. A stream cut at any byte ends as a cut stream, with the items that were whole. A
 * length is checked before memory is allocated. An error names its byte, however the bytes came in. Nothing
 * stays in the arena.
 */
#include "tests/room.h"
#include "tests/support/proto_text.h"
#include "tests/support/stream_fixture.h"

#define ITEM_MAX 4096ul
#define PART_MAX 65536ul /* the envelope without its items */

static const char schema_text[] = "kind v1 Thing Thing.v1\n"
				  "kind v1 Status Status.v1\n"
				  "message Thing.v1\n"
				  "1 metadata Meta.v1 omitempty\n"
				  "2 nested Nested.v1 omitempty\n"
				  "message Meta.v1\n"
				  "1 name string omitempty\n"
				  "6 resourceVersion string omitempty\n"
				  "message Nested.v1\n"
				  "1 nested *Nested.v1 omitempty\n"
				  "2 - Nested.v1\n"
				  "3 number int omitempty\n"
				  "message Status.v1\n"
				  "6 code int omitempty\n";

static int
set_up(void **state)
{
	static const char *const drops[] = {"kind", "apiVersion"};
	struct stream *s = stream_new(drops, 2, schema_text);

	s->forgets = true;
	s->max_bytes = ITEM_MAX;
	*state = s;
	return 0;
}

static int
decode_text(struct stream *w, enum decoder_mode mode, const char *text, size_t chunk)
{
	proto_text(&w->in, text);
	return stream_run(w, mode, w->in.data, w->in.length, chunk);
}

#define LIST_HEAD "'k8s' 00 1:{1:'v1' 2:'ThingList'} "

/* ---- cut ---- */
#define TEST(name) TEST_CASE_OF(struct stream *w, set_up, stream_tear_down, name)

TEST(a_list_is_cut_at_every_byte)
{
	struct bytes part = {0};
	size_t ends[3], end; /* of the items; of the list */

	proto_text(&part, LIST_HEAD);
	end = part.length + 2; /* and the head of the list */
	proto_text(&part, "1:{1:'' 2:'77' 3:'more' 4=5}");
	end += part.length;
	for (unsigned i = 0; i < 3; i++) {
		proto_text(&part, i == 1 ? "2:{1:{1:'b' 6:'2'} 2:{3=300}}" : "2:{1:{1:'a'}}");
		ends[i] = end += part.length;
	}
	proto_text(&w->in, LIST_HEAD "2:{1:{1:'' 2:'77' 3:'more' 4=5} "
				     "2:{1:{1:'a'}} 2:{1:{1:'b' 6:'2'} 2:{3=300}} 2:{1:{1:'a'}}} 3:'' 4:''");
	assert_int_equal(w->in.length, end + 4);
	for (size_t n = 0; n <= w->in.length; n++)
		for (size_t chunk = 1; chunk <= 64; chunk *= 4) {
			bool whole = n == end || n == end + 2 || n == end + 4;

			assert_int_equal(stream_run(w, DECODE_LIST, w->in.data, n, chunk),
					 whole ? 0 : -EBADMSG);
			assert_int_equal(w->objects, (n >= ends[0]) + (n >= ends[1]) + (n >= ends[2]));
			assert_int_equal(w->bad, 0);
			if (whole)
				continue;
			assert_string_equal(w->why, "it ends in the middle of a document");
			assert_true(w->offset <= n);
			/* the rest could still be a part of the envelope */
			assert_int_equal(w->ends, n > end);
		}
	bytes_done(&part);
}

TEST(a_watch_is_cut_at_every_byte)
{
	size_t ends[4];

	stream_frame(&w->in, "1:'ADDED' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{1:{1:'a' 6:'1'}} 3:'' 4:''}}");
	ends[0] = w->in.length;
	stream_frame(&w->in,
		     "1:'MODIFIED' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{1:{1:'a' 6:'2'} 2:{3=-1}}}}");
	ends[1] = w->in.length;
	stream_frame(&w->in,
		     "1:'BOOKMARK' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{1:{1:'' 6:'9'}} 3:'' 4:''}}");
	ends[2] = w->in.length;
	stream_frame(&w->in, "1:'ERROR' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Status'} 2:{6=410}}}");
	ends[3] = w->in.length;
	for (size_t n = 0; n <= w->in.length; n++)
		for (size_t chunk = 1; chunk <= 64; chunk *= 4) {
			bool whole = n == 0 || n == ends[0] || n == ends[1] || n == ends[2] || n == ends[3];

			assert_int_equal(stream_run(w, DECODE_WATCH, w->in.data, n, chunk),
					 whole ? 0 : -EBADMSG);
			assert_int_equal(w->objects, (n >= ends[0]) + (n >= ends[1]));
			assert_int_equal(w->others, (n >= ends[2]) + (n >= ends[3]));
		}
}

/* ---- lengths ---- */

/* Each head is followed by as many zero bytes as a daemon would take before it notices. */
static const struct {
	enum decoder_mode mode;
	const char *head;
	const char *why; /* the error; NULL: the item is left out, and the decoder waits for more */
} lengths[] = {
	/* a part of the envelope, 2^40 bytes; 2^63 */
	{DECODE_LIST, "'k8s' 00 raw 0a 80 80 80 80 80 20", "a part of the list's head is too long"},
	{DECODE_LIST, "'k8s' 00 raw 0a 80 80 80 80 80 80 80 80 80 01",
	 "a part of the list's head is too long"},
	/* 2^64 */
	{DECODE_LIST, "'k8s' 00 raw 0a 80 80 80 80 80 80 80 80 80 02 0a 0a 0a 0a 0a 0a 0a 0a 0a",
	 "what stands around the items is malformed"},
	/* the list's metadata, of 1 MiB in a list of 2 */
	{DECODE_LIST, LIST_HEAD "raw 12 80 80 80 01 0a 80 80 40", "a part of the list's head is too long"},
	/* an unknown field of 2^40 bytes in a list of 2^63 */
	{DECODE_LIST, LIST_HEAD "raw 12 80 80 80 80 80 80 80 80 80 01 02 80 80 80 80 80 20",
	 "what stands around the items is malformed"},
	/* an item longer than its list */
	{DECODE_LIST, LIST_HEAD "raw 12 10 12 0f", "an item is longer than its list"},
	{DECODE_LIST, LIST_HEAD "raw 12 10 12 ff ff ff ff ff ff ff ff ff 01",
	 "an item is longer than its list"},
	/* one item of 2^62 bytes in a list of 2^63 */
	{DECODE_LIST, LIST_HEAD "raw 12 80 80 80 80 80 80 80 80 80 01 12 80 80 80 80 80 80 80 80 40", NULL},
	/* one byte more than an item may have */
	{DECODE_LIST, LIST_HEAD "raw 12 80 80 80 80 10 12 81 20", NULL},
	/* frames of 4 GiB, and of a byte more than the largest object with its envelope */
	{DECODE_WATCH, "raw ff ff ff ff", NULL},
	{DECODE_WATCH, "raw 00 01 10 01", NULL},
};

static void
more(struct bytes *to, int byte, size_t count)
{
	assert_int_equal(bytes_room(to, count), 0);
	memset(to->data + to->length, byte, count);
	to->length += count;
}

TEST(a_length_is_checked_before_memory_is_allocated)
{
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		for (size_t chunk = 1; chunk <= 4096; chunk *= 16) {
			proto_text(&w->in, lengths[i].head);
			more(&w->in, 0, 3000);
			assert_int_equal(stream_run(w, lengths[i].mode, w->in.data, w->in.length, chunk),
					 -EBADMSG);
			assert_int_equal(w->objects, 0);
			assert_true(w->memory <= 4096);
			assert_int_equal(w->bad, lengths[i].why ? 0 : 1);
			assert_string_equal(w->why, lengths[i].why ? lengths[i].why
								   : "it ends in the middle of a document");
		}
}

/* The decoder allocates as much memory as the length says, once the head is whole. */
TEST(a_waiting_item_takes_its_length_of_memory)
{
	proto_text(&w->in, LIST_HEAD "raw 12 80 40 12 80 20");
	assert_int_equal(stream_run(w, DECODE_LIST, w->in.data, w->in.length - 1, 1), -EBADMSG);
	assert_true(w->memory <= 1024);
	assert_int_equal(stream_run(w, DECODE_LIST, w->in.data, w->in.length, w->in.length), -EBADMSG);
	assert_true(w->memory >= ITEM_MAX && w->memory <= 2 * ITEM_MAX);
	proto_text(&w->in, "raw 00 01 10 00");
	assert_int_equal(stream_run(w, DECODE_WATCH, w->in.data, w->in.length, w->in.length), -EBADMSG);
	assert_true(w->memory >= ITEM_MAX + PART_MAX && w->memory <= 2 * (ITEM_MAX + PART_MAX));
}

TEST(items_behind_a_long_one_arrive)
{
	proto_text(&w->in, "raw 00 01 10 01");
	more(&w->in, 0x5a, PART_MAX + ITEM_MAX + 1);
	stream_frame(&w->in, "1:'ADDED' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{1:{1:'a' 6:'1'}}}}");
	for (size_t chunk = 1; chunk <= 65536; chunk *= 16) {
		assert_int_equal(stream_run(w, DECODE_WATCH, w->in.data, w->in.length, chunk), 0);
		assert_int_equal(w->bad, 1);
		assert_int_equal(w->objects, 1);
	}
}

TEST(objects_nested_too_deep_are_left_out)
{
	static const struct {
		unsigned number, levels, bad;
	} cases[] = {
		{1, 0, 0},
		{1, 126, 0},
		{1, 127, 1},
		{1, 1000, 1},
		/* in the outer object: a level of the decoder, but not of the body */
		{2, 7, 0},
		{2, 8, 1},
		{2, 1000, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes text = {0};

		bytes_say(&text, LIST_HEAD "2:{2:{1:{1:'deep'} 2:{");
		for (unsigned level = 0; level < cases[i].levels; level++)
			bytes_say(&text, "%u:{", cases[i].number);
		bytes_say(&text, "3=7");
		for (unsigned level = 0; level < cases[i].levels; level++)
			bytes_say(&text, "}");
		bytes_say(&text, "}} 2:{1:{1:'a'}}}");
		assert_int_equal(decode_text(w, DECODE_LIST, (const char *)text.data, 7), 0);
		assert_int_equal(w->bad, cases[i].bad);
		assert_int_equal(w->objects, 2 - cases[i].bad);
		assert_int_equal(w->ends, 1);
		bytes_done(&text);
	}
}

/* ---- parts in a wrong place ---- */

static const struct {
	enum decoder_mode mode;
	const char *text, *why;
	int result;
	unsigned offset; /* of the first byte that is wrong */
} wrong[] = {
	{DECODE_LIST, "'k8t' 00", "it does not begin as protobuf", -EBADMSG, 0},
	{DECODE_LIST, "'{\"kind\":\"List\"}'", "it does not begin as protobuf", -EBADMSG, 0},
	{DECODE_LIST, "'k8s' 00 1=1", "what stands around the items is malformed", -EBADMSG, 4},
	{DECODE_LIST, "'k8s' 00 5:''", "an envelope that is not known", -EPROTO, 4},
	{DECODE_LIST, "'k8s' 00 1:{1=1}", "apiVersion and kind are malformed", -EBADMSG, 6},
	{DECODE_LIST, "'k8s' 00 1:{3:''}", "apiVersion and kind are malformed", -EBADMSG, 6},
	{DECODE_LIST, "'k8s' 00 2:{}", "it is not a list", -EBADMSG, 4},
	{DECODE_LIST, "'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{}", "it is not a list", -EBADMSG, 17},
	{DECODE_LIST, "'k8s' 00 1:{1:'v1' 2:'List'} 2:{}", "it is not a list", -EBADMSG, 16},
	{DECODE_LIST, "'k8s' 00 1:{1:'v1' 2:'OtherList'} 2:{}", "kind Other of v1 is not known", -EPROTO, 21},
	{DECODE_LIST, LIST_HEAD "2:{} 2:{}", "there are two lists", -EBADMSG, 23},
	{DECODE_LIST, LIST_HEAD "2:{} 3:'gzip'", "an envelope that is not known", -EPROTO, 23},
	{DECODE_LIST, LIST_HEAD "2:{} 4:'text'", "an envelope that is not known", -EPROTO, 23},
	{DECODE_LIST, LIST_HEAD "raw 02 00", "what stands around the items is malformed", -EBADMSG, 21},
	{DECODE_LIST, LIST_HEAD "2:{3:''}", "the list has a field that is not known", -EPROTO, 23},
	{DECODE_LIST, LIST_HEAD "2:{2=1}", "what stands around the items is malformed", -EBADMSG, 23},
	{DECODE_LIST, LIST_HEAD "2:{1:{2=1}}", "the list's metadata is malformed", -EBADMSG, 25},
	{DECODE_LIST, LIST_HEAD "2:{1:{4:''}}", "the list's metadata is malformed", -EBADMSG, 25},
	{DECODE_LIST, LIST_HEAD "2:{1:{2:'1' raw 12 02 37 00}}", "the list's metadata is malformed", -EBADMSG,
	 30},
	{DECODE_LIST, LIST_HEAD "2:{2:{1:{1:'a'}} 2:{1:{1=1}}}", "a message Meta.v1 is malformed", -EBADMSG,
	 34},
	{DECODE_LIST, LIST_HEAD "2:{2:{1:{1:'a'}} 2:{2:{1:{9=1}}}}", "field 9 of Nested.v1 is not known",
	 -EPROTO, 36},
};

TEST(an_error_names_its_byte)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		for (size_t chunk = 0; chunk < 30; chunk++) {
			assert_int_equal(decode_text(w, wrong[i].mode, wrong[i].text, chunk),
					 wrong[i].result);
			assert_non_null(strstr(w->why, wrong[i].why));
			assert_int_equal(w->offset, wrong[i].offset);
		}
}

/* The beginning of a long kind is reported. A length that is a multiple of 256 is no exception. */
TEST(a_kind_of_any_length_is_named)
{
	static const size_t names[] = {63, 64, 65, 255, 256, 257, 512, 4096};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char kind[4096 + 1], version[4096 + 1], text[2 * 4096 + 64], why[160];
		int length = (int)names[i], shown = length < 64 ? length : 64;

		memset(kind, 'k', sizeof(kind));
		memset(version, 'v', sizeof(version));
		snprintf(text, sizeof(text), "'k8s' 00 1:{1:'%.*s' 2:'%.*sList'} 2:{}", length, version,
			 length, kind);
		snprintf(why, sizeof(why), "kind %.*s of %.*s is not known", shown, kind, shown, version);
		assert_int_equal(decode_text(w, DECODE_LIST, text, 0), -EPROTO);
		assert_string_equal(w->why, why);
	}
}

static const struct {
	const char *event, *why;
	int result;
} events_wrong[] = {
	{"1=1", "a watch event is malformed", -EBADMSG},
	{"3:''", "a watch event is malformed", -EBADMSG},
	{"1:'ADDED' 2:{2:''}", "a watch event's object is malformed", -EBADMSG},
	{"1:'ADDED' 2:{1:'' 1:''}", "a watch event's object is malformed", -EBADMSG},
	{"1:'ADDED' 2:{1:'k8s'}", "an object does not begin as protobuf", -EBADMSG},
	{"1:'ADDED' 2:{1:{'k8s' 00 1=1}}", "what stands around an object is malformed", -EBADMSG},
	{"1:'ADDED' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{1:{1:'a'}} 3:'gzip'}}",
	 "an envelope that is not known", -EPROTO},
	{"1:'ADDED' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{1:{1:'a'}} 5:''}}",
	 "an envelope that is not known", -EPROTO},
	{"1:'ADDED' 2:{1:{'k8s' 00 1:{1:'v1' 2:'New'} 2:{}}}", "kind New of v1 is not known", -EPROTO},
	{"1:'ADDED' 2:{1:{'k8s' 00 1:{1:'v2' 2:'Thing'} 2:{}}}", "kind Thing of v2 is not known", -EPROTO},
	{"1:'ADDED' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{1:{7:''}}}}", "field 7 of Meta.v1 is not known",
	 -EPROTO},
};

/* Events before the bad event are reported, events behind it are not. */
TEST(an_event_that_is_wrong_ends_the_stream)
{
	static const char good[] = "1:'ADDED' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'} 2:{1:{1:'a' 6:'1'}}}}";

	for (size_t i = 0; i < sizeof(events_wrong) / sizeof(*events_wrong); i++)
		for (size_t chunk = 1; chunk < 100; chunk += 7) {
			size_t begin, end;

			w->in.length = 0;
			stream_frame(&w->in, good);
			begin = w->in.length;
			stream_frame(&w->in, events_wrong[i].event);
			end = w->in.length;
			stream_frame(&w->in, good);
			assert_int_equal(stream_run(w, DECODE_WATCH, w->in.data, w->in.length, chunk),
					 events_wrong[i].result);
			assert_non_null(strstr(w->why, events_wrong[i].why));
			assert_true(w->offset >= begin && w->offset <= end);
			assert_int_equal(w->objects, 1);
		}
}

/* An object with kind and apiVersion alone has no name, and is bad. */
TEST(an_object_of_a_kind_alone_is_bad)
{
	stream_frame(&w->in, "1:'ADDED' 2:{1:{'k8s' 00 1:{1:'v1' 2:'Thing'}}}");
	for (size_t chunk = 1; chunk <= w->in.length; chunk++) {
		assert_int_equal(stream_run(w, DECODE_WATCH, w->in.data, w->in.length, chunk), 0);
		assert_int_equal(w->bad, 1);
		assert_string_equal(w->why, "the object at byte 32 is left out: it has no metadata.name");
	}
}
