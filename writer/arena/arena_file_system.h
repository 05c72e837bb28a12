/* SPDX-License-Identifier: Apache-2.0 */
/* Tells file systems that keep files in memory, where an arena belongs, from those that write them to disk.
 */
#ifndef WRITER_ARENA_ARENA_FILE_SYSTEM_H
#define WRITER_ARENA_ARENA_FILE_SYSTEM_H

/*
 * type     f_type of statfs(2)
 * Returns  the name of a file system that does not keep files in memory, static: "ext4", or "another file
 *          system" for one without a name here; NULL: tmpfs, hugetlbfs or ramfs
 */
const char *arena_file_system_not_memory(long type);

#endif
