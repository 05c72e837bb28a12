/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File: reading a small file whole (kubeconfig, token, CA, configuration).
 */
#ifndef WRITER_BASE_FILE_H
#define WRITER_BASE_FILE_H

#include <stddef.h>

/*
 * Read what `path` holds: a file, or a pipe as of a shell's <(...).
 *
 * max        more bytes than these are refused with -EFBIG
 * ret_data   allocated, NUL-terminated behind its ret_len bytes; set on success only
 * Returns    0, or a negative errno with a message "PATH: reason"
 */
int file_read(const char *path, size_t max, char **ret_data, size_t *ret_len, char **ret_error);

/* Overwrite a secret, then free it. NULL is fine. */
void file_wipe(char *data, size_t len);
void file_wipe_text(char *text);

#endif
