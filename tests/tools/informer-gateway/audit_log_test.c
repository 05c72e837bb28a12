/* SPDX-License-Identifier: Apache-2.0 */
/* A thread writes audit lines into a file. */
#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tools/informer-gateway/gate/audit_log.h"
#include "writer/base/file.h"
#include "writer/base/log.h"
#include "writer/base/message.h"

static struct gw_audit_log *
begin(const char *file)
{
	struct gw_audit_log *log = NULL;

	assert_int_equal(gw_audit_log_open(file, &log, NULL), 0);
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

/* Closing the log writes all lines at the end of the file. Only its owner can read the file. */
TEST(lines_are_appended)
{
	const char *path = temp_path(dir, "audit");
	struct gw_audit_log *log = begin(path);
	struct stat st;

	gw_audit_log_write(log, "one\n", 4);
	gw_audit_log_close(log);
	log = begin(path);
	gw_audit_log_write(log, "two\n", 4);
	gw_audit_log_write(log, "three\n", 6);
	gw_audit_log_close(log);
	assert_file(path, "one\ntwo\nthree\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

TEST(after_a_rename_the_next_line_begins_a_new_file)
{
	struct gw_audit_log *log;

	log = begin(temp_path(dir, "moved"));
	assert_int_equal(rename(temp_path(dir, "moved"), temp_path(dir, "moved.old")), 0);
	gw_audit_log_reopen(log);
	gw_audit_log_write(log, "new\n", 4);
	gw_audit_log_close(log);
	assert_file(temp_path(dir, "moved"), "new\n");
	assert_file(temp_path(dir, "moved.old"), "");
}

/* Lines that cannot be written are lost and logged. The next line written tells how many were lost. */
TEST(lost_lines_are_counted)
{
	const char *path = temp_path(dir, "full");
	struct gw_audit_log *log;
	char said[256] = {0};
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	log_open(LOG_LEVEL_ERROR, ends[1]);
	assert_int_equal(symlink("/dev/full", path), 0);
	log = begin(path);
	gw_audit_log_write(log, "a\n", 2);
	assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
	assert_non_null(strstr(said, "No space left on device; lines are lost"));
	assert_int_equal(unlink(path), 0);
	gw_audit_log_write(log, "b\n", 2);
	gw_audit_log_close(log);
	assert_file(path, "{\"lost\":1}\nb\n");
	log_open(LOG_LEVEL_INFO, STDERR_FILENO);
	close(ends[0]);
	close(ends[1]);
}

/* A line beyond the queue's room is lost at once. A line that fits is written. */
TEST(the_queue_is_bounded)
{
	const char *path = temp_path(dir, "room");
	struct gw_audit_log *log = begin(path);
	char *line = calloc(1, GW_AUDIT_WAITING_MAX + 1);
	struct stat st;

	gw_audit_log_write(log, line, GW_AUDIT_WAITING_MAX + 1);
	gw_audit_log_write(log, "b\n", 2);
	assert_int_equal(gw_audit_log_lost(log), 1);
	gw_audit_log_close(log);
	assert_file(path, "{\"lost\":1}\nb\n");
	log = begin(path);
	gw_audit_log_write(log, line, GW_AUDIT_WAITING_MAX);
	gw_audit_log_close(log);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, strlen("{\"lost\":1}\nb\n") + GW_AUDIT_WAITING_MAX);
	free(line);
}

TEST_CASE(a_file_that_cannot_be_opened_fails_the_start)
{
	_cleanup_(message_freep) char *error = NULL;
	struct gw_audit_log *log = NULL;

	assert_int_equal(gw_audit_log_open("/nowhere/at/all", &log, &error), -ENOENT);
	assert_string_equal(error, "audit log /nowhere/at/all: No such file or directory");
}
