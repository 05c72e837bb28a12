/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits that the configuration sets, in the form in which they are asked for; what it does not say has
 * the default of whoever asks. For the start and for a reload alike.
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
 * What an open snapshot may cost. As long as a reader holds one, nothing that it could see is reused; a
 * reader that never lets go would fill the memory. So it is revoked in the end.
 */
struct snapshot_limit {
	uint64_t bytes; /* held back for it, and */
	uint64_t ns;	/* held for so long: both reached, it ends */
};

#define SNAPSHOT_LIMIT_DEFAULT_BYTES (64u << 20)
#define SNAPSHOT_LIMIT_DEFAULT_SECONDS 60u

/* budget: of the arena, in bytes; held back may be a quarter of it at most, whatever is configured. */
struct snapshot_limit limits_of_snapshots(const struct config *config, uint64_t budget);

/*
 * bytes  that wait for readers
 * ns     since the oldest pin was first seen
 */
bool snapshot_limit_is_over(const struct snapshot_limit *limits, uint64_t bytes, uint64_t ns);

#endif
