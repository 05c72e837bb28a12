/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of status sockets, for both ends; see run_status.h. */
#ifndef TOOLS_INFORMER_RUN_RUN_STATUS_FOLDER_H
#define TOOLS_INFORMER_RUN_RUN_STATUS_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Returns 0 or -ENAMETOOLONG. */
int
status_folder(char *buffer, size_t size);
/* Check that only this user can put sockets into the folder. Returns 0 or a negative errno. */
int
status_check_folder(const char *folder);
bool
status_is_socket(const char *name);
/* Returns a descriptor or a negative errno. */
int
status_connect(const char *folder, const char *name);

#endif
