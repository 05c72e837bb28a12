/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealed text: what a small file holds, read once and kept in sealed memory (memfd), so that a program that
 * is executed can be handed it: the environment names its descriptor.
 */
#ifndef WRITER_BASE_SEALED_TEXT_H
#define WRITER_BASE_SEALED_TEXT_H

#include <stddef.h>

/*
 * Read a file, or a pipe.
 *
 * path     NULL: there is none
 * max      more bytes than these are refused with -EFBIG
 * ret_fd   of the text, for close(), and closed on exec; -1 without a path
 * Returns  0, or negative errno with message
 */
int sealed_text_read(const char *path, size_t max, int *ret_fd, char **ret_error);

/*
 * The text that this program was handed: `variable` says the number of its descriptor, which is closed on
 * exec from now on. The environment is cleared of it. -1: none.
 */
int sealed_text_receive(const char *variable);

/* A copy of it, for file_wipe(). Returns 0 or negative errno. */
int sealed_text_get(int fd, char **ret_data, size_t *ret_length);

#endif
