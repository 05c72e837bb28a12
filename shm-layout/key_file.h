/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key file: 32 random bytes from which all integrity tags are derived (tag.h). It lies beside the socket,
 * SOCKET.key, mode 0600; the writer makes it, and readers of its user and root may read it.
 */
#ifndef SHM_LAYOUT_KEY_FILE_H
#define SHM_LAYOUT_KEY_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm-layout/tag.h"

/*
 * Read it.
 *
 * owner    whose it must be
 * why      set on failure to a sentence that begins with "key file PATH"
 * Returns  0; -ENOENT there is none; -EPERM it is no regular file, not the owner's, readable by others, or of
 *          another length; other negative errno
 */
int key_file_read(const char *path, uid_t owner, uint8_t ret_master[TAG_MASTER_BYTES], char *why,
		  size_t why_size);

#endif
