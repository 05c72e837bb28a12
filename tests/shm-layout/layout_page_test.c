/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LAYOUT.md lists each block type, message and refusal with its number in the enums, and no others.
 * (layout_test.c compares the structs.)
 */
#include "shm-layout/block.h"
#include "shm-layout/protocol.h"
#include "tests/room.h"

#define ENTRIES_MAX 64

struct entry {
	const char *name;
	unsigned number;
};

#define ENTRY_OF(name, number) {#name, number},
#define TYPE_OF(name, number, text) {#name, number},

static const struct entry block_types[] = {BLOCK_TYPES(TYPE_OF)};
static const struct entry messages[] = {MESSAGES(ENTRY_OF)};
static const struct entry refusals[] = {REFUSALS(ENTRY_OF)};

/* head: how the first line of the table begins */
static void
table_is(const char *head, const struct entry *entries, size_t count)
{
	FILE *f = fopen("shm-layout/LAYOUT.md", "re");
	unsigned found[ENTRIES_MAX] = {0}, tables = 0;
	bool inside = false;
	char line[1024];

	assert_non_null(f);
	assert_true(count <= ENTRIES_MAX);
	while (fgets(line, sizeof(line), f)) {
		char name[32];
		unsigned number;
		size_t i;

		if (strncmp(line, head, strlen(head)) == 0) {
			inside = true;
			tables++;
		}
		inside = inside && line[0] == '|';
		if (!inside || sscanf(line, "| %u | %31[A-Z_] |", &number, name) != 2)
			continue;
		for (i = 0; i < count; i++)
			if (strcmp(entries[i].name, name) == 0)
				break;
		if (i == count)
			fail_msg("%s %u %s stands in the page and is none", head, number, name);
		if (entries[i].number != number)
			fail_msg("%s: the page gives %s the number %u, it has %u", head, name, number,
				 entries[i].number);
		found[i]++;
	}
	fclose(f);
	assert_int_equal(tables, 1);
	for (size_t i = 0; i < count; i++)
		if (found[i] != 1)
			fail_msg("%s: %u %s stands %u times in the page", head, entries[i].number,
				 entries[i].name, found[i]);
}

TEST_CASE(the_page_has_all_block_types)
{
	table_is("| type | block |", block_types, sizeof(block_types) / sizeof(block_types[0]));
}

TEST_CASE(the_page_has_all_messages)
{
	table_is("| type | message |", messages, sizeof(messages) / sizeof(messages[0]));
}

TEST_CASE(the_page_has_all_refusals)
{
	table_is("| code | refused |", refusals, sizeof(refusals) / sizeof(refusals[0]));
}
