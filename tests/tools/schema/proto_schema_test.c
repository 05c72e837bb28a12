/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema's text becomes kinds, messages and fields. A mistake is reported with its line. The built-in
 * schema has the kinds of Kubernetes.
 */
#include "tests/room.h"
#include "tools/schema/proto_schema.h"
#include "writer/base/growing.h"

/* Parse a copy with nothing behind it, so that a sanitizer sees reads beyond its end. */
static struct proto_schema *
parse(const char *text, size_t length, char why[static 256])
{
	char *copy = malloc(length ? length : 1);
	struct proto_schema *s;

	assert_non_null(copy);
	memcpy(copy, text, length);
	memset(why, 0, 256);
	s = proto_schema_parse(copy, length, why, 256);
	free(copy);
	return s;
}

static struct proto_schema *
parsed(const char *text)
{
	char why[256];
	struct proto_schema *s = parse(text, strlen(text), why);

	if (!s)
		fail_msg("%s", why);
	return s;
}

static const struct proto_message *
kind(const struct proto_schema *s, const char *api_version, const char *name)
{
	return proto_schema_kind(s, api_version, strlen(api_version), name, strlen(name));
}

/* ---- lines ---- */

static const struct {
	const char *line, *name;
	unsigned number, type, flags;
	bool absent; /* printed in JSON even if absent */
} lines[] = {
	{"1 a string", "\"a\":", 1, PROTO_STRING, 0, false},
	{"1 a string omitempty", "\"a\":", 1, PROTO_STRING, PROTO_OMIT_EMPTY | PROTO_DROP_ZERO, false},
	{"2 a *int", "\"a\":", 2, PROTO_INT, PROTO_POINTER, true},
	{"2 a *int gone", "\"a\":", 2, PROTO_INT, PROTO_POINTER | PROTO_GONE, false},
	{"2 a *int omitempty", "\"a\":", 2, PROTO_INT, PROTO_POINTER | PROTO_OMIT_EMPTY, false},
	{"3 a []bool", "\"a\":", 3, PROTO_BOOL, PROTO_REPEATED, true},
	{"4 a map[]bytes", "\"a\":", 4, PROTO_BYTES, PROTO_REPEATED | PROTO_MAP, true},
	{"5 a bytes", "\"a\":", 5, PROTO_BYTES, 0, true},
	{"6 a quantity omitempty", "\"a\":", 6, PROTO_QUANTITY, PROTO_OMIT_EMPTY, false},
	{"7 a intOrString", "\"a\":", 7, PROTO_INT_OR_STRING, 0, false},
	{"8 a time omitempty omitzero", "\"a\":", 8, PROTO_TIME, PROTO_OMIT_EMPTY | PROTO_OMIT_ZERO, false},
	{"8 a *microTime", "\"a\":", 8, PROTO_MICRO_TIME, PROTO_POINTER, true},
	{"9 a raw", "\"a\":", 9, PROTO_RAW, 0, false},
	{"10 a list[]string", "\"a\":", 10, PROTO_STRING, PROTO_LIST, true},
	{"10 a map[]list[]string omitempty", "\"a\":", 10, PROTO_STRING,
	 PROTO_LIST | PROTO_MAP | PROTO_REPEATED | PROTO_OMIT_EMPTY, false},
	{"11 - B.v1", "\"-\":", 11, PROTO_MESSAGE, PROTO_INLINE, false},
	{"1023 a\tB.v1 ", "\"a\":", 1023, PROTO_MESSAGE, 0, false},
	{"0 a \"Text\"", "\"a\":", 0, PROTO_CONSTANT, 0, true},
};

TEST_CASE(a_line_becomes_a_field)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char text[256];
		struct proto_schema *s;
		const struct proto_message *m;
		const struct proto_field *f;

		snprintf(text, sizeof(text),
			 "# a comment\n\nmessage B.v1\n1 b string\nkind v1 A A.v1\nmessage A.v1\n%s",
			 lines[i].line);
		s = parsed(text);
		m = kind(s, "v1", "A");
		assert_non_null(m);
		assert_int_equal(m->count, 1);
		f = &m->fields[0];
		assert_int_equal(f->name_length, strlen(lines[i].name));
		assert_memory_equal(f->name, lines[i].name, f->name_length);
		assert_int_equal(f->number, lines[i].number);
		assert_int_equal(f->type, lines[i].type);
		assert_int_equal(f->flags, lines[i].flags);
		assert_int_equal(m->absent, lines[i].absent);
		if (f->type != PROTO_CONSTANT)
			assert_ptr_equal(proto_field_find(m, f->number), f);
		if (f->type == PROTO_MESSAGE)
			assert_string_equal(proto_schema_message(s, f->message)->name, "B.v1");
		proto_schema_free(s);
	}
}

TEST_CASE(an_unknown_number_is_not_found)
{
	struct proto_schema *s = parsed("kind v1 A A.v1\nmessage A.v1\n0 k \"v\"\n2 a string\n7 b string\n");
	const struct proto_message *m = kind(s, "v1", "A");
	static const uint64_t others[] = {0, 1, 3, 6, 8, 1023, 1024, UINT32_MAX, UINT64_MAX};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_null(proto_field_find(m, others[i]));
	assert_ptr_equal(proto_field_find(m, 2), &m->fields[1]);
	assert_ptr_equal(proto_field_find(m, 7), &m->fields[2]);
	proto_schema_free(s);
}

TEST_CASE(a_kind_is_found_by_both_its_names)
{
	struct proto_schema *s = parsed(
		"releases v1.2 v1.3\nkind v1 A A.v1\nkind x/v1 A B.v1\nmessage A.v1\nmessage B.v1\n");

	assert_string_equal(proto_schema_releases(s), "v1.2 v1.3");
	assert_string_equal(kind(s, "v1", "A")->name, "A.v1");
	assert_string_equal(kind(s, "x/v1", "A")->name, "B.v1");
	assert_null(kind(s, "v1", "AA"));
	assert_null(kind(s, "v", "A"));
	assert_null(kind(s, "", ""));
	proto_schema_free(s);
}

/* ---- releases ---- */

static const char varying[] =
	"releases v0.33.1 v0.37.2\nkind v1 A A.v1\nkind v1 B B.v1\nkind v1 C C.v1\nkind v1 D D.v1\n"
	"message D.v1\n1 e E.v1\nmessage E.v1\n1 b B.v1\n"
	"message A.v1\n1 s string omitempty=1.36\n2 l []string since=1.35 gone=1.37\n"
	"3 t time omitempty omitzero=1.34\n4 p *int omitempty=1.36\n5 q *int\n"
	"message B.v1\n1 a []A.v1\nmessage C.v1\n1 q *int omitempty gone=1.36\n2 r string\n";

/* The fields fit each release. For a release older than the schema they are uncertain. */
TEST_CASE(a_schema_fits_one_server)
{
	enum { EMPTY = PROTO_OMIT_EMPTY | PROTO_DROP_ZERO, ZERO = PROTO_OMIT_EMPTY | PROTO_OMIT_ZERO };
	static const struct {
		unsigned release, string, list, time, pointer;
		uint64_t absent;
		bool sure;
	} servers[] = {
		{0, EMPTY, PROTO_GONE, ZERO, PROTO_OMIT_EMPTY, 1 << 4, false},
		{1032, EMPTY, PROTO_GONE, ZERO, PROTO_OMIT_EMPTY, 1 << 4, false},
		{1033, 0, PROTO_GONE, PROTO_OMIT_EMPTY, 0, 1 << 3 | 1 << 4, true},
		{1034, 0, PROTO_GONE, ZERO, 0, 1 << 3 | 1 << 4, true},
		{1035, 0, 0, ZERO, 0, 1 << 1 | 1 << 3 | 1 << 4, true},
		{1036, EMPTY, 0, ZERO, PROTO_OMIT_EMPTY, 1 << 1 | 1 << 4, true},
		{1037, EMPTY, PROTO_GONE, ZERO, PROTO_OMIT_EMPTY, 1 << 4, true},
		{2001, EMPTY, PROTO_GONE, ZERO, PROTO_OMIT_EMPTY, 1 << 4, true},
		{1033, 0, PROTO_GONE, PROTO_OMIT_EMPTY, 0, 1 << 3 | 1 << 4, true},
	};
	struct proto_schema *s = parsed(varying);
	const struct proto_message *m = kind(s, "v1", "A");

	assert_int_equal(proto_schema_newest(s), 1037);
	for (size_t i = 0; i < sizeof(servers) / sizeof(*servers); i++) {
		bool was = proto_schema_release(s) != (servers[i].sure ? servers[i].release : 0);

		assert_int_equal(proto_schema_fit(s, servers[i].release), was);
		assert_false(proto_schema_fit(s, servers[i].release));
		assert_int_equal(proto_schema_release(s), servers[i].sure ? servers[i].release : 0);
		assert_int_equal(m->fields[0].flags, servers[i].string);
		assert_int_equal(m->fields[1].flags, PROTO_REPEATED | servers[i].list);
		assert_int_equal(m->fields[2].flags, servers[i].time);
		assert_int_equal(m->fields[3].flags, PROTO_POINTER | servers[i].pointer);
		assert_int_equal(m->absent, servers[i].absent);
		assert_int_equal(proto_schema_is_sure(s, m), servers[i].sure);
		assert_int_equal(proto_schema_is_sure(s, kind(s, "v1", "B")),
				 servers[i].sure); /* an A within */
		assert_int_equal(proto_schema_is_sure(s, kind(s, "v1", "D")),
				 servers[i].sure);                        /* deeper, and read before them */
		assert_true(proto_schema_is_sure(s, kind(s, "v1", "C"))); /* left out, or not there */
	}
	proto_schema_free(s);
}

/* ---- mistakes ---- */

static const struct {
	const char *text, *why;
} wrong[] = {
	{"", "line 0: there is no kind"},
	{"# nothing\n\n", "line 2: there is no kind"},
	{"message A.v1\n1 a string\n", "line 2: there is no kind"},
	{"<html>\n", "line 1: it begins with none of"},
	{"kind\n", "line 1: a kind is"},
	{"kind v1 A\n", "line 1: a kind is"},
	{"kind v1 A A.v1 B.v1\n", "line 1: a kind is"},
	{"kind v1 A A.v1\n\nkind v1 A A.v1\n", "line 3: there are two kinds A of v1"},
	{"\nkind v1 A A.v1\nmessage B.v1\n", "line 2: there is no message A.v1"},
	{"kind v1 A A.v1\n", "line 1: there is no message A.v1"},
	{"message\n", "line 1: a message is"},
	{"message A.v1 B.v1\n", "line 1: a message is"},
	{"kind v1 A A.v1\nmessage A.v1\n1 a *int since\n", "line 3: since stands with a release"},
	{"kind v1 A A.v1\nmessage A.v1\n1 a *int gone=x\n", "line 3: gone stands with a release"},
	{"kind v1 A A.v1\nmessage A.v1\n1 a *int omitempty=1\n", "line 3: omitempty stands with a release"},
	{"kind v1 A A.v1\nmessage A.v1\n1 a *int omitempty=1.\n", "line 3: omitempty stands with a release"},
	{"kind v1 A A.v1\nmessage A.v1\n1 a *int omitzero=1.34\n", "line 3: omitzero is known of times"},
	{"kind v1 A A.v1\nmessage A.v1\n1 a *int then=1.34\n", "line 3: then is no option"},
	{"kind v1 A A.v1\nmessage A.v1\n1 a B.v1\n2 b A.v1\n", "line 3: there is no message B.v1"},
	{"kind v1 A A.v1\nmessage A.v1\n\nmessage A.v1\n# end\n", "line 4: there are two messages A.v1"},
	{"1 a string\n", "line 1: a field is"},
	{"message A.v1\n1\n", "line 2: a field is"},
	{"message A.v1\n1 a\n", "line 2: a field is"},
	{"message A.v1\n1a a string\n", "line 2: a field is"},
	{"message A.v1\n1024 a string\n", "line 2: a field is"},
	{"message A.v1\n99999999999999999999 a string\n", "line 2: a field is"},
	{"message A.v1\n1 a string\n1 b string\n", "line 3: A.v1 has two fields 1"},
	{"message A.v1\n0 a string\n", "line 2: a number is missing"},
	{"message A.v1\n1 a \"x\"\n", "line 2: a number is missing"},
	{"message A.v1\n0 a \"x\n", "line 2: \"x is no text"},
	{"message A.v1\n0 a \"\n", "line 2: \" is no text"},
	{"message A.v1\n0 a \"x\"y\"\n", "line 2: \"x\"y\" is no text"},
	{"message A.v1\n0 a \"x\\n\"\n", "line 2: \"x\\n\" is no text"},
	{"message A.v1\n1 a float\n", "line 2: float is no type"},
	{"message A.v1\n1 a string\r\n", "line 2: string\r is no type"},
	{"message A.v1\n1 a [][]string\n", "line 2: []string is no type"},
	{"kind v1 A A.v1\nmessage A.v1\n1 a []list[]string\n", "line 3: list[]string is no type"},
	{"message A.v1\n1 a string omit\n", "line 2: omit is no option"},
	{"message A.v1\n1 a string omitzero\n", "line 2: omitzero is known of times"},
	{"message A.v1\n1 a\"b string\n", "line 2: a\"b is no name"},
	{"message A.v1\n1 - string\n", "line 2: only a message can"},
	{"message A.v1\n1 - []A.v1\n", "line 2: only a message can"},
};

TEST_CASE(a_mistake_is_reported_with_its_line)
{
	char why[256];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_null(parse(wrong[i].text, strlen(wrong[i].text), why));
		if (strncmp(why, wrong[i].why, strlen(wrong[i].why)) != 0)
			fail_msg("%s: '%s', not '%s'", wrong[i].text, why, wrong[i].why);
	}
	assert_null(parse("kind v1 A A.v1\nmessage A.v1\n1 a\0 string\n", 40, why));
	assert_string_equal(why, "line 3: there is a zero byte, so it is no text");
}

/* The longest message is cut and terminated. */
TEST_CASE(a_message_fits_its_buffer)
{
	char why[16], text[600] = "message A.v1\n1 a ";

	memset(text + strlen(text), 'x', 500);
	for (size_t room = 1; room <= sizeof(why); room++) {
		memset(why, '!', sizeof(why));
		assert_null(proto_schema_parse(text, strlen(text), why, room));
		assert_true(strlen(why) < room);
	}
}

static void __attribute__((format(printf, 2, 3))) add(struct bytes *to, const char *format, ...)
{
	char line[64];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	assert_int_equal(bytes_append(to, line, (size_t)length), 0);
}

TEST_CASE(a_schema_that_is_too_large_is_refused)
{
	struct bytes text = {0};
	struct proto_schema *s;
	char why[256];

	add(&text, "kind v1 A A.v1\nmessage A.v1\n");
	for (unsigned i = 1; i <= PROTO_FIELDS_MAX; i++)
		add(&text, "%u a string\n", i);
	s = parse((const char *)text.data, text.length, why);
	assert_non_null(s);
	assert_int_equal(kind(s, "v1", "A")->count, PROTO_FIELDS_MAX);
	proto_schema_free(s);
	add(&text, "%u a string\n", PROTO_FIELDS_MAX + 1);
	assert_null(parse((const char *)text.data, text.length, why));
	assert_string_equal(why, "line 67: A.v1 has more than 64 fields");

	text.length = 0;
	add(&text, "message A.v1\n");
	for (unsigned i = 0; i <= 4096; i++)
		add(&text, "kind v1 K%u A.v1\n", i);
	assert_null(parse((const char *)text.data, text.length, why));
	assert_string_equal(why, "line 4098: there are more than 4096 kinds");

	text.length = 0;
	add(&text, "kind v1 A M0.v1\n");
	for (unsigned i = 0; i <= UINT16_MAX; i++)
		add(&text, "message M%u.v1\n", i);
	assert_null(parse((const char *)text.data, text.length, why));
	assert_string_equal(why, "line 65537: there are more than 65535 messages");

	text.length = 0;
	assert_int_equal(bytes_room(&text, PROTO_SCHEMA_MAX + 1), 0);
	memset(text.data, '\n', PROTO_SCHEMA_MAX + 1);
	assert_null(parse((const char *)text.data, PROTO_SCHEMA_MAX + 1, why));
	assert_string_equal(why, "line 0: a schema has at most 16777216 bytes");
	bytes_done(&text);
}

/* A schema cut anywhere, or with any byte replaced, gives a schema or a message. */
TEST_CASE(any_bytes_give_a_schema_or_a_message)
{
	static const char text[] =
		"# c\nreleases a b\nkind v1 A A.v1\nmessage A.v1\n0 k \"v\"\n1 a *list[]string omitempty\n"
		"2 - B.v1\n3 b []B.v1 gone\nmessage B.v1\n8 t time omitempty omitzero\n12 m map[]quantity\n";
	char copy[sizeof(text)], why[256];
	unsigned good = 0, bad = 0;
	struct proto_schema *s;

	for (size_t at = 0; at < sizeof(text); at++) {
		for (unsigned c = 0; c < 256; c++) {
			memcpy(copy, text, sizeof(text));
			copy[at] = (char)c;
			s = parse(copy, c ? sizeof(text) - 1 : at, why); /* 0: cut there */
			assert_true(s || strncmp(why, "line ", 5) == 0);
			good += s != NULL;
			bad += s == NULL;
			proto_schema_free(s);
		}
	}
	assert_true(good > 1000 && bad > 1000);
}

/* ---- the built-in schema ---- */

TEST_CASE(the_built_in_schema_has_the_kinds_of_kubernetes)
{
	const struct proto_schema *s = proto_schema_builtin();
	const struct proto_message *spec;
	const struct proto_field *f;

	assert_non_null(s);
	assert_ptr_equal(s, proto_schema_builtin());
	assert_non_null(strstr(proto_schema_releases(s), "v0.3"));
	assert_non_null(kind(s, "apps/v1", "Deployment"));
	assert_non_null(kind(s, "coordination.k8s.io/v1", "Lease"));
	assert_non_null(kind(s, "meta.k8s.io/v1", "PartialObjectMetadata"));
	assert_non_null(kind(s, "v1", "Status"));
	assert_null(kind(s, "apiextensions.k8s.io/v1", "CustomResourceDefinition"));
	f = proto_field_find(kind(s, "v1", "Pod"), 2);
	assert_memory_equal(f->name, "\"spec\":", 7);
	spec = proto_schema_message(s, f->message);
	assert_true(spec->count > 35 && spec->count <= PROTO_FIELDS_MAX);
	assert_memory_equal(proto_field_find(spec, 2)->name, "\"containers\":", 13);
}
