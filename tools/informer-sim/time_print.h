/* SPDX-License-Identifier: Apache-2.0 */
/* Prints seconds since 1970 as Kubernetes does: 2026-01-02T03:04:05Z. */
#ifndef TOOLS_INFORMER_SIM_TIME_PRINT_H
#define TOOLS_INFORMER_SIM_TIME_PRINT_H

#include <stdint.h>
#include <string.h>
#include <time.h>

#define SIM_TIME_SIZE 21

static inline void
sim_time_print(int64_t seconds, char out[SIM_TIME_SIZE])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm) ||
	    strftime(out, SIM_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm) != SIM_TIME_SIZE - 1)
		memcpy(out, "1970-01-01T00:00:00Z", SIM_TIME_SIZE);
}

#endif
