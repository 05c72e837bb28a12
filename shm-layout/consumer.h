/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named consumers: the cursors of readers that come back. They are in the arena, so they survive a restart of
 * informerd. The writer stores them; readers receive their cursor with SUBSCRIBED (protocol.h).
 *
 * BLOCK_CONSUMERS payload: an array of records of 128 bytes, in no order. root.consumers is its ref; 0: no
 * consumers.
 *
 *   0             16           24                  32     36       37            128
 *   +-------------+------------+-------------------+------+--------+-------------+
 *   | lineage     | seq        | last_seen_wall_ns | uid  | length | name        |
 *   +-------------+------------+-------------------+------+--------+-------------+
 *
 *   lineage, seq       the cursor: the consumer acknowledged all changes of that lineage up to seq
 *   last_seen_wall_ns  when the consumer was last attached. Adjusted at each start, so that
 *                      (root.committed_wall_ns - last_seen_wall_ns) counts only time in which a writer ran.
 *                      The writer removes a record when that age exceeds its limit
 *   uid                the user that owns the name
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
