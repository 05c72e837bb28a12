/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a message: their places, which absent ones appear in JSON, and where reading fails. */
#include "tests/room.h"
#include "tests/support/proto_text.h"
#include "writer/decode/proto_fields.h"

enum { TEXT, NUMBER, LIST, AT, NOTHING, FAR, FIELDS };

static const char schema_text[] = "kind v1 Thing Thing.v1\n"
				  "message Thing.v1\n"
				  "1 text string omitempty\n"
				  "2 number int\n"
				  "3 list []string\n"
				  "4 at time omitempty omitzero\n"
				  "5 nothing *int\n"
				  "900 far string\n";

struct world {
	struct proto_schema *schema;
	const struct proto_message *m;
	struct bytes in;
	struct proto_found found[PROTO_FIELDS_MAX];
	struct proto_fields_end end;
	uint64_t fields;
};

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	char why[200] = "";

	w->schema = proto_schema_parse(schema_text, sizeof(schema_text) - 1, why, sizeof(why));
	assert_string_equal(why, "");
	w->m = proto_schema_kind(w->schema, "v1", 2, "Thing", 5);
	*state = w;
	return 0;
}

static void
end_world(struct world *w)
{
	bytes_done(&w->in);
	proto_schema_free(w->schema);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

static int
find(struct world *w, const char *text)
{
	proto_text(&w->in, text);
	memset(w->found, 0xaa, sizeof(w->found));
	w->fields = 0;
	return proto_fields_find(w->m, (struct proto_span){w->in.data, w->in.data + w->in.length}, w->found,
				 &w->fields, &w->end);
}

/* The field has these bytes, written as for proto_text(). */
static void
assert_bytes(const struct world *w, unsigned field, const char *text)
{
	struct proto_span span = proto_found_bytes(&w->found[field]);
	struct bytes want = {0};

	proto_text(&want, text);
	assert_int_equal(span.end - span.at, want.length);
	assert_memory_equal(span.at, want.data, want.length);
	bytes_done(&want);
}
#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

TEST(fields_are_found_in_any_order)
{
	assert_int_equal(find(w, "900:'f' 3:'a' 2=300 3:'b' 1:'t' 4:{1=5 2=0} 3:'c' 5=0"), 0);
	assert_int_equal(w->fields, (1u << FIELDS) - 1);
	assert_bytes(w, TEXT, "raw 74");
	assert_bytes(w, FAR, "raw 66");
	assert_int_equal(w->found[NUMBER].value, 300);
	assert_bytes(w, AT, "1=5 2=0");
	assert_int_equal(w->found[NOTHING].value, 0);
	assert_non_null(w->found[NOTHING].at);
	/* from the first tag to the last entry, with other fields in between */
	assert_bytes(w, LIST, "3:'a' 2=300 3:'b' 1:'t' 4:{1=5 2=0} 3:'c'");
}

/* Absent fields that print null are there. A zero that would be left out counts as absent. */
TEST(absent_fields_are_there_only_where_they_print_null)
{
	static const char *const texts[] = {"", "1:'' 4:''", "4:{1=-62135596800}"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(find(w, texts[i]), 0);
		assert_int_equal(w->fields, 1u << LIST | 1u << NOTHING);
		assert_null(w->found[LIST].at);
		assert_null(w->found[NOTHING].at);
		assert_int_equal(w->found[LIST].value, 0);
	}
	assert_int_equal(find(w, "2=0 3:''"), 0);
	assert_int_equal(w->fields, 1u << NUMBER | 1u << LIST | 1u << NOTHING);
	assert_non_null(w->found[LIST].at);
}

TEST(failures_say_where_they_are)
{
	static const struct {
		const char *text;
		int result;
		unsigned at, number;
	} cases[] = {
		{"2=1 6:'new'", -EPROTO, 2, 6},
		{"2=1 7=0", -EPROTO, 2, 7},
		{"2=1 901:''", -EPROTO, 2, 901},
		{"2=1 1=5", -EBADMSG, 2, 0},
		{"2=1 2:'text'", -EBADMSG, 2, 0},
		{"1:'a' 2=1 1:'b'", -EBADMSG, 5, 0},
		{"1:'a' 2=1 1:''", -EBADMSG, 5, 0},
		{"2=1 raw 0a 7f 61", -EBADMSG, 2, 0},
		{"2=1 raw 0a", -EBADMSG, 2, 0},
		{"2=1 raw 02 01", -EBADMSG, 2, 0},
		{"2=1 raw 0b 00", -EBADMSG, 2, 0},
		{"2=1 raw 32 7f 61", -EBADMSG, 2, 0},
		{"2=1 raw 35 00 00 00 00", -EBADMSG, 2, 0},
		{"2=1 raw 0a ff ff ff ff ff ff ff ff ff ff 01", -EBADMSG, 2, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(find(w, cases[i].text), cases[i].result);
		assert_int_equal(w->end.at - w->in.data, cases[i].at);
		if (cases[i].result == -EPROTO)
			assert_int_equal(w->end.number, cases[i].number);
	}
}
