/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's key file (shm-layout/key_file.h): made when there is none.
 */
#ifndef WRITER_DAEMON_KEY_LOAD_H
#define WRITER_DAEMON_KEY_LOAD_H

#include "shm-layout/key_file.h"

/*
 * Read it; make it when it does not exist.
 * Returns 0, or negative errno with a sentence in why: not a regular file, not ours, readable by others, of
 * another length.
 */
int key_load(const char *path, uint8_t ret_master[TAG_MASTER_BYTES], char *why, size_t why_size);

#endif
