/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named consumers: how far readers that come back have got. They live in the arena, and so over a writer's
 * restart.
 *
 * BLOCK_CONSUMERS payload: an array of records, 128 bytes each, in no order; root.consumers refers to it (0:
 * there are none).
 *
 *   0             16           24                  32     36       37            128
 *   +-------------+------------+-------------------+------+--------+------------ +
 *   | lineage     | seq        | last_seen_wall_ns | uid  | length | name        |
 *   +-------------+------------+-------------------+------+--------+-------------+
 *
 *   lineage, seq       the cursor: everything of that lineage up to seq was acknowledged
 *   last_seen_wall_ns  when it was attached last, moved on by all time in which no writer lived: the root's
 *                      committed_wall_ns less this is its age; records that are too old go
 *   uid                whose it is: a name belongs to one user
 */
#ifndef SHM_LAYOUT_CONSUMER_H
#define SHM_LAYOUT_CONSUMER_H

#include <stddef.h>
#include <stdint.h>

#define CONSUMER_NAME_MAX 91u

struct consumer {
	uint8_t lineage[16];
	uint64_t seq;
	uint64_t last_seen_wall_ns;
	uint32_t uid;
	uint8_t name_length;
	char name[CONSUMER_NAME_MAX];
};
_Static_assert(sizeof(struct consumer) == 128, "consumer: size");
_Static_assert(offsetof(struct consumer, name) == 37, "consumer: name moved");

#endif
