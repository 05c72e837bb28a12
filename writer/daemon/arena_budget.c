/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the arena's budget, and measures what is free, for local_state.c.
 */
#include "writer/daemon/arena_budget.h"

#include <inttypes.h>
#include <stdio.h>
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
/*
 * By default the arena leaves this part of /dev/shm to other programs, as a database: they fail when it is
 * full, while informerd waits. MEMORY_PART leaves them nothing: /dev/shm has half of the memory by default.
 */
#define OTHERS_PART 4u
/* A copy needs so much more than the arena has now: it grows until the next look. */
#define GROWTH_PART 8u

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

/* What the arena takes of the file system by default. UINT64_MAX: no limit. */
static uint64_t
part_of_system(const struct arena_means *m)
{
	if (!m->system)
		return UINT64_MAX;
	return m->shared ? m->system - m->system / OTHERS_PART : m->system;
}

uint64_t
arena_budget_wanted(const struct arena_means *m)
{
	uint64_t part = m->memory ? m->memory / MEMORY_PART : UINT64_MAX;

	return within_limits(m->configured ? m->configured : min_of(part_of_system(m), part));
}

/* What file system and memory cgroup allow, with what the arena has. UINT64_MAX: no limit. */
static uint64_t
by_system(const struct arena_means *m)
{
	return m->system ? sum_of(m->present, m->system_left) : UINT64_MAX;
}

static uint64_t
by_group(const struct arena_means *m)
{
	uint64_t reserve = min_of(m->group_left, ARENA_PAGES_GROUP_RESERVE);

	return m->group_left == UINT64_MAX ? UINT64_MAX : sum_of(m->present, m->group_left - reserve);
}

uint64_t
arena_budget_now(const struct arena_means *m)
{
	return within_limits(min_of(arena_budget_wanted(m), min_of(by_system(m), by_group(m))));
}

bool
arena_budget_is_held_up(const struct arena_means *m, uint64_t held)
{
	uint64_t for_one = min_of(by_system(m), by_group(m)) / 2;

	if (m->present <= for_one - for_one / GROWTH_PART)
		return false;
	return m->present - min_of(held, m->present) <= for_one;
}

struct shown {
	char text[32];
};

static struct shown
show(uint64_t bytes)
{
	struct shown s;

	if (bytes < UINT64_C(1) << 20)
		snprintf(s.text, sizeof(s.text), "%" PRIu64 " KiB", bytes >> 10);
	else
		snprintf(s.text, sizeof(s.text), "%" PRIu64 " MiB", bytes >> 20);
	return s;
}

void
arena_budget_explain(const struct arena_means *m, const char *dir, char *text, size_t size)
{
	uint64_t wanted = arena_budget_wanted(m), system = by_system(m), group = by_group(m);
	bool whole = !m->configured && m->system && wanted >= within_limits(part_of_system(m));
	struct shown limit = show(wanted);

	if (group < wanted && group <= system)
		snprintf(text, size,
			 "the memory cgroup leaves %s, of which %s are kept free: raise its memory limit",
			 show(m->group_left).text, show(ARENA_PAGES_GROUP_RESERVE).text);
	else if (system < wanted || (whole && !m->shared))
		snprintf(text, size,
			 "%s has %s, %s of it free: mount it larger (mount -o remount,size=SIZE %s), or free "
			 "some space there",
			 dir, show(m->system).text, show(m->system_left).text, dir);
	else if (whole)
		snprintf(text, size,
			 "by default the arena takes three quarters of %s, %s of %s: set a larger "
			 "arena.maxBytes (--arena-max), or mount it larger (mount -o remount,size=SIZE %s)",
			 dir, limit.text, show(m->system).text, dir);
	else if (wanted >= ARENA_BYTES_LIMIT)
		snprintf(text, size, "no arena has more than %s: cache less", limit.text);
	else if (m->configured)
		snprintf(text, size, "arena.maxBytes (--arena-max) is %s: raise it", limit.text);
	else
		snprintf(text, size,
			 "by default the arena takes half of the memory at most, %s: set a larger "
			 "arena.maxBytes (--arena-max)",
			 limit.text);
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
