/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SUPPORT_FULL_TMPFS_H
#define TESTS_SUPPORT_FULL_TMPFS_H

#include <stddef.h>

/*
 * A file of so many bytes and no memory, on a tmpfs that has none left: whoever looks there gets SIGBUS.
 * Where no tmpfs can be mounted, an empty file, beyond whose end the same happens. Its descriptor, the
 * caller's.
 */
int full_tmpfs_file(size_t bytes);

/* The directory of a tmpfs ("size=5m") that goes with its last descriptor; -1: none may be mounted. */
int small_tmpfs(const char *options);

#endif
