/* SPDX-License-Identifier: Apache-2.0 */
/* Times as Kubernetes writes them. */
#ifndef TOOLS_SERVING_TIME_TEXT_H
#define TOOLS_SERVING_TIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API_TIME_SIZE 21
/* Seconds since 1970 as Kubernetes prints them: 2026-01-02T03:04:05Z. */
void
api_time_print(int64_t seconds, char out[API_TIME_SIZE]);
/* Read the 19 characters before the zone. Returns 0 or -EINVAL. */
int
api_time_parse(const char *text, size_t len, int64_t *ret_seconds);
/* Read all of a time, with fractions of a second and any zone, in UTC. False: it is none. */
bool api_time_read(const char *text, size_t len, int64_t *ret_seconds, unsigned *ret_micros);

#endif
