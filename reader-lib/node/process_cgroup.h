/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a process's cgroups from /proc, or from the folder that $HOST_PROC names.
 *
 * Invariant: the start time and the cgroups are the same process's, also if its pid is used again meanwhile.
 */
#ifndef READER_LIB_NODE_PROCESS_CGROUP_H
#define READER_LIB_NODE_PROCESS_CGROUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * ret_text    of size bytes; receives the lines of /proc/PID/cgroup that fit
 * start_time  field 22 of /proc/PID/stat; 0: any
 * Returns     0; -ESRCH: no such process, or another start time; other negative errno, with a sentence
 */
int process_cgroup_read(pid_t pid, uint64_t start_time, char *ret_text, size_t size, size_t *ret_length);

#endif
