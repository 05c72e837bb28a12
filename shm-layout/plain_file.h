/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open a file that another user may have made: only a regular file is opened, and no symbolic link is
 * followed.
 */
#ifndef SHM_LAYOUT_PLAIN_FILE_H
#define SHM_LAYOUT_PLAIN_FILE_H

#include <sys/stat.h>

/*
 * Open a regular file read-only and close-on-exec. Never blocks. The type is checked before the open, because
 * opening a device may act on it, and opening a FIFO may block.
 *
 * ret_st   the file's status, set also when the file is not opened; zeroed when there is no file
 * Returns  a descriptor; -EINVAL not a regular file, for example a symbolic link; other negative errno
 */
int plain_file_open(const char *path, struct stat *ret_st);

#endif
