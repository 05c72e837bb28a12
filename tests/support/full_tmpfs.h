/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SUPPORT_FULL_TMPFS_H
#define TESTS_SUPPORT_FULL_TMPFS_H

#include <stddef.h>

/*
 * A file of this size without memory, on a full tmpfs: an access raises SIGBUS. Where no tmpfs can be mounted
 * it is an empty file, with the same effect. The caller owns the descriptor.
 */
int full_tmpfs_file(size_t bytes);

/*
 * The directory of a tmpfs with these options ("size=5m"), which ends with its last descriptor; -1: mounting
 * is not allowed.
 */
int small_tmpfs(const char *options);

#endif
