/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times as kubectl prints them.
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
 * "47s", "5m12s", "5d3h": two units at most; "<invalid>" for what lies more than a second in the future.
 * Returns `buffer`.
 */
const char *
age_format(int64_t ns, char buffer[AGE_TEXT_MAX]);
/* RFC 3339, with fractions of a second and any zone, to UTC; false when it is none. */
bool
age_read(struct field_text time, int64_t *ret_seconds, unsigned *ret_ns);
/* The same to nanoseconds of wall time; false when it is none, or outside of 1678 to 2262. */
bool
age_parse(struct field_text time, int64_t *ret_ns);
/* How long ago a time was; "<unknown>" when it is absent or makes no sense. Returns `buffer`. */
const char *
age_since(struct field time, int64_t now_ns, char buffer[AGE_TEXT_MAX]);
/* The wall clock. */
int64_t
age_now(void);

#endif
