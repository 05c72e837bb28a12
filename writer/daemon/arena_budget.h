/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena's budget: how much memory it may use, by configuration, file system and memory cgroup.
 *
 * It is computed at the start and with each heartbeat: a tmpfs may be remounted with another size, others
 * fill or free it, and limits change.
 */
#ifndef WRITER_DAEMON_ARENA_BUDGET_H
#define WRITER_DAEMON_ARENA_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * All in bytes.
 *
 * configured   arena.maxBytes; 0: the size of the file system, three quarters of it if it is shared, or half
 *              of `memory` if that is less
 * system       size of the file system; 0: unlimited
 * system_left  free bytes of the file system
 * memory       of the machine, or the memory cgroup's limit if that is less; 0: unknown
 * group_left   what the memory cgroup still allows; UINT64_MAX: no limit
 * present      what the arena uses already, counted in both
 * shared       the file system is /dev/shm, which other programs use
 */
struct arena_means {
	uint64_t configured, system, system_left, memory, group_left, present;
	bool shared;
};

/* The intended limit: configured, or what file system and memory suggest. */
uint64_t arena_budget_wanted(const struct arena_means *m);
/* The limit now: the intended one, or less where less is free. */
uint64_t arena_budget_now(const struct arena_means *m);

/*
 * True if the next informerd would find no room for a copy of the arena beside it, but would if `held` bytes
 * of the arena were free.
 */
bool arena_budget_is_held_up(const struct arena_means *m, uint64_t held);

/*
 * Write what limits the arena now, and what to do, as the end of a message: "/dev/shm has 64 MiB, 1 MiB of it
 * free: mount it larger …".
 * dir  the arena's directory
 */
void arena_budget_explain(const struct arena_means *m, const char *dir, char *text, size_t size);

/*
 * The address range that the writer and each reader reserve for an arena of this budget. It is a multiple of
 * the budget. Addresses that a revoked reader may look at are not reused, though their memory is. And the
 * budget may grow, by a reload or a larger tmpfs.
 */
uint64_t arena_address_range(uint64_t budget);

/* Set system, system_left, memory and group_left from the file system of this descriptor and the cgroup. */
void arena_means_look(struct arena_means *m, int fd);

#endif
