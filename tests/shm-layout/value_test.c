/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading values in place: every form is read back as written. From any bytes, reading ends, stays within the
 * block, and reports at worst that something is absent or damaged.
 */
#include <float.h>
#include <locale.h>

#include "shm-layout/known_field.h"
#include "shm-layout/path.h"
#include "tests/room.h"
#include "tests/support/body_fixture.h"
#include "tests/support/json_random.h"

static struct value
field(struct value v, const char *name)
{
	return value_field(v, name, strlen(name), shape_fingerprint(name, strlen(name)));
}

#define TEST(name) TEST_CASE_OF(struct body_fixture *fx, body_fixture_set_up, body_fixture_tear_down, name)

/* Integers come back exactly around each size at which their form changes. */
TEST(integers_are_exact)
{
	char text[32];

	for (unsigned bit = 0; bit < 64; bit++)
		for (int delta = -2; delta <= 2; delta++)
			for (int sign = -1; sign <= 1; sign += 2) {
				int64_t n = (int64_t)(sign * (__int128)((uint64_t)(1ull << bit) /
									(bit == 63 ? 2 : 1)) +
						      delta),
					got;
				struct value v;

				snprintf(text, sizeof(text), "%lld", (long long)n);
				v = body_fixture_value(fx, text);
				assert_int_equal(value_kind(v), VALUE_INT);
				assert_true(value_int(v, &got));
				assert_true(got == n);
				assert_string_equal(body_fixture_print(fx, v), text);
			}
}

/* Numbers up to 2^64 - 1, doubles, and number texts answer each accessor that fits them. */
TEST(other_numbers_keep_their_kind)
{
	struct value v;
	uint64_t u = 0;
	int64_t n = 0;
	double d = 0;

	v = body_fixture_value(fx, "18446744073709551615");
	assert_int_equal(value_kind(v), VALUE_UINT);
	assert_true(value_uint(v, &u) && u == UINT64_MAX);
	assert_false(value_int(v, &n));
	assert_true(value_double(v, &d) && d == (double)UINT64_MAX);
	v = body_fixture_value(fx, "-5");
	assert_false(value_uint(v, &u));
	assert_true(value_double(v, &d) && d == -5);
	v = body_fixture_value(fx, "0.1");
	assert_int_equal(value_kind(v), VALUE_DOUBLE);
	assert_true(value_double(v, &d) && d == 0.1);
	assert_false(value_int(v, &n));
	v = body_fixture_value(fx, "-0");
	assert_int_equal(value_kind(v), VALUE_DOUBLE);
	assert_string_equal(body_fixture_print(fx, v), "-0.0");
	v = body_fixture_value(fx, "18446744073709551616");
	assert_int_equal(value_kind(v), VALUE_NUMBER);
	assert_true(value_double(v, &d) && d == 18446744073709551616.0);
	assert_string_equal(body_fixture_print(fx, v), "18446744073709551616");
	v = body_fixture_value(fx, "-1.5e999");
	assert_int_equal(value_kind(v), VALUE_NUMBER);
	assert_true(value_double(v, &d) && d < -DBL_MAX);
	assert_string_equal(body_fixture_print(fx, v), "-1.5e999");
}

/* Doubles are read and printed alike in a locale with a decimal comma, installed or made for the test. */
TEST_CASE(numbers_do_not_depend_on_the_locale)
{
	char dir[] = "/tmp/informer-locale-XXXXXX", command[256];
	struct body_fixture *fx;
	const char *set = setlocale(LC_NUMERIC, "de_DE.UTF-8");
	double d = 0;

	if (!set && mkdtemp(dir)) {
		snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
			 dir, dir);
		setenv("LOCPATH", dir, 1);
		if (system(command) == 0)
			set = setlocale(LC_NUMERIC, "de_DE.UTF-8");
		unsetenv("LOCPATH");
		snprintf(command, sizeof(command), "rm -r %s", dir);
		assert_int_equal(system(command), 0);
	}
	if (!set) {
		print_message(
			"SKIP: there is no locale with a decimal comma, and localedef cannot make one\n");
		skip();
	}
	assert_string_equal(localeconv()->decimal_point, ",");
	fx = body_fixture_new(NULL, 0);
	assert_string_equal(body_fixture_print(fx, body_fixture_value(fx, "[1.5,-2.25e-7,1e22,1.0]")),
			    "[1.5,-2.25e-07,1e+22,1.0]");
	assert_true(value_double(body_fixture_value(fx, "1.5"), &d) && d == 1.5);
	setlocale(LC_NUMERIC, "C");
	body_fixture_free(fx);
}

/* Strings come back at each length at which their form changes, inline or shared. */
TEST(strings_of_every_form)
{
	static const size_t lengths[] = {0, 1, 11, 12, 62, 63, 64, 65, 255, 256, 65535, 65536, 100000};
	char *text = malloc(200020);

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct value v;
		const char *data;
		size_t length;

		text[0] = '[';
		text[1] = '"';
		memset(text + 2, 'a' + (int)i, lengths[i]);
		strcpy(text + 2 + lengths[i], "\",1]");
		v = value_element(body_fixture_value(fx, text), 0);
		assert_int_equal(value_kind(v), VALUE_STRING);
		assert_true(value_string(v, &data, &length));
		assert_int_equal(length, lengths[i]);
		assert_memory_equal(data, text + 2, length);
		assert_true(value_equals_string(v, text + 2, length));
		assert_false(value_equals_string(v, text + 2, length + 1));
		assert_string_equal(body_fixture_print_ref(fx, fx->ref), text);
	}
	free(text);
}

/* Fields are found by name, elements by position. A missing one of either is absent, on any value. */
TEST(fields_and_elements_are_found)
{
	struct value v = body_fixture_value(
		fx,
		"{\"a\":1,\"\":2,\"b\":{\"c\":[10,20,{\"d\":null}]},\"x\\u0000y\":true,\"e\":{},\"f\":[]}");
	int64_t n = 0;
	bool b = false;

	assert_int_equal(value_kind(v), VALUE_OBJECT);
	assert_int_equal(value_count(v), 6);
	assert_true(value_int(field(v, "a"), &n) && n == 1);
	assert_true(value_int(field(v, ""), &n) && n == 2);
	assert_true(value_int(value_element(field(field(v, "b"), "c"), 1), &n) && n == 20);
	assert_int_equal(value_kind(field(value_element(field(field(v, "b"), "c"), 2), "d")), VALUE_NULL);
	assert_true(value_bool(value_field(v, "x\0y", 3, shape_fingerprint("x\0y", 3)), &b) && b);
	assert_int_equal(value_count(field(v, "e")), 0);
	assert_int_equal(value_count(field(v, "f")), 0);
	assert_int_equal(value_kind(field(v, "e")), VALUE_OBJECT);
	assert_int_equal(value_kind(field(v, "f")), VALUE_ARRAY);
	assert_int_equal(value_count(field(field(v, "b"), "c")), 3);
	assert_null(field(v, "c").at);
	assert_null(field(v, "aa").at);
	assert_null(value_element(field(field(v, "b"), "c"), 3).at);
	assert_null(field(field(v, "a"), "a").at);
	assert_null(value_element(v, 0).at);
	assert_null(field(field(v, "e"), "a").at);
	assert_null(value_element(field(v, "f"), 0).at);
	assert_int_equal(value_kind(field(v, "nothing")), VALUE_NONE);
	assert_null(field(field(v, "nothing"), "x").at);
}

/* Stepping visits fields with names and elements without, in order, and visits nothing in other values. */
TEST(stepping_visits_everything_in_order)
{
	struct value v = body_fixture_value(fx, "{\"b\":[1,2,3],\"a\":{},\"text\":\"no container\"}");
	const char *names[] = {"b", "a", "text"};
	struct value_iter it = value_iterate(v);
	unsigned i = 0;
	int64_t n;

	for (; i < 3 && value_next(&it); i++) {
		assert_int_equal(it.key_length, strlen(names[i]));
		assert_memory_equal(it.key, names[i], it.key_length);
	}
	assert_int_equal(i, 3);
	assert_false(value_next(&it));
	assert_false(it.damaged);
	it = value_iterate(field(v, "b"));
	for (i = 1; value_next(&it); i++) {
		assert_null(it.key);
		assert_true(value_int(it.item, &n) && n == i);
	}
	assert_int_equal(i, 4);
	it = value_iterate(field(v, "a"));
	assert_false(value_next(&it));
	it = value_iterate(field(v, "text"));
	assert_false(value_next(&it));
	assert_false(it.damaged);
}

/* Strings of an object's header (name, namespace, uid, version) are read as its fields. */
TEST(own_strings_come_from_the_header)
{
	uint8_t payload[] = {TAG_ARRAY16,     5,       0, TAG_OWN_NAME, TAG_OWN_NAMESPACE, TAG_OWN_UID,
			     TAG_OWN_VERSION, TAG_TRUE};
	const char *data;
	struct object *o;
	struct value v;
	uint32_t ref;
	size_t length;

	assert_int_equal(arena_new_block(fx->arena, BLOCK_OBJECT,
					 offsetof(struct object, key) + 14 + sizeof(payload), 0, &ref),
			 0);
	o = arena_payload(fx->arena, ref);
	memset(o, 0, sizeof(*o));
	o->namespace_length = 2;
	o->name_length = 3;
	o->uid_length = 4;
	o->version_length = 2;
	o->body_offset = offsetof(struct object, key) + 14;
	memcpy(o->key, "nsabcnearu-1-17", 14); /* the bytes between name and UID do not count */
	memcpy(o->key + 14, payload, sizeof(payload));
	v = value_of_object(&fx->arena->view, ref);
	assert_string_equal(body_fixture_print(fx, v), "[\"abc\",\"ns\",\"ru-1\",\"-1\",true]");
	assert_true(value_string(value_element(v, 1), &data, &length));
	assert_ptr_equal(data, o->key);
	/* a header whose lengths do not fit gives no string */
	o->uid_length = 7;
	assert_true(value_string(value_element(v, 2), &data, &length));
	o->uid_length = 8;
	assert_false(value_string(value_element(v, 2), &data, &length));
	/* outside an object a header reference gives no string */
	v.own = NULL;
	assert_int_equal(value_kind(value_element(v, 0)), VALUE_NONE);
	assert_false(value_string(value_element(v, 0), &data, &length));
}

enum { B, ABSENT, A, LAST, NAMES };
static struct known_field names[] = {
	[B] = KNOWN_FIELD("b"),
	[ABSENT] = KNOWN_FIELD("absent"),
	[A] = KNOWN_FIELD("a"),
	[LAST] = KNOWN_FIELD("f99"),
};

/* Find all names in one pass, which gives the same as one by one. Returns how many there are. */
static unsigned
several(struct value v)
{
	struct value found[NAMES];
	unsigned count = 0;

	known_fields(v, names, NAMES, found);
	for (unsigned i = 0; i < NAMES; i++) {
		struct value one = field(v, names[i].name);

		assert_ptr_equal(found[i].at, one.at);
		assert_ptr_equal(found[i].end, one.end);
		count += found[i].at != NULL;
	}
	return count;
}

/* In any order, with names that are absent, and in an object with more fields than one pass finds. */
TEST(several_fields_are_found_in_one_pass)
{
	char text[2000] = "{\"a\":{},\"x\":[1,2],\"b\":\"text\"";
	size_t length = strlen(text);

	assert_int_equal(several(body_fixture_value(fx, "{\"a\":1,\"b\":2}")), 2);
	assert_int_equal(several(body_fixture_value(fx, "{\"b\":{\"a\":1}}")), 1);
	assert_int_equal(several(body_fixture_value(fx, "{\"a\":1}")), 1);
	assert_int_equal(several(body_fixture_value(fx, "{}")), 0);
	assert_int_equal(several(body_fixture_value(fx, "[\"a\"]")), 0);
	for (unsigned i = 0; i < 100; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, ",\"f%u\":%u", i, i);
	text[length] = '}';
	assert_int_equal(several(body_fixture_value(fx, text)), 3);
	assert_int_equal(several(body_fixture_value(fx, text)), 3);
}

static int
nothing(const char *data, size_t length, void *context)
{
	(void)data;
	*(size_t *)context += length;
	return 0;
}

static int
count_ref(uint32_t ref, void *context)
{
	assert_int_not_equal(ref, 0xffffffff);
	++*(unsigned *)context;
	return 0;
}

/* Call every reading function on a value and everything in it. */
static void
read_all(struct value v, unsigned depth)
{
	struct value_iter it = value_iterate(v);
	const char *data;
	size_t length;
	uint64_t u;
	int64_t n;
	double d;
	bool b;
	unsigned steps = 0;

	value_string(v, &data, &length);
	value_int(v, &n);
	value_uint(v, &u);
	value_double(v, &d);
	value_bool(v, &b);
	value_count(v);
	field(v, "name");
	field(v, "containers");
	several(v);
	value_element(v, 2);
	while (value_next(&it) && steps++ < 50)
		if (depth < 6)
			read_all(it.item, depth + 1);
}

/*
 * With any bit of a document flipped, everything that reads it ends. The document ends where the mapping
 * ends, so a read beyond it faults.
 */
TEST(every_flipped_bit_is_survived)
{
	const char *text = "{\"metadata\":{\"name\":\"a name that is "
			   "long\",\"labels\":{\"k\":\"v\",\"l\":\"w\"}},\"spec\":{\"containers\":"
			   "[{\"name\":\"one\",\"args\":[\"x\",1,-70000,2.5,18446744073709551615,1e999,null,"
			   "true]},{\"name\":\"two\",\"args\":[]}]}}";
	size_t page = (size_t)sysconf(_SC_PAGESIZE), length;
	struct value v = body_fixture_value(fx, text);
	struct arena_view view = fx->arena->view;
	uint64_t used, bytes;
	uint8_t *map;

	(void)v;
	/* in a fresh arena the object comes last, behind all that it refers to */
	used = ref_offset(fx->ref) + block_footprint(block_length(arena_block(fx->arena, fx->ref)));
	bytes = (used + page - 1) & ~(page - 1);
	map = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + bytes, page, PROT_NONE), 0);
	view.base = map + bytes - used;
	view.committed = used;
	memcpy(map + bytes - used, fx->arena->view.base, used);
	assert_int_equal((uintptr_t)view.base % 16, 0);
	for (uint64_t bit = HEADER_BYTES * 8ull; bit < used * 8; bit++) {
		uint8_t *byte = map + bytes - used + bit / 8;
		const struct block *b;
		unsigned refs = 0;

		*byte = (uint8_t)(*byte ^ 1u << bit % 8);
		v = value_of_object(&view, fx->ref);
		read_all(v, 0);
		length = 0;
		value_to_json(v, nothing, &length);
		b = block_any(&view, fx->ref);
		if (b)
			value_each_ref(b->payload + offsetof(struct object, key),
				       b->payload + block_length(b), count_ref, &refs);
		*byte = (uint8_t)(*byte ^ 1u << bit % 8);
	}
	length = 0;
	assert_int_equal(value_to_json(value_of_object(&view, fx->ref), nothing, &length), 0);
	assert_int_equal(length, strlen(text));
	munmap(map, bytes + page);
}

/* Reading random bytes as values ends, too. */
TEST_CASE(random_bytes_are_survived)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *map = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct arena_view view = {.base = map, .committed = 2 * page};
	struct json_random r = {.seed = 77};
	struct object own = {.name_length = 0};

	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + 2 * page, page, PROT_NONE), 0);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t n = 1 + json_random_below(&r, 100);
		struct value v = {
			.view = &view, .own = &own, .at = map + 2 * page - n, .end = map + 2 * page};
		unsigned refs = 0;
		size_t length = 0;

		for (uint32_t k = 0; k < n; k++) {
			static const uint8_t tags[] = {TAG_OBJECT16, TAG_ARRAY16,  TAG_REF, TAG_STRING8,
						       TAG_NUMBER8,  TAG_OWN_NAME, 0x41,    0x82};

			map[2 * page - n + k] = (uint8_t)(json_random_below(&r, 3)
								  ? json_random_below(&r, 256)
								  : tags[json_random_below(&r, 8)]);
		}
		read_all(v, 0);
		value_to_json(v, nothing, &length);
		value_each_ref(v.at, v.end, count_ref, &refs);
	}
	munmap(map, 3 * page);
}

/* A value that contains itself, or doubles at each of 100 levels, ends in an error. */
TEST(loops_in_a_damaged_arena_end)
{
	uint32_t refs[101];
	size_t length = 0;
	uint8_t *p;

	assert_int_equal(arena_new_block(fx->arena, BLOCK_VALUE, 8, 0, &refs[0]), 0);
	p = arena_payload(fx->arena, refs[0]);
	memcpy(p, (uint8_t[]){TAG_ARRAY16, 5, 0, TAG_REF}, 4);
	memcpy(p + 4, &refs[0], 4);
	assert_int_equal(value_to_json(value_of_block(&fx->arena->view, refs[0]), nothing, &length),
			 -EBADMSG);
	p[0] = TAG_NULL;
	for (unsigned i = 1; i <= 100; i++) {
		assert_int_equal(arena_new_block(fx->arena, BLOCK_VALUE, 13, 0, &refs[i]), 0);
		p = arena_payload(fx->arena, refs[i]);
		memcpy(p, (uint8_t[]){TAG_ARRAY16, 10, 0, TAG_REF, 0, 0, 0, 0, TAG_REF}, 9);
		memcpy(p + 4, &refs[i - 1], 4);
		memcpy(p + 9, &refs[i - 1], 4);
	}
	if (test_is_long()) /* it takes VALUE_ITEMS_MAX steps */
		assert_int_equal(value_to_json(value_of_block(&fx->arena->view, refs[100]), nothing, &length),
				 -EBADMSG);
	/* a reference to a reference gives null */
	assert_int_equal(value_kind(value_of_block(&fx->arena->view, refs[0])), VALUE_NULL);
	p = arena_payload(fx->arena, refs[1]);
	p[0] = TAG_REF;
	memcpy(p + 1, &refs[0], 4);
	assert_null(value_of_block(&fx->arena->view, refs[1]).at);
}

/* Reports the refs of a document one by one; a callback's result stops the walk. */
static int
stop_at_once(uint32_t ref, void *context)
{
	(void)ref;
	++*(unsigned *)context;
	return 7;
}

TEST_CASE(every_ref_is_reported)
{
	/* an object of shape 1 with a ref, an array of a ref and null, true, and false; then another value */
	uint8_t value[28] = {TAG_OBJECT16, 16};
	unsigned count = 0;

	value[3] = 1;
	value[7] = TAG_REF;
	value[8] = 2;
	value[12] = TAG_ARRAY16;
	value[13] = 6;
	value[15] = TAG_REF;
	value[16] = 3;
	value[20] = TAG_NULL;
	value[21] = TAG_TRUE;
	value[22] = TAG_FALSE;
	value[23] = TAG_REF;
	memset(value + 24, 9, 4);
	assert_int_equal(value_each_ref(value, value + sizeof(value), count_ref, &count), 0);
	assert_int_equal(count, 3);
	count = 0;
	assert_int_equal(value_each_ref(value, value + sizeof(value), stop_at_once, &count), 7);
	assert_int_equal(count, 1);
	assert_int_equal(value_each_ref(value, value + 20, count_ref, &count), -EBADMSG);
	value[13] = 60;
	assert_int_equal(value_each_ref(value, value + sizeof(value), count_ref, &count), -EBADMSG);
}
