/* SPDX-License-Identifier: Apache-2.0 */
/* Lines into a file, of bounded length, by a thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tools/informer-gateway/audit_log.h"
#include "writer/base/file.h"
#include "writer/base/message.h"

static struct gw_audit_log *
begin(const char *file, uint64_t max_bytes, unsigned keep)
{
	struct gw_audit_log *log = NULL;

	assert_int_equal(gw_audit_log_open(file, max_bytes, keep, &log, NULL), 0);
	return log;
}

static void
assert_file(const char *path, const char *text)
{
	char *data = NULL;
	size_t length;

	assert_int_equal(file_read(path, 1 << 20, &data, &length, NULL), 0);
	assert_string_equal(data, text);
	free(data);
}

/* Lines stand there when it is closed, behind those of before; the file is its owner's alone. */
static void
lines_are_written(void **state)
{
	const char *path = temp_path(*state, "audit");
	struct gw_audit_log *log = begin(path, 0, 3);
	struct stat st;

	gw_audit_log_write(log, "one\n", 4);
	gw_audit_log_close(log);
	log = begin(path, 0, 3);
	gw_audit_log_write(log, "two\n", 4);
	gw_audit_log_write(log, "three\n", 6);
	gw_audit_log_close(log);
	assert_file(path, "one\ntwo\nthree\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* No file is longer than it may be, no line is cut, and so many old files are kept. */
static void
files_are_rotated_by_size(void **state)
{
	char path[256], old[300];
	struct gw_audit_log *log;

	snprintf(path, sizeof(path), "%s", temp_path(*state, "rotated"));
	log = begin(path, 10, 2);
	for (const char *at = "abcdefg"; *at; at++) {
		const char line[] = {*at, *at, *at, '\n'};

		gw_audit_log_write(log, line, 4);
	}
	gw_audit_log_close(log);
	assert_file(path, "ggg\n");
	snprintf(old, sizeof(old), "%s.1", path);
	assert_file(old, "eee\nfff\n");
	snprintf(old, sizeof(old), "%s.2", path);
	assert_file(old, "ccc\nddd\n");
	snprintf(old, sizeof(old), "%s.3", path);
	assert_int_equal(access(old, F_OK), -1);
}

/* A line that is longer than a file may be has one of its own; keep 0 keeps none. */
static void
a_long_line_has_its_own_file(void **state)
{
	char path[256], old[300];
	struct gw_audit_log *log;

	snprintf(path, sizeof(path), "%s", temp_path(*state, "long"));
	log = begin(path, 10, 0);
	gw_audit_log_write(log, "a\n", 2);
	gw_audit_log_write(log, "longer than ten\n", 16);
	gw_audit_log_write(log, "b\n", 2);
	gw_audit_log_close(log);
	assert_file(path, "b\n");
	snprintf(old, sizeof(old), "%s.1", path);
	assert_int_equal(access(old, F_OK), -1);
}

/* What stands in the way of a rename makes a file too long; no line is lost. */
static void
what_cannot_be_rotated_grows(void **state)
{
	char path[256], old[300];
	struct gw_audit_log *log;

	snprintf(path, sizeof(path), "%s", temp_path(*state, "stuck"));
	snprintf(old, sizeof(old), "%s.1", path);
	assert_int_equal(mkdir(old, 0700), 0);
	log = begin(path, 4, 1);
	gw_audit_log_write(log, "one\n", 4);
	gw_audit_log_write(log, "two\n", 4);
	gw_audit_log_close(log);
	assert_file(path, "one\ntwo\n");
}

/* Somebody renamed it: the next line begins a new one. */
static void
a_renamed_file_is_begun_anew(void **state)
{
	char path[256], old[300];
	struct gw_audit_log *log;

	snprintf(path, sizeof(path), "%s", temp_path(*state, "moved"));
	snprintf(old, sizeof(old), "%s.old", path);
	log = begin(path, 0, 2);
	assert_int_equal(rename(path, old), 0);
	gw_audit_log_reopen(log);
	gw_audit_log_write(log, "new\n", 4);
	gw_audit_log_close(log);
	assert_file(path, "new\n");
	assert_file(old, "");
}

/* A file that cannot be written to loses lines and says how many, and never waits. */
static void
lost_lines_are_counted(void **state)
{
	struct gw_audit_log *log;
	char *line = calloc(1, GW_AUDIT_WAITING_MAX);

	(void)state;
	memset(line, 'x', GW_AUDIT_WAITING_MAX);
	line[GW_AUDIT_WAITING_MAX - 1] = '\n';
	log = begin("/dev/null", 0, 0);
	gw_audit_log_write(log, line, GW_AUDIT_WAITING_MAX);
	assert_int_equal(gw_audit_log_lost(log), 0);
	free(line);
	gw_audit_log_close(log);
	log = begin("/dev/full", 0, 0);
	gw_audit_log_write(log, "a\n", 2);
	while (gw_audit_log_lost(log) == 0)
		sched_yield();
	gw_audit_log_close(log);
}

/* More than there is room for is lost at once. */
static void
there_is_room_for_so_much(void **state)
{
	struct gw_audit_log *log = begin("/dev/null", 0, 0);
	char *line = calloc(1, GW_AUDIT_WAITING_MAX + 1);

	(void)state;
	gw_audit_log_write(log, line, GW_AUDIT_WAITING_MAX + 1);
	assert_int_equal(gw_audit_log_lost(log), 1);
	gw_audit_log_close(log);
	free(line);
}

/* A file that cannot be opened is said at the start. */
static void
no_file_is_said_at_once(void **state)
{
	_cleanup_(message_freep) char *error = NULL;
	struct gw_audit_log *log = NULL;

	(void)state;
	assert_int_equal(gw_audit_log_open("/nowhere/at/all", 0, 0, &log, &error), -ENOENT);
	assert_string_equal(error, "audit log /nowhere/at/all: No such file or directory");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(lines_are_written, temp_dir_setup, temp_dir_teardown),
	cmocka_unit_test_setup_teardown(files_are_rotated_by_size, temp_dir_setup, temp_dir_teardown),
	cmocka_unit_test_setup_teardown(a_long_line_has_its_own_file, temp_dir_setup, temp_dir_teardown),
	cmocka_unit_test_setup_teardown(what_cannot_be_rotated_grows, temp_dir_setup, temp_dir_teardown),
	cmocka_unit_test_setup_teardown(a_renamed_file_is_begun_anew, temp_dir_setup, temp_dir_teardown),
	cmocka_unit_test(lost_lines_are_counted),
	cmocka_unit_test(there_is_room_for_so_much),
	cmocka_unit_test(no_file_is_said_at_once),
};
TEST_GROUP(tests, NULL, NULL);
