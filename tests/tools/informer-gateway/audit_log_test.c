/* SPDX-License-Identifier: Apache-2.0 */
/* Lines into a file, of bounded length, by a thread. */
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

#define TEST(name) TEST_CASE_OF(const char *dir, temp_dir_setup, temp_dir_teardown, name)

/* Lines stand there when it is closed, behind those of before; the file is its owner's alone. */
TEST(lines_are_written)
{
	const char *path = temp_path(dir, "audit");
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
TEST(files_are_rotated_by_size)
{
	struct gw_audit_log *log;

	log = begin(temp_path(dir, "rotated"), 10, 2);
	for (const char *at = "abcdefg"; *at; at++) {
		const char line[] = {*at, *at, *at, '\n'};

		gw_audit_log_write(log, line, 4);
	}
	gw_audit_log_close(log);
	assert_file(temp_path(dir, "rotated"), "ggg\n");
	assert_file(temp_path(dir, "rotated.1"), "eee\nfff\n");
	assert_file(temp_path(dir, "rotated.2"), "ccc\nddd\n");
	assert_int_equal(access(temp_path(dir, "rotated.3"), F_OK), -1);
}

/* A line that is longer than a file may be has one of its own; keep 0 keeps none. */
TEST(a_long_line_has_its_own_file)
{
	struct gw_audit_log *log;

	log = begin(temp_path(dir, "long"), 10, 0);
	gw_audit_log_write(log, "a\n", 2);
	gw_audit_log_write(log, "longer than ten\n", 16);
	gw_audit_log_write(log, "b\n", 2);
	gw_audit_log_close(log);
	assert_file(temp_path(dir, "long"), "b\n");
	assert_int_equal(access(temp_path(dir, "long.1"), F_OK), -1);
}

/* What stands in the way of a rename makes a file too long; no line is lost. */
TEST(what_cannot_be_rotated_grows)
{
	struct gw_audit_log *log;

	assert_int_equal(mkdir(temp_path(dir, "stuck.1"), 0700), 0);
	log = begin(temp_path(dir, "stuck"), 4, 1);
	gw_audit_log_write(log, "one\n", 4);
	gw_audit_log_write(log, "two\n", 4);
	gw_audit_log_close(log);
	assert_file(temp_path(dir, "stuck"), "one\ntwo\n");
}

/* Somebody renamed it: the next line begins a new one. */
TEST(a_renamed_file_is_begun_anew)
{
	struct gw_audit_log *log;

	log = begin(temp_path(dir, "moved"), 0, 2);
	assert_int_equal(rename(temp_path(dir, "moved"), temp_path(dir, "moved.old")), 0);
	gw_audit_log_reopen(log);
	gw_audit_log_write(log, "new\n", 4);
	gw_audit_log_close(log);
	assert_file(temp_path(dir, "moved"), "new\n");
	assert_file(temp_path(dir, "moved.old"), "");
}

/* A file that cannot be written to loses lines and says how many, and never waits. */
TEST_CASE(lost_lines_are_counted)
{
	struct gw_audit_log *log;
	char *line = calloc(1, GW_AUDIT_WAITING_MAX);

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
TEST_CASE(there_is_room_for_so_much)
{
	struct gw_audit_log *log = begin("/dev/null", 0, 0);
	char *line = calloc(1, GW_AUDIT_WAITING_MAX + 1);

	gw_audit_log_write(log, line, GW_AUDIT_WAITING_MAX + 1);
	assert_int_equal(gw_audit_log_lost(log), 1);
	gw_audit_log_close(log);
	free(line);
}

/* A file that cannot be opened is said at the start. */
TEST_CASE(no_file_is_said_at_once)
{
	_cleanup_(message_freep) char *error = NULL;
	struct gw_audit_log *log = NULL;

	assert_int_equal(gw_audit_log_open("/nowhere/at/all", 0, 0, &log, &error), -ENOENT);
	assert_string_equal(error, "audit log /nowhere/at/all: No such file or directory");
}
