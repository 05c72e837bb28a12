/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a file that somebody else may have put there: nothing but a plain file is opened, and no link is
 * followed.
 */
#ifndef SHM_LAYOUT_PLAIN_FILE_H
#define SHM_LAYOUT_PLAIN_FILE_H

#include <sys/stat.h>

/*
 * Open a regular file read-only, close-on-exec. What stands there is looked at before it is opened: to open a
 * device may do something, a FIFO may be waited for. Never waits.
 *
 * ret_st   what it is, also of one that is not opened; zeroed when there is nothing
 * Returns  a descriptor; -EINVAL it is no regular file (a symbolic link is none); other negative errno
 */
int plain_file_open(const char *path, struct stat *ret_st);

#endif
