/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a small file whole (kubeconfig, token, CA, configuration).
 */
#ifndef WRITER_BASE_FILE_H
#define WRITER_BASE_FILE_H

#include <stddef.h>

/*
 * Read a file, or a pipe such as a shell's <(...).
 *
 * max        -EFBIG for more bytes
 * ret_data   allocated, NUL-terminated after its ret_len bytes; set on success only
 * Returns    0, or a negative errno with a message "PATH: reason"
 */
int file_read(const char *path, size_t max, char **ret_data, size_t *ret_len, char **ret_error);

/* Overwrite a secret, then free it. NULL is fine. */
void file_wipe(char *data, size_t len);
void file_wipe_text(char *text);

#endif
