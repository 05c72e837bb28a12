/* SPDX-License-Identifier: Apache-2.0 */
/* Times as Kubernetes writes them. */
#ifndef TOOLS_SERVING_TIME_TEXT_H
#define TOOLS_SERVING_TIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Read the 19 characters before the zone. Returns 0 or -EINVAL. */
int api_time_parse(const char *text, size_t len, int64_t *ret_seconds);
/* Read all of a time, with fractions of a second and any zone, in UTC. False: it is none. */
bool api_time_read(const char *text, size_t len, int64_t *ret_seconds, unsigned *ret_micros);

#endif
