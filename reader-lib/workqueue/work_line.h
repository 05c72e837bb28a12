/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line of a workqueue: keys in order of priority, highest first, and within a priority in order of
 * arrival.
 *
 * There is one list for each of the 256 priorities, and one bit that says whether the list has keys.
 * Appending, removing and finding the first take constant time and no memory.
 */
#ifndef READER_LIB_WORKQUEUE_WORK_LINE_H
#define READER_LIB_WORKQUEUE_WORK_LINE_H

#include <stddef.h>
#include <stdint.h>

#define LINE_PRIORITIES 256u

/* Part of the caller's struct. priority: set by the caller, only while the node is in no line. */
struct in_line {
	struct in_line *next, *previous;
	int8_t priority;
};

/* A list, which may also be used alone. A node is in one list at a time. A zeroed lane is empty. */
struct lane {
	struct in_line *first, *last;
};

static inline void
lane_append(struct lane *lane, struct in_line *node)
{
	node->next = NULL;
	node->previous = lane->last;
	if (lane->last)
		lane->last->next = node;
	else
		lane->first = node;
	lane->last = node;
}

static inline void
lane_remove(struct lane *lane, struct in_line *node)
{
	if (node->next)
		node->next->previous = node->previous;
	else
		lane->last = node->previous;
	if (node->previous)
		node->previous->next = node->next;
	else
		lane->first = node->next;
}

/* A zeroed line is empty. */
struct work_line {
	struct lane lanes[LINE_PRIORITIES];
	uint64_t taken[LINE_PRIORITIES / 64]; /* a bit for each lane that has keys */
	size_t length;
};

static inline unsigned
work_line_lane(const struct in_line *node)
{
	return (unsigned)(node->priority - INT8_MIN);
}

/* Append behind all keys of the same priority. */
static inline void
work_line_append(struct work_line *line, struct in_line *node)
{
	unsigned i = work_line_lane(node);

	lane_append(&line->lanes[i], node);
	line->taken[i / 64] |= UINT64_C(1) << i % 64;
	line->length++;
}

/* NULL: the line is empty. */
static inline struct in_line *
work_line_first(const struct work_line *line)
{
	for (unsigned i = LINE_PRIORITIES / 64; i-- > 0;) {
		if (line->taken[i])
			return line->lanes[i * 64 + 63 - (unsigned)__builtin_clzll(line->taken[i])].first;
	}
	return NULL;
}

static inline void
work_line_remove(struct work_line *line, struct in_line *node)
{
	unsigned i = work_line_lane(node);

	lane_remove(&line->lanes[i], node);
	if (!line->lanes[i].first)
		line->taken[i / 64] &= ~(UINT64_C(1) << i % 64);
	line->length--;
}

#endif
