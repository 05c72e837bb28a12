/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs that `make fuzz` has kept: each target takes those of its folder in tests/fuzz/corpus. */
#include <dirent.h>

#include "tests/fuzz/fuzz.h"
#include "tests/room.h"

static void
take_file(int (*target)(const uint8_t *, size_t), const char *path)
{
	static uint8_t data[65536];
	FILE *f = fopen(path, "re");
	size_t size;

	assert_non_null(f);
	size = fread(data, 1, sizeof(data), f);
	assert_true(feof(f));
	fclose(f);
	print_message("%s\n", path); /* the last path printed is the input of a crash */
	assert_int_equal(target(data, size), 0);
}

static void
take_folder(int (*target)(const uint8_t *, size_t), const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[4096];
	int taken = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		take_file(target, path);
		taken++;
	}
	closedir(dir);
	assert_true(taken > 0);
	assert_int_equal(target((const uint8_t *)"", 0), 0);
}

/* TARGETS, from the Makefile: a TARGET() for each. */
#define TARGET(name_)                                                                                        \
	int fuzz_##name_(const uint8_t *data, size_t size);                                                  \
	TEST_CASE(name_)                                                                                     \
	{                                                                                                    \
		take_folder(fuzz_##name_, "tests/fuzz/corpus/" #name_);                                      \
	}
TARGETS
