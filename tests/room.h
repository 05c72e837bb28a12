/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tests of a room are one program, build/tests/ROOM, made of the files of its folder that end in `_test`.
 * Each file ends with its tests and TEST_GROUP, which registers them before main() begins:
 *
 *	static const struct CMUnitTest tests[] = {
 *		cmocka_unit_test(a_shortcut_shows_what_the_root_has_or_nothing),
 *	};
 *	TEST_GROUP(tests, NULL, NULL);
 *
 * Every test runs in a process of its own (room.c), between its group's set-up and tear-down. What a test
 * leaves behind in memory reaches no other test, and a crash is reported with the test's name.
 */
#ifndef TESTS_ROOM_H
#define TESTS_ROOM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct test_group {
	const char *file; /* from tests/ on */
	const struct CMUnitTest *tests;
	size_t count;
	CMFixtureFunction set_up, tear_down;
	struct test_group *next;
};

/* Registers a group; it and its tests must stay where they are. Only before main(). */
void test_group_add(struct test_group *group);

#define TEST_GROUP(tests_, set_up_, tear_down_)                                                              \
	__attribute__((constructor)) static void add_tests(void)                                             \
	{                                                                                                    \
		static struct test_group tests_of_file = {                                                   \
			__FILE__, tests_, sizeof(tests_) / sizeof((tests_)[0]), set_up_, tear_down_, NULL};  \
		test_group_add(&tests_of_file);                                                              \
	}                                                                                                    \
	struct test_group

/* True in `make test-long`: LONG=1 in the environment. */
bool test_is_long(void);

/* The seed of a test's dice: SEED of the environment, else `fixed`, so that each run of `make test` draws the
 * same. */
uint64_t test_seed(uint64_t fixed);

/* For a test that takes minutes: it is skipped unless this is the long half. */
#define ONLY_IN_LONG()                                                                                       \
	do {                                                                                                 \
		if (!test_is_long())                                                                         \
			skip();                                                                              \
	} while (0)

#endif
