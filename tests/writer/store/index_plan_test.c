/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk for all indexes finds the values that each index's definition finds: in many shapes of documents,
 * by paths that share steps, end within each other, or lead nowhere.
 */
#include "tests/room.h"
#include "tests/support/body_fixture.h"
#include "writer/store/index_plan.h"

#define VALUES 4096u
#define RULE(path, as) "{\"path\":\"" path "\",\"as\":\"" as "\"}"

static const char *const definitions[] = {
	"{\"name\":\"0\",\"rules\":[" RULE("a", "string") "]}",
	"{\"name\":\"1\",\"rules\":[" RULE("a.b", "string") "," RULE("b.a", "string") "]}",
	"{\"name\":\"2\",\"rules\":[" RULE("a", "keyvalue") "," RULE("a.b", "keyvalue") "]}",
	"{\"name\":\"3\",\"rules\":[" RULE("c[*].a", "string") "," RULE("c[*]", "keyvalue") "]}",
	"{\"name\":\"4\",\"rules\":[" RULE("c[1]", "string") "," RULE("c[0].b", "string") "]}",
	"{\"name\":\"5\",\"rules\":[" RULE("c", "string") "," RULE("a.b.c.d", "string") "]}",
	"{\"name\":\"6\",\"rules\":[{\"as\":\"namespace\"}," RULE("d", "scheme") "]}",
	"{\"name\":\"7\",\"rules\":[" RULE("a[*].c", "string") "," RULE("b[*][*]", "string") "]}",
	"{\"name\":\"8\",\"rules\":[" RULE("nothing.at.all", "string") "," RULE("[*].d", "string") "]}",
	"{\"name\":\"9\",\"rules\":[" RULE("a.b", "string") "," RULE("a.b", "string") "]}",
	"{\"name\":\"10\",\"rules\":[" RULE("a.d", "string") "," RULE("other", "string") "]}",
	"{\"name\":\"11\",\"prefix\":2,\"rules\":[" RULE("b", "scheme") "," RULE("a.b", "keyvalue") "]}",
};
#define DEFINITIONS (sizeof(definitions) / sizeof(definitions[0]))

struct world {
	struct body_fixture *fx, *described;
	struct index_def defs[DEFINITIONS];
	struct index_plan *plan;
};

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->fx = body_fixture_new(NULL, 0);
	w->described = body_fixture_new(NULL, 0);
	for (size_t i = 0; i < DEFINITIONS; i++)
		assert_int_equal(
			index_def_read(&w->defs[i], body_fixture_value(w->described, definitions[i]), NULL),
			0);
	w->plan = index_plan_new(w->defs, DEFINITIONS);
	assert_non_null(w->plan);
	*state = w;
	return 0;
}

static void
end_world(struct world *w)
{
	index_plan_free(w->plan);
	for (size_t i = 0; i < DEFINITIONS; i++)
		index_def_done(&w->defs[i]);
	body_fixture_free(w->described);
	body_fixture_free(w->fx);
	free(w);
}
TEAR_DOWN(tear_down, end_world)

/* "INDEX:VALUE" of each value, sorted. */
struct found {
	char *texts[VALUES];
	size_t count;
	unsigned index; /* for walks of a single definition */
};

static int
add(unsigned index, const char *data, size_t length, void *context)
{
	struct found *f = context;

	assert_true(f->count < VALUES);
	assert_true(asprintf(&f->texts[f->count++], "%u:%.*s", index, (int)length, data) > 0);
	return 0;
}

static int
add_of_one(const char *data, size_t length, void *context)
{
	struct found *f = context;

	return add(f->index, data, length, f);
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
found_done(struct found *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->texts[i]);
	*f = (struct found){0};
}

/* The number of values. */
static size_t
assert_finds_the_same(struct world *w, struct value body)
{
	static struct found want, got;
	size_t count;

	for (want.index = 0; want.index < DEFINITIONS; want.index++)
		assert_int_equal(index_def_each_filed(&w->defs[want.index], body, add_of_one, &want), 0);
	assert_int_equal(index_plan_each(w->plan, body, INDEX_MASK_ALL, add, &got), 0);
	assert_int_equal(got.count, want.count);
	qsort(want.texts, want.count, sizeof(want.texts[0]), by_text);
	qsort(got.texts, got.count, sizeof(got.texts[0]), by_text);
	for (size_t i = 0; i < want.count; i++)
		assert_string_equal(got.texts[i], want.texts[i]);
	count = want.count;
	found_done(&want);
	found_done(&got);
	return count;
}

static uint32_t
below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % n;
}

/* Counts down to 0: then a text, number or array is written as another, or longer. */
static unsigned other_at;

/* Write a value with the paths' field names, and others. Returns its end. */
static char *
write_value(char *to, uint64_t *seed, unsigned depth)
{
	static const char *const names[] = {"a", "b", "c", "d", "other", "and another"};
	uint32_t kind = below(seed, depth < 4 ? 6 : 3), first, count;

	if (depth == 0)
		kind = 5;
	if (kind < 3 && other_at > 0 && --other_at == 0) {
		below(seed, 1);
		return to + sprintf(to, "\"another\"");
	}
	switch (kind) {
	case 0:
		return to + sprintf(to, "\"%u\"", below(seed, 100));
	case 1:
		return to + sprintf(to, "\"containerd://a text of some length %u\"", below(seed, 3));
	case 2:
		return to + sprintf(to, "%s", below(seed, 2) ? "null" : "-17");
	case 3:
		*to++ = '[';
		count = below(seed, 4);
		if (other_at > 0 && --other_at == 0)
			count++;
		for (; count > 0; count--) {
			to = write_value(to, seed, depth + 1);
			*to++ = count > 1 ? ',' : ' ';
		}
		*to++ = ']';
		return to;
	default: /* any names, in any rotated order */
		first = below(seed, 6);
		count = below(seed, 7);
		*to++ = '{';
		for (uint32_t i = 0; i < count; i++) {
			to += sprintf(to, "%s\"%s\":", i ? "," : "", names[(first + i) % 6]);
			to = write_value(to, seed, depth + 1);
		}
		*to++ = '}';
		return to;
	}
}

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* More shapes at a step than are remembered, each several times. */
TEST(one_walk_finds_what_each_definition_finds)
{
	char *text = malloc(1 << 20);
	uint64_t seed = 20240229;
	size_t values = 0;

	assert_non_null(text);
	for (unsigned i = 0; i < 5000; i++) {
		*write_value(text, &seed, 0) = '\0';
		values += assert_finds_the_same(w, body_fixture_value(w->fx, text));
	}
	assert_true(values > 5000);
	free(text);
}

/* The values of one definition, in order; free them with found_done(). */
static void
find_of(const struct world *w, unsigned index, struct value body, struct found *ret)
{
	ret->index = index;
	assert_int_equal(index_def_each(&w->defs[index], body, add_of_one, ret), 0);
}

static bool
are_the_same(const struct found *a, const struct found *b)
{
	bool same = a->count == b->count;

	for (size_t i = 0; i < a->count && same; i++)
		same = strcmp(a->texts[i], b->texts[i]) == 0;
	return same;
}

/*
 * Of two states, each index whose values differ is reported, and most others are not. An index that is not
 * wanted is left out of the walk.
 */
TEST(only_indexes_whose_values_differ_are_walked)
{
	static struct found a, b;
	char *text = malloc(1 << 20);
	unsigned differ = 0, left_out = 0, in_vain = 0;

	assert_non_null(text);
	for (uint64_t i = 0; i < 3000; i++) {
		uint64_t seed = i, again = i;
		struct value both, before, after;
		index_mask changed;
		char *end;

		/* in one arena, like states of an object */
		other_at = 0;
		end = write_value(text + sprintf(text, "{\"before\":"), &seed, 0);
		other_at = (unsigned)(i % 40) + 1;
		end = write_value(end + sprintf(end, ",\"after\":"), &again, 0);
		sprintf(end, "}");
		both = body_fixture_value(w->fx, text);
		before = value_at_name(both, "before");
		after = value_at_name(both, "after");
		changed = index_plan_compare(w->plan, before, after);
		for (unsigned k = 0; k < DEFINITIONS; k++) {
			bool said = changed & index_mask_of(k);

			find_of(w, k, before, &a);
			find_of(w, k, after, &b);
			if (!are_the_same(&a, &b)) {
				assert_true(said);
				differ++;
			} else if (a.count > 0) {
				left_out += !said;
				in_vain += said;
			}
			found_done(&a);
			found_done(&b);
		}
		assert_int_equal(index_plan_each(w->plan, after, changed, add, &b), 0);
		for (size_t k = 0; k < b.count; k++)
			assert_true(changed & index_mask_of((unsigned)atoi(b.texts[k])));
		found_done(&b);
	}
	other_at = 0;
	assert_true(differ > 100);
	assert_true(left_out > in_vain);
	free(text);
}

/* A body that is absent, or has nothing, has only its namespace as a value. */
TEST(an_absent_body_has_no_values)
{
	struct object *o = calloc(1, sizeof(*o) + 8);
	struct value body = body_fixture_value(w->fx, "{}");

	assert_non_null(o);
	assert_int_equal(assert_finds_the_same(w, (struct value){0}), 0);
	assert_int_equal(assert_finds_the_same(w, body), 0);
	assert_int_equal(assert_finds_the_same(w, body_fixture_value(w->fx, "[1,{\"a\":2}]")), 0);
	o->namespace_length = 4;
	memcpy(o->key, "kube", 4);
	body = body_fixture_value(w->fx, "{\"a\":\"x\"}");
	body.own = o;
	assert_int_equal(assert_finds_the_same(w, body), 2);
	free(o);
}

static int
stop_at_third(unsigned index, const char *data, size_t length, void *context)
{
	unsigned *count = context;

	(void)index;
	(void)data;
	(void)length;
	return ++*count == 3 ? 9 : 0;
}

TEST(a_callback_stops_the_walk)
{
	struct value body = body_fixture_value(
		w->fx, "{\"a\":{\"b\":\"1\",\"c\":2},\"c\":[{\"a\":\"3\"},{\"b\":\"4\"}],\"d\":\"5\"}");
	unsigned count = 0;

	assert_int_equal(index_plan_each(w->plan, body, INDEX_MASK_ALL, stop_at_third, &count), 9);
	assert_int_equal(count, 3);
}
