/* SPDX-License-Identifier: Apache-2.0 */
/* Keys are sorted as strcmp() orders them, whatever they have in common. */
#include "tests/room.h"
#include "tools/informer-gateway/views/key_sort.h"

#define COUNT 20000u

static uint64_t seed = 7;

static uint32_t
below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

struct keys {
	char *text[COUNT];
	struct gw_keyed items[COUNT];
	size_t count;
};

static void
add(struct keys *k, const char *text)
{
	size_t size = strlen(text) + 1 + GW_KEY_SLACK;

	k->text[k->count] = malloc(size);
	assert_non_null(k->text[k->count]);
	memset(k->text[k->count], 'x', size);
	memcpy(k->text[k->count], text, strlen(text) + 1);
	k->items[k->count] = (struct gw_keyed){.key = k->text[k->count]};
	k->count++;
}

static void
finish(struct keys *k)
{
	gw_key_sort(k->items, k->count);
	for (size_t i = 1; i < k->count; i++)
		if (strcmp(k->items[i - 1].key, k->items[i].key) >= 0)
			fail_msg("%s before %s", k->items[i - 1].key, k->items[i].key);
	for (size_t i = 0; i < k->count; i++)
		assert_int_equal(gw_key_seek(k->items, k->count, k->items[i].key), i);
	for (size_t i = 0; i < k->count; i++)
		free(k->text[i]);
	free(k);
}

static struct keys *
begin(void)
{
	struct keys *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	return k;
}

/* Names as there are: few namespaces, long common beginnings. */
TEST_CASE(names_of_workloads)
{
	struct keys *k = begin();
	char text[200];

	for (unsigned i = 0; i < COUNT; i++) {
		snprintf(text, sizeof(text), "team-%u/a-deployment-with-a-name-%u-%08x-%u", below(5),
			 below(40), below(UINT32_MAX), i);
		add(k, text);
	}
	finish(k);
}

/* Each key the beginning of the next; of every length around the words that are compared. */
TEST_CASE(keys_that_begin_each_other)
{
	struct keys *k = begin();
	char text[200] = "";

	for (unsigned i = 1; i < sizeof(text); i++) {
		memset(text, 'a', i);
		text[i < sizeof(text) - 1 ? i : sizeof(text) - 1] = '\0';
		if (k->count < sizeof(text) - 2)
			add(k, text);
	}
	finish(k);
}

/* Bytes above 127 come behind the others. */
TEST_CASE(bytes_of_any_value)
{
	struct keys *k = begin();
	char text[32];

	for (unsigned i = 0; i < 5000; i++) {
		size_t length = 4 + below(16);

		for (size_t at = 0; at < length; at++)
			text[at] = (char)(1 + below(255));
		snprintf(text + length, sizeof(text) - length, "%u", i);
		add(k, text);
	}
	finish(k);
}

/* Ordered already, in either direction. */
TEST_CASE(ordered_already)
{
	struct keys *up = begin(), *down = begin();
	char text[32];

	for (unsigned i = 0; i < COUNT; i++) {
		snprintf(text, sizeof(text), "default/pod-%06u", i);
		add(up, text);
		snprintf(text, sizeof(text), "default/pod-%06u", COUNT - i);
		add(down, text);
	}
	finish(up);
	finish(down);
}

/* None, and one. */
TEST_CASE(few_or_none)
{
	struct keys *k = begin();

	gw_key_sort(k->items, 0);
	assert_int_equal(gw_key_seek(k->items, 0, "a"), 0);
	add(k, "b");
	assert_int_equal(gw_key_seek(k->items, 1, "a"), 0);
	assert_int_equal(gw_key_seek(k->items, 1, "c"), 1);
	finish(k);
}
