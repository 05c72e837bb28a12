/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Age: formats times and ages as kubectl does.
 *
 * Source: k8s.io/apimachinery pkg/util/duration, HumanDuration; metav1.Time (RFC 3339)
 */
#ifndef TOOLS_PRINTER_AGE_H
#define TOOLS_PRINTER_AGE_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/printer/field.h"

#define AGE_TEXT_MAX 32
#define NS_PER_S INT64_C(1000000000)

/*
 * Format a duration: "47s", "5m12s", "5d3h", at most two units; "<invalid>" if it is more than a second
 * negative. Returns `buffer`.
 */
const char *
age_format(int64_t ns, char buffer[AGE_TEXT_MAX]);
/* Parse RFC 3339, with fractions of a second and any zone, to UTC; false: invalid. */
bool
age_read(struct field_text time, int64_t *ret_seconds, unsigned *ret_ns);
/* The same, to nanoseconds of wall time; false: invalid, or outside 1678 to 2262. */
bool
age_parse(struct field_text time, int64_t *ret_ns);
/* Format the time since `time`; "<unknown>": absent or invalid. Returns `buffer`. */
const char *
age_since(struct field time, int64_t now_ns, char buffer[AGE_TEXT_MAX]);
/* The wall clock. */
int64_t
age_now(void);

#endif
