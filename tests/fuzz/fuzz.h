/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs under libFuzzer: one input is one call, and a broken promise aborts. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(truth) must_be(truth, #truth, __FILE__, __LINE__)

static inline void
must_be(bool truth, const char *what, const char *file, int line)
{
	if (truth)
		return;
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

/* A terminated copy with nothing behind it, so that a sanitizer sees each byte read behind it. */
static inline char *
fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	must(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* The first line, cut to what fits. */
static inline void
fuzz_line(const uint8_t *data, size_t size, char line[1024])
{
	size_t n = size < 1023 ? size : 1023;

	memcpy(line, data, n);
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

/* The path of a file in memory with these bytes. */
static inline const char *
fuzz_file(const uint8_t *data, size_t size)
{
	static int file = -1;
	static char path[64];

	if (file < 0) {
		file = memfd_create("input", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	must(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
	return path;
}

#endif
