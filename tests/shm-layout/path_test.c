/* SPDX-License-Identifier: Apache-2.0 */
/* What a path compiles to, where a bad path is refused, and what a path finds in a document. */
#include "shm-layout/path.h"
#include "tests/room.h"
#include "tests/support/body_fixture.h"

static const char document[] =
	"{\"metadata\":{\"labels\":{\"app.kubernetes.io/name\":\"web\",\"a\":\"1\",\"it's\":2},"
	"\"annotations\":{\"a.b/c\":\"x\",\"\\\"\":\"q\"}},\"spec\":{\"containers\":[{\"image\":\"i0\","
	"\"ports\":[{\"p\":80},{\"p\":81}]},{\"image\":\"i1\"},{\"ports\":[{\"p\":82}]}]},"
	"\"status\":{\"podIPs\":[{\"ip\":\"10.0.0.1\"},{\"ip\":\"fd00::1\"}]},\"*\":\"star\",\"\":\"empty\"}";

struct hits {
	struct body_fixture *fx;
	char text[2048];
	int stop_after;
};

static int
collect(struct value hit, void *context)
{
	struct hits *h = context;

	strcat(h->text, body_fixture_print(h->fx, hit));
	strcat(h->text, " ");
	return --h->stop_after == 0 ? 42 : 0;
}

#define TEST(name) TEST_CASE_OF(struct body_fixture *fx, body_fixture_set_up, body_fixture_tear_down, name)

/* Each spelling finds all its values in order, and the first of them without stepping. */
TEST(paths_find_what_they_name)
{
	static const struct {
		const char *path, *hits;
	} cases[] = {
		{"metadata.labels.a", "\"1\" "},
		{".metadata.labels.a", "\"1\" "},
		{"$.metadata.labels.a", "\"1\" "},
		{"{.metadata.labels.a}", "\"1\" "},
		{"{$.metadata.labels.a}", "\"1\" "},
		{"$['metadata'][\"labels\"].a", "\"1\" "},
		{"['metadata'].labels['a']", "\"1\" "},
		{"metadata.labels['app.kubernetes.io/name']", "\"web\" "},
		{"metadata.labels.app\\.kubernetes\\.io/name", "\"web\" "},
		{"metadata.labels['it\\'s']", "2 "},
		{"metadata.labels[\"it's\"]", "2 "},
		{"metadata.annotations[\"a.b/c\"]", "\"x\" "},
		{"metadata.annotations[\"\\\"\"]", "\"q\" "},
		{"status.podIPs[0].ip", "\"10.0.0.1\" "},
		{"status.podIPs[1].ip", "\"fd00::1\" "},
		{"status.podIPs[2].ip", ""},
		{"status.podIPs[4294967295].ip", ""},
		{"status.podIPs[*].ip", "\"10.0.0.1\" \"fd00::1\" "},
		{"spec.containers[*].image", "\"i0\" \"i1\" "},
		{"spec.containers[*].ports[*].p", "80 81 82 "},
		{"spec.containers[*].ports[1].p", "81 "},
		{"spec.containers[2].ports[*]", "{\"p\":82} "},
		{"metadata.labels[*]", "\"web\" \"1\" 2 "},
		{"metadata[*].a", "\"1\" "},
		{"['*']", "\"star\" "},
		{"['']", "\"empty\" "},
		{"[*].podIPs[0].ip", "\"10.0.0.1\" "},
		{"metadata.nothing.at.all", ""},
		{"metadata[0]", ""},
		{"status.podIPs.ip", ""},
	};
	struct body_fixture *scratch = body_fixture_new(NULL, 0);
	struct value root = body_fixture_value(fx, document);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hits h = {.fx = scratch};
		size_t offset = 0, first;
		const char *why = "";
		struct path p;
		struct value v;

		if (path_compile(&p, cases[i].path, strlen(cases[i].path), &offset, &why) != 0)
			fail_msg("%s: byte %zu: %s", cases[i].path, offset, why);
		assert_int_equal(path_each(&p, root, collect, &h), 0);
		if (strcmp(h.text, cases[i].hits) != 0)
			fail_msg("%s found %s", cases[i].path, h.text);
		v = path_get(&p, root);
		first = strcspn(cases[i].hits, " ");
		assert_int_equal(v.at != NULL, cases[i].hits[0] != '\0');
		if (v.at) {
			assert_int_equal(strlen(body_fixture_print(scratch, v)), first);
			assert_memory_equal(scratch->printed.data, cases[i].hits, first);
		}
	}
	body_fixture_free(scratch);
}

/* "." is a path without steps. */
TEST(a_dot_is_the_whole_document)
{
	static const char *const spellings[] = {".", "$", "{.}", "{$}"};
	struct value root = body_fixture_value(fx, document);
	struct path p;

	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(path_compile(&p, spellings[i], strlen(spellings[i]), NULL, NULL), 0);
		assert_int_equal(p.count, 0);
		assert_ptr_equal(path_get(&p, root).at, root.at);
	}
}

/* A bad path is refused with a reason, at the first byte that is wrong. */
TEST_CASE(bad_paths_are_refused_at_the_wrong_byte)
{
	static const struct {
		const char *path;
		size_t offset;
	} cases[] = {
		{"", 0},      {"{}", 1},    {"{a", 0},      {"{", 0},         {"a..b", 2}, {"a.", 2},
		{"..a", 1},   {"a[", 1},    {"a[]", 2},     {"a[x]", 2},      {"a[1", 3},  {"a[-1]", 2},
		{"a[1x]", 3}, {"a['b]", 2}, {"a[\"b\"", 5}, {"a[\"b\"x]", 5}, {"a[*", 3},  {"a.*", 2},
		{"*", 0},     {"a[0]b", 4}, {"a.[0]", 2},   {"$a", 1},        {"a]", 1},   {"a.b\"c", 3},
		{"a\\", 1},   {"a.{b}", 2}, {"$..a", 2},    {"a[?(@.x)]", 2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t offset = 999;
		const char *why = NULL;
		struct path p;

		assert_int_equal(path_compile(&p, cases[i].path, strlen(cases[i].path), &offset, &why),
				 -EINVAL);
		if (offset != cases[i].offset || !why)
			fail_msg("%s: byte %zu, expected %zu: %s", cases[i].path, offset, cases[i].offset,
				 why);
	}
}

/* A path has at most 16 steps and 1,024 bytes of names. */
TEST_CASE(long_paths_are_refused)
{
	char text[4096] = "a";
	const char *why = NULL;
	struct path p;

	for (unsigned i = 1; i < PATH_STEPS_MAX; i++)
		strcat(text, ".b");
	assert_int_equal(path_compile(&p, text, strlen(text), NULL, NULL), 0);
	strcat(text, "[0]");
	assert_int_equal(path_compile(&p, text, strlen(text), NULL, &why), -E2BIG);
	assert_non_null(why);
	memset(text, 'x', sizeof(text));
	assert_int_equal(path_compile(&p, text, 1024, NULL, NULL), 0);
	assert_int_equal(path_compile(&p, text, 1025, NULL, NULL), -E2BIG);
	assert_int_equal(path_compile(&p, "a[4294967296]", 13, NULL, NULL), -E2BIG);
}

/* The callback's result stops the walk and is returned. */
TEST(a_callback_stops_the_walk)
{
	struct body_fixture *scratch = body_fixture_new(NULL, 0);
	struct hits h = {.fx = scratch, .stop_after = 2};
	struct path p;

	assert_int_equal(path_compile(&p, "spec.containers[*].ports[*].p", 29, NULL, NULL), 0);
	assert_int_equal(path_each(&p, body_fixture_value(fx, document), collect, &h), 42);
	assert_string_equal(h.text, "80 81 ");
	body_fixture_free(scratch);
}

/* The fingerprint is the low byte of FNV-1a 32, by the published test values. */
TEST_CASE(the_fingerprint_is_fnv_1a)
{
	assert_int_equal(shape_fingerprint("", 0), 0x811c9dc5u & 0xff);
	assert_int_equal(shape_fingerprint("a", 1), 0xe40c292cu & 0xff);
	assert_int_equal(shape_fingerprint("foobar", 6), 0xbf9cf968u & 0xff);
}
