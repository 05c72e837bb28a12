/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares what an open snapshot costs with its limits: at half of both it is named in the log, at both
 * it is revoked. Pure arithmetic, asked by daemon_room.c with each heartbeat, and where the arena is full.
 */
#include "writer/daemon/snapshot_limit.h"

enum snapshot_limit_state
snapshot_limit_ask(const struct snapshot_limit *limits, uint64_t bytes, uint64_t ns)
{
	if (bytes >= limits->bytes && ns >= limits->ns)
		return SNAPSHOT_LIMIT_OVER;
	if (bytes >= limits->bytes / 2 && ns >= limits->ns / 2)
		return SNAPSHOT_LIMIT_WORN;
	return SNAPSHOT_LIMIT_FINE;
}
