/* SPDX-License-Identifier: Apache-2.0 */
/* Which kubeconfigs count as not written to their end. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/base/message.h"
#include "writer/kube/kubeconfig_unfinished.h"

#define NOW_S 1000000

#define T(name) TEST_CASE_OF(const char *dir, temp_dir_setup, temp_dir_teardown, name)

#define CHOICE(...) ((struct kubeconfig_choice){.getenv = environment, ##__VA_ARGS__})

static const char *list; /* $KUBECONFIG */

static const char *
environment(const char *name)
{
	return strcmp(name, "KUBECONFIG") == 0 ? list : "/";
}

/* Make the file, changed at this second. */
static const char *
file_of(const char *dir, const char *name, const char *content, time_t second)
{
	const char *path = temp_file(dir, name, content);
	struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	return path;
}

/* path NULL: nothing is awaited. */
static void
assert_awaited(struct kubeconfig_choice choice, const char *path, const char *why)
{
	_cleanup_(message_freep) char *got = NULL;
	const char *reason = kubeconfig_unfinished(&choice, UINT64_C(1000000000) * NOW_S, &got);

	if (!path) {
		assert_null(reason);
		assert_null(got);
		return;
	}
	assert_non_null(reason);
	assert_non_null(strstr(reason, why));
	assert_string_equal(got, path);
}

T(a_missing_or_empty_file_is_awaited)
{
	const char *path = temp_path(dir, "none/k");

	assert_awaited(CHOICE(.kubeconfig = path), path, "no such file");
	path = file_of(dir, "empty", "", 1);
	assert_awaited(CHOICE(.kubeconfig = path), path, "empty");
}

/* A file that changes is being written. A file that is left alone is wrong, and so is one of the future. */
T(a_file_is_complete_when_it_did_not_change_for_a_while)
{
	const char *path = file_of(dir, "k", "x", NOW_S);

	assert_awaited(CHOICE(.kubeconfig = path), path, "being written");
	file_of(dir, "k", "x", NOW_S - 1);
	assert_awaited(CHOICE(.kubeconfig = path), path, "being written");
	file_of(dir, "k", "x", NOW_S - 2);
	assert_awaited(CHOICE(.kubeconfig = path), NULL, NULL);
	file_of(dir, "k", "x", NOW_S + 1);
	assert_awaited(CHOICE(.kubeconfig = path), NULL, NULL);
}

/* Waiting does not make a file of it. */
T(what_is_no_file_is_not_awaited)
{
	assert_awaited(CHOICE(.kubeconfig = dir), NULL, NULL);
	assert_awaited(CHOICE(.kubeconfig = "/dev/null"), NULL, NULL);
	assert_awaited(CHOICE(.kubeconfig = temp_path(file_of(dir, "k", "x", 1), "below")), NULL, NULL);
}

/* Of several files each may be missing: the others are used. */
T(of_a_list_nothing_may_be_there)
{
	const char *one = temp_path(dir, "one"), *two = temp_path(dir, "two");
	char both[9000];

	snprintf(both, sizeof(both), ":%s:%s", one, two);
	list = both;
	assert_awaited(CHOICE(), one, "no such file");
	assert_awaited(CHOICE(.kubeconfig = two), two, "no such file");
	file_of(dir, "two", "x", NOW_S);
	assert_awaited(CHOICE(), two, "being written");
	file_of(dir, "one", "x", 1);
	assert_awaited(CHOICE(), two, "being written");
	file_of(dir, "two", "x", 1);
	assert_awaited(CHOICE(), NULL, NULL);
	list = NULL;
}

/* Without a named file nothing says that one will come. */
T(a_file_that_nobody_names_is_not_awaited)
{
	(void)dir;
	assert_awaited(CHOICE(), NULL, NULL);
	list = "";
	assert_awaited(CHOICE(), NULL, NULL);
	list = NULL;
}
