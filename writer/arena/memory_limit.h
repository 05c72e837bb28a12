/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells how much memory the process' control groups still allow. Beyond a memory cgroup's limit fallocate()
 * on tmpfs does not fail: the kernel kills the process. So the arena asks before it grows.
 */
#ifndef WRITER_ARENA_MEMORY_LIMIT_H
#define WRITER_ARENA_MEMORY_LIMIT_H

#include <stdint.h>

/*
 * Bytes left under the tightest limit (reclaimable page cache counted as free); UINT64_MAX when there is
 * none.
 */
uint64_t memory_limit_left(void);

/* The same, with the roots of /proc/self/cgroup and /sys/fs/cgroup replaced: for tests. */
uint64_t memory_limit_left_at(const char *proc_self_cgroup, const char *cgroup_root);

#endif
