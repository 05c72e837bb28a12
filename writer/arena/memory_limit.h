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

/* The tightest limit itself, or the machine's memory if that is less or there is no limit; in bytes. */
uint64_t memory_limit_total(void);

/*
 * The same, with the roots of /proc/self/cgroup and /sys/fs/cgroup, and the machine's memory, replaced: for
 * tests.
 */
uint64_t memory_limit_left_at(const char *proc_self_cgroup, const char *cgroup_root);
uint64_t memory_limit_total_at(const char *proc_self_cgroup, const char *cgroup_root, uint64_t machine);

#endif
