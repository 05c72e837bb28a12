/*
 * Patience: what an open snapshot may cost. As long as a reader holds one, nothing that it could see is reused; a reader that never
 * lets go would fill the memory. So first it is named in the log, and in the end the writer moves to a new generation, which
 * holds nothing for it, and leaves it the old one, frozen and whole.
 */
#ifndef WRITER_PATIENCE_H
#define WRITER_PATIENCE_H

#include <stdint.h>

#define PATIENCE_DEFAULT_BYTES (64u << 20)
#define PATIENCE_DEFAULT_SECONDS 60u

struct patience {
	uint64_t bytes;		/* held back for it, and */
	uint64_t ns;		/* held for so long: both reached, it ends */
};

enum patience_says { PATIENCE_FINE, PATIENCE_WORN, PATIENCE_OVER };

/*
 * bytes  that wait for readers
 * ns     since the oldest pin was first seen
 * WORN from half of both limits on, OVER from both.
 */
enum patience_says patience_ask(const struct patience *limits, uint64_t bytes, uint64_t ns);

#endif
