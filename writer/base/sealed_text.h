/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealed text is the content of a small file, read once and kept in sealed memory (memfd). A program that we
 * execute inherits it: an environment variable names its descriptor.
 */
#ifndef WRITER_BASE_SEALED_TEXT_H
#define WRITER_BASE_SEALED_TEXT_H

#include <stddef.h>

/*
 * Read a file, or a pipe.
 *
 * path     NULL: there is none
 * max      -EFBIG for more bytes
 * ret_fd   of the text, for close(); closed on exec; -1 without a path
 * Returns  0, or negative errno with message
 */
int sealed_text_read(const char *path, size_t max, int *ret_fd, char **ret_error);

/*
 * The text that this program inherited: `variable` holds the number of its descriptor, which is closed on
 * exec from now on. Removes the variable from the environment. -1: none.
 */
int sealed_text_receive(const char *variable);

/* A copy of the text; free it with file_wipe(). Returns 0 or negative errno. */
int sealed_text_get(int fd, char **ret_data, size_t *ret_length);

#endif
