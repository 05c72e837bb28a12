/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key file, SOCKET.key: 32 random bytes from which the keys of integrity tags are derived (tag.h). The
 * writer makes it, with mode 0600: only processes of its user and of root can read it.
 */
#ifndef SHM_LAYOUT_KEY_FILE_H
#define SHM_LAYOUT_KEY_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm-layout/tag.h"

/*
 * Read the key file.
 *
 * owner    the user that must own it
 * why      set on failure to a sentence that begins with "key file PATH"
 * Returns  0; -ENOENT no such file; -EPERM not a regular file, another owner, readable by other users, or
 *          another length; other negative errno
 */
int key_file_read(const char *path, uid_t owner, uint8_t ret_master[TAG_MASTER_BYTES], char *why,
		  size_t why_size);

#endif
