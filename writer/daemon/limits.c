/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the configuration's numbers into limits. 0 in the configuration means the default.
 */
#include "writer/daemon/limits.h"

struct fan_out_limits
limits_of_queues(const struct config *config)
{
	struct fan_out_limits queues = FAN_OUT_LIMITS;

	if (config->queue_entries)
		queues.entries = config->queue_entries;
	if (config->max_queue_entries)
		queues.max_entries = config->max_queue_entries;
	if (config->queue_bytes)
		queues.bytes = config->queue_bytes;
	if (config->queue_seconds)
		queues.age_ns = config->queue_seconds * 1000000000ull;
	return queues;
}

struct consumers_limits
limits_of_consumers(const struct config *config)
{
	struct consumers_limits consumers = CONSUMERS_LIMITS;

	if (config->consumers_per_user)
		consumers.per_uid = config->consumers_per_user;
	if (config->consumers_total)
		consumers.total = config->consumers_total;
	if (config->consumer_days)
		consumers.age_ns = config->consumer_days * 24ull * 3600 * 1000000000u;
	return consumers;
}

struct snapshot_limit
limits_of_snapshots(const struct config *config, uint64_t budget)
{
	uint64_t seconds = config->hold_seconds ? config->hold_seconds : SNAPSHOT_LIMIT_DEFAULT_SECONDS;
	uint64_t bytes = config->hold_bytes ? config->hold_bytes : SNAPSHOT_LIMIT_DEFAULT_BYTES;

	return (struct snapshot_limit){
		.bytes = bytes < budget / 4 ? bytes : budget / 4,
		.ns = seconds * 1000000000ull,
	};
}

bool
snapshot_limit_is_over(const struct snapshot_limit *limits, uint64_t bytes, uint64_t ns)
{
	return bytes >= limits->bytes && ns >= limits->ns;
}
