/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors: the API's syntax and meaning. */
#include "tests/room.h"
#include "tests/support/reader_world.h"

static const char pod[] =
	"{\"metadata\":{\"name\":\"p\",\"namespace\":\"d\",\"labels\":{\"app\":\"web\",\"tier\":\"\","
	"\"app.kubernetes.io/name\":\"x.y_z-1\",\"weight\":\"7\",\"in\":\"notin\",\"size\":\"7m\","
	"\"big\":\"9223372036854775808\"}}}";
static const char bare[] = "{\"metadata\":{\"name\":\"bare\",\"namespace\":\"d\"}}";

static int
set_up(void **state)
{
	struct reader_world *w = reader_world_of((const char *const[]){pod, bare, NULL}, 0);

	assert_int_equal(informer_get_z(&w->snap, w->pods, "d", "p", &w->pod), 0);
	assert_int_equal(informer_get_z(&w->snap, w->pods, "d", "bare", &w->other), 0);
	*state = w;
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

/* Each operator, for an object with labels and one without. */
TEST(each_operator_means_what_the_api_says)
{
	static const struct {
		const char *text;
		int labelled, bare;
	} cases[] = {
		{"", 1, 1},
		{"  ", 1, 1},
		{"app=web", 1, 0},
		{"app==web", 1, 0},
		{" app = web ", 1, 0},
		{"app=db", 0, 0},
		{"app!=web", 0, 1},
		{"app!=db", 1, 1},
		{"absent!=x", 1, 1},
		{"app", 1, 0},
		{"!app", 0, 1},
		{"! app", 0, 1},
		{"absent", 0, 0},
		{"!absent", 1, 1},
		{"app in (web)", 1, 0},
		{"app in (db,web)", 1, 0},
		{"app in ( db , web )", 1, 0},
		{"app in (db)", 0, 0},
		{"app notin (web)", 0, 1},
		{"app notin (db)", 1, 1},
		{"tier=", 1, 0},
		{"tier in ()", 1, 0},
		{"tier in (,a)", 1, 0},
		{"tier!=", 0, 1},
		{"app=", 0, 0},
		{"weight>6", 1, 0},
		{"weight>7", 0, 0},
		{"weight<8", 1, 0},
		{"weight > 6,weight < 8", 1, 0},
		{"weight>00000000000000000000000000000006", 1, 0},
		{"app>1", 0, 0},
		{"app=we", 0, 0},
		{"app=webs", 0, 0},
		{"weight<7", 0, 0},
		{"size>6", 0, 0},
		{"size<8", 0, 0},
		{"big>1", 0, 0},
		{"app.kubernetes.io/name=x.y_z-1", 1, 0},
		{"in=notin", 1, 0},
		{"in in (in,notin)", 1, 0},
		{"app=web,tier,!absent,in notin (x)", 1, 0},
		{"app=web,absent", 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct informer_label_selector *sel;
		char *text = strdup(cases[i].text);
		int r = informer_label_selector_compile(w->inf, text, strlen(text), &sel, NULL);

		/* the text is not needed any more */
		memset(text, '#', strlen(text));
		free(text);
		if (r < 0)
			print_message("selector '%s'\n", cases[i].text);
		assert_int_equal(r, 0);
		if (informer_label_selector_matches(sel, &w->pod) != cases[i].labelled ||
		    informer_label_selector_matches(sel, &w->other) != cases[i].bare)
			fail_msg("selector '%s' matches wrongly", cases[i].text);
		informer_label_selector_free(sel);
	}
	informer_label_selector_free(NULL);
}

/* The error gives the first invalid byte. */
TEST(an_invalid_selector_is_refused_with_its_place)
{
	static const struct {
		const char *text;
		size_t offset;
	} cases[] = {
		{",", 0},
		{"app,", 4},
		{"app web", 4},
		{"app=web;", 7},
		{"=web", 0},
		{"app in web", 7},
		{"app in (web", 11},
		{"app in", 6},
		{"app notin (a b)", 13},
		{"!", 1},
		{"!app=web", 4},
		{"app=a=b", 5},
		{"app>x", 4},
		{"app<", 4},
		{"weight>-5", 7},
		{"weight < -0", 9},
		{"-app=web", 0},
		{"app-=web", 0},
		{"a/b/c=d", 0},
		{"/b=d", 0},
		{"A.b/c=d", 0},
		{"a..b/c=d", 0},
		{"app=a/b", 4},
		{"app=-", 4},
		{"a,b,c,$", 6},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0},
		{"a=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct informer_label_selector *sel;
		size_t offset = 999;
		char text[400];
		int r = informer_label_selector_compile(w->inf, cases[i].text, strlen(cases[i].text), &sel,
							&offset);

		if (r != INFORMER_E_SYNTAX || offset != cases[i].offset)
			fail_msg("selector '%s': %d at %zu", cases[i].text, r, offset);
		informer_error_text(r, text, sizeof(text));
		assert_non_null(strstr(text, cases[i].text));
	}
}

TEST(any_bytes_are_a_selector_or_refused)
{
	static const char alphabet[] = "ab,()!=<>in notin \t/.-_1\0\xff";

	srand(11);
	for (int i = 0; i < 20000; i++) {
		struct informer_label_selector *sel;
		char text[40];
		size_t n = (size_t)rand() % sizeof(text);
		char *exact = malloc(n ? n : 1);

		for (size_t k = 0; k < n; k++)
			exact[k] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		if (informer_label_selector_compile(w->inf, exact, n, &sel, NULL) == 0) {
			assert_true(informer_label_selector_matches(sel, &w->pod) >= 0);
			informer_label_selector_free(sel);
		}
		free(exact);
	}
}

/* True if this is a selector: begin, `count` pieces joined by commas, end. */
static bool
is_selector(struct reader_world *w, const char *begin, const char *piece, unsigned count, const char *end)
{
	struct informer_label_selector *sel = NULL;
	char text[4096];
	size_t length = (size_t)snprintf(text, sizeof(text), "%s", begin);
	int r;

	for (unsigned i = 0; i < count; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s", i ? "," : "", piece);
	length += (size_t)snprintf(text + length, sizeof(text) - length, "%s", end);
	assert_true(length < sizeof(text));
	r = informer_label_selector_compile(w->inf, text, length, &sel, NULL);
	assert_true(r == 0 || r == INFORMER_E_SYNTAX);
	informer_label_selector_free(sel);
	return r == 0;
}

/* The limits: 64 requirements, 256 values, 63 bytes of a name, 253 of a prefix. */
TEST(the_limits_are_exact)
{
	char prefix[255];

	assert_true(is_selector(w, "", "a=b", 64, ""));
	assert_false(is_selector(w, "", "a=b", 65, ""));
	assert_true(is_selector(w, "a in (", "b", 256, ")"));
	assert_false(is_selector(w, "a in (", "b", 257, ")"));
	for (size_t i = 0; i < 254; i++)
		prefix[i] = i % 50 == 49 && i < 252 ? '.' : 'a';
	prefix[254] = '\0';
	assert_false(is_selector(w, prefix, "/b", 1, ""));
	assert_true(is_selector(w, prefix + 1, "/b", 1, ""));
}
