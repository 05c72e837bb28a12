/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits that the configuration sets, in the form in which they are asked for; what it does not say has
 * the default of whoever asks. For the start and for a reload alike.
 */
#ifndef WRITER_DAEMON_LIMITS_H
#define WRITER_DAEMON_LIMITS_H

#include "writer/config/config.h"
#include "writer/daemon/snapshot_limit.h"
#include "writer/serve/consumers.h"
#include "writer/serve/fan_out.h"

struct fan_out_limits limits_of_queues(const struct config *config);
struct consumers_limits limits_of_consumers(const struct config *config);
/* budget: of the arena, in bytes; held back may be a quarter of it at most, whatever is configured. */
struct snapshot_limit limits_of_snapshots(const struct config *config, uint64_t budget);

#endif
