/*
 * Patience.
 */
#include "writer/daemon/patience.h"

enum patience_says
patience_ask(const struct patience *limits, uint64_t bytes, uint64_t ns)
{
	if (bytes >= limits->bytes && ns >= limits->ns)
		return PATIENCE_OVER;
	if (bytes >= limits->bytes / 2 && ns >= limits->ns / 2)
		return PATIENCE_WORN;
	return PATIENCE_FINE;
}
