/* SPDX-License-Identifier: Apache-2.0 */
/* The known name nearest to a wrong one. */
#include "tests/room.h"
#include "tools/flags/nearest.h"

static const char *const names[] = {"pods", "services", "deployments", "nodes"};

/* A letter too many, too few, wrong or swapped finds the name, whatever its case. */
TEST_CASE(a_typo_finds_its_name)
{
	assert_string_equal(nearest("pds", names, 4), "pods");
	assert_string_equal(nearest("podss", names, 4), "pods");
	assert_string_equal(nearest("pdos", names, 4), "pods");
	assert_string_equal(nearest("podz", names, 4), "pods");
	assert_string_equal(nearest("Deployment", names, 4), "deployments");
	assert_string_equal(nearest("Deploymnets", names, 4), "deployments");
	assert_string_equal(nearest("deploments", names, 4), "deployments");
	assert_string_equal(nearest("sevrices", names, 4), "services");
	assert_string_equal(nearest("serivces", names, 4), "services");
}

/* Three first letters that only one name has find that name. */
TEST_CASE(a_beginning_finds_its_name)
{
	static const char *const flags[] = {"pods", "pods-per-node", "resource"};

	assert_string_equal(nearest("dep", names, 4), "deployments");
	assert_string_equal(nearest("res", flags, 3), "resource");
	assert_string_equal(nearest("pods-", flags, 3), "pods-per-node");
}

/* A word unlike every name finds none, nor does one longer than every name. */
TEST_CASE(an_unrelated_word_finds_no_name)
{
	char word[300];

	assert_null(nearest("configmaps", names, 4));
	assert_null(nearest("kubernetes", names, 4));
	assert_null(nearest("x", names, 4));
	assert_null(nearest("", names, 4));
	memset(word, 'p', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_null(nearest(word, names, 4));
}
