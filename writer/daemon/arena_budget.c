/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the arena's budget, and measures what is free, for local_state.c.
 */
#include "writer/daemon/arena_budget.h"

#include <sys/statvfs.h>

#include "writer/arena/arena.h"
#include "writer/arena/arena_pages.h"
#include "writer/arena/memory_limit.h"

#define RANGE_TIMES 8u
/*
 * By default the arena takes at most this part of the memory: a tmpfs may be as large as the memory or
 * larger, and readers, informerd and all others need some.
 */
#define MEMORY_PART 2u

static uint64_t
min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
sum_of(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t
within_limits(uint64_t bytes)
{
	bytes = min_of(bytes, ARENA_BYTES_LIMIT) & ~UINT64_C(4095);
	return bytes < ARENA_BYTES_MIN ? ARENA_BYTES_MIN : bytes;
}

uint64_t
arena_budget_wanted(const struct arena_means *m)
{
	uint64_t system = m->system ? m->system : UINT64_MAX,
		 part = m->memory ? m->memory / MEMORY_PART : UINT64_MAX;

	return within_limits(m->configured ? m->configured : min_of(system, part));
}

uint64_t
arena_budget_now(const struct arena_means *m)
{
	uint64_t bytes = arena_budget_wanted(m);

	if (m->system)
		bytes = min_of(bytes, sum_of(m->present, m->system_left));
	if (m->group_left != UINT64_MAX)
		bytes = min_of(bytes, sum_of(m->present, m->group_left > ARENA_PAGES_GROUP_RESERVE
								 ? m->group_left - ARENA_PAGES_GROUP_RESERVE
								 : 0));
	return within_limits(bytes);
}

uint64_t
arena_address_range(uint64_t budget)
{
	return within_limits(budget > UINT64_MAX / RANGE_TIMES ? UINT64_MAX : budget * RANGE_TIMES);
}

void
arena_means_look(struct arena_means *m, int fd)
{
	struct statvfs fs;

	m->system = m->system_left = 0;
	if (fstatvfs(fd, &fs) == 0) {
		m->system = (uint64_t)fs.f_blocks * fs.f_frsize;
		m->system_left = (uint64_t)fs.f_bavail * fs.f_frsize;
	}
	m->memory = memory_limit_total();
	m->group_left = memory_limit_left();
}
