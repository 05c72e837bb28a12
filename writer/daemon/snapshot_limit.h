/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshot limit: what an open snapshot may cost. As long as a reader holds one, nothing that it could see is
 * reused; a reader that never lets go would fill the memory. So first it is named in the log, and in the end
 * it is revoked (store_revoke()).
 */
#ifndef WRITER_DAEMON_SNAPSHOT_LIMIT_H
#define WRITER_DAEMON_SNAPSHOT_LIMIT_H

#include <stdint.h>

#define SNAPSHOT_LIMIT_DEFAULT_BYTES (64u << 20)
#define SNAPSHOT_LIMIT_DEFAULT_SECONDS 60u

struct snapshot_limit {
	uint64_t bytes;		/* held back for it, and */
	uint64_t ns;		/* held for so long: both reached, it ends */
};

enum snapshot_limit_state { SNAPSHOT_LIMIT_FINE, SNAPSHOT_LIMIT_WORN, SNAPSHOT_LIMIT_OVER };

/*
 * bytes  that wait for readers
 * ns     since the oldest pin was first seen
 * WORN from half of both limits on, OVER from both.
 */
enum snapshot_limit_state snapshot_limit_ask(const struct snapshot_limit *limits, uint64_t bytes,
					     uint64_t ns);

#endif
