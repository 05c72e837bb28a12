/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary folders for tests: made by mkdtemp(), removed with their content. */
#ifndef TESTS_SUPPORT_TEMP_DIR_H
#define TESTS_SUPPORT_TEMP_DIR_H

/* cmocka set-up and tear-down: *state is the folder's path (a char *). */
int temp_dir_setup(void **state);
int temp_dir_teardown(void **state);

/* "DIR/NAME", in one of 8 static buffers. */
const char *temp_path(const char *dir, const char *name);

/* Write a file (and the folders in `name`), and return its path, as temp_path(). */
const char *temp_file(const char *dir, const char *name, const char *content);

#endif
