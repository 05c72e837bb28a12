/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key file: 32 random bytes from which all integrity tags are derived (shm-layout/tag.h). It lies beside
 * the socket, mode 0600.
 */
#ifndef WRITER_DAEMON_KEY_FILE_H
#define WRITER_DAEMON_KEY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/tag.h"

/*
 * Read it; make it when it does not exist.
 * Returns 0, or negative errno with a sentence in why: not a regular file, not ours, readable by others, of
 * another length.
 */
int key_file_load(const char *path, uint8_t ret_master[TAG_MASTER_BYTES], char *why, size_t why_size);

#endif
