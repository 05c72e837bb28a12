/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tests of a room are one program, build/tests/ROOM, made of the files of its folder that end in `_test`.
 * Each test registers itself before main() begins; its body follows:
 *
 *	TEST_CASE(a_shortcut_shows_what_the_root_has_or_nothing)
 *	{
 *
 * TEST_CASE_IN() names cmocka's set-up and tear-down as well. A file whose tests share one world names the
 * three once:
 *
 *	#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)
 *
 * Every test runs in a process of its own (room.c), between its group's set-up and tear-down. What a test
 * leaves behind in memory reaches no other test, and a crash is reported with the test's name.
 */
#ifndef TESTS_ROOM_H
#define TESTS_ROOM_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

#define TEST_CASE_IN(set_up_, tear_down_, name_)                                                             \
	static void name_(void **state);                                                                     \
	__attribute__((constructor)) static void add_##name_(void)                                           \
	{                                                                                                    \
		static const struct CMUnitTest test = {#name_, name_, set_up_, tear_down_, NULL};            \
		static struct test_group alone = {__FILE__, &test, 1, NULL, NULL, NULL};                     \
		test_group_add(&alone);                                                                      \
	}                                                                                                    \
	static void name_(__attribute__((unused)) void **state)
#define TEST_CASE_OF(world_, set_up_, tear_down_, name_)                                                     \
	static void name_##_of(__attribute__((unused)) world_);                                              \
	TEST_CASE_IN(set_up_, tear_down_, name_)                                                             \
	{                                                                                                    \
		name_##_of(*state);                                                                          \
	}                                                                                                    \
	static void name_##_of(__attribute__((unused)) world_)
#define TEST_CASE(name_) TEST_CASE_IN(NULL, NULL, name_)

/*
 * A set-up that makes a world by this expression, and a tear-down that ends it by this function: those that a
 * header declares, and those of a file.
 */
#define FIXTURE_SET_UP(name_, world_)                                                                        \
	int name_(void **state)                                                                              \
	{                                                                                                    \
		*state = world_;                                                                             \
		return 0;                                                                                    \
	}
#define FIXTURE_TEAR_DOWN(name_, end_)                                                                       \
	int name_(void **state)                                                                              \
	{                                                                                                    \
		end_(*state);                                                                                \
		return 0;                                                                                    \
	}
#define SET_UP(name_, world_) __attribute__((unused)) static FIXTURE_SET_UP(name_, world_)
#define TEAR_DOWN(name_, end_) __attribute__((unused)) static FIXTURE_TEAR_DOWN(name_, end_)

/* The tests of a file as a list, tests[], at its end: for set-ups that each of them lists by itself. */
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
