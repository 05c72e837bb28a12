/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the configuration's numbers into limits, for the start and for a reload. What is not configured gets
 * the default of the module concerned.
 */
#ifndef WRITER_DAEMON_LIMITS_H
#define WRITER_DAEMON_LIMITS_H

#include <stdbool.h>

#include "writer/config/config.h"
#include "writer/serve/consumers.h"
#include "writer/serve/fan_out.h"

struct fan_out_limits limits_of_queues(const struct config *config);
struct consumers_limits limits_of_consumers(const struct config *config);

/*
 * What an open snapshot may cost. While a reader holds a snapshot, nothing that it can see is reused; a
 * snapshot that is never closed would fill the memory. So its reader is revoked when both limits are reached.
 */
struct snapshot_limit {
	uint64_t bytes; /* held back for the snapshot */
	uint64_t ns;    /* time for which the snapshot is open */
};

#define SNAPSHOT_LIMIT_DEFAULT_BYTES (64u << 20)
#define SNAPSHOT_LIMIT_DEFAULT_SECONDS 60u

/* budget: of the arena, in bytes. `bytes` is at most a quarter of it, whatever is configured. */
struct snapshot_limit limits_of_snapshots(const struct config *config, uint64_t budget);

/*
 * bytes  memory that waits for readers
 * ns     time since the oldest pin was first seen
 */
bool snapshot_limit_is_over(const struct snapshot_limit *limits, uint64_t bytes, uint64_t ns);

#endif
