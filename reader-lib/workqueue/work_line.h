/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line of a workqueue: who has a higher priority stands before who has a lower one, and of equals the
 * first to come.
 *
 * A list for each of the 256 priorities, and a bit that says whether it holds anything: coming, going and
 * finding the first take the same time however many wait, and need no memory.
 */
#ifndef READER_LIB_WORKQUEUE_WORK_LINE_H
#define READER_LIB_WORKQUEUE_WORK_LINE_H

#include <stddef.h>
#include <stdint.h>

#define LINE_PRIORITIES 256u

/* Stands in the caller's struct. priority: set by the caller, not while it stands in the line. */
struct in_line {
	struct in_line *next, *previous;
	int8_t priority;
};

/* A plain list, which may also be used alone: a node stands in one at a time. All zero is an empty one. */
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

/* All zero is an empty one. */
struct work_line {
	struct lane lanes[LINE_PRIORITIES];
	uint64_t taken[LINE_PRIORITIES / 64];	/* lanes that hold something */
	size_t length;
};

static inline unsigned
work_line_lane(const struct in_line *node)
{
	return (unsigned)(node->priority - INT8_MIN);
}

/* Behind all of its priority. */
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
