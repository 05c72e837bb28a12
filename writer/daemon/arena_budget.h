/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budget: how much memory the arena may have, by what is configured, by its file system, and by the memory
 * cgroup. Asked at the start and with each heartbeat: a tmpfs is mounted anew with another size, others fill
 * it or leave, limits are moved.
 */
#ifndef WRITER_DAEMON_ARENA_BUDGET_H
#define WRITER_DAEMON_ARENA_BUDGET_H

#include <stdint.h>

/*
 * All in bytes.
 *
 * configured   arena.maxBytes; 0: what the file system has
 * system       the file system's size; 0: it has none
 * system_left  of it free
 * group_left   that the memory cgroup still allows; UINT64_MAX: there is no limit
 * present      that the arena has already, of both
 */
struct arena_means {
	uint64_t configured, system, system_left, group_left, present;
};

/* What the arena is meant to have at most: configured, or as large as its file system. */
uint64_t arena_budget_wanted(const struct arena_means *m);
/* What it may have now: that, or less where there is less. */
uint64_t arena_budget_now(const struct arena_means *m);

/*
 * The address range to reserve, in the writer and in each reader, for an arena of this budget. It is larger:
 * places that a revoked reader may look at are not used again, though their memory is; and the budget may be
 * raised at a reload, or the tmpfs enlarged.
 */
uint64_t arena_address_range(uint64_t budget);

/* Look: system_left and group_left at the moment, of the file system of this descriptor. */
void arena_means_look(struct arena_means *m, int fd);

#endif
