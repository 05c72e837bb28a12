/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses sizes and times as people write them. Functions with an int return 0, or -EINVAL with a message
 * that begins with the wrong text.
 */
#ifndef WRITER_BASE_QUANTITY_H
#define WRITER_BASE_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A number with its unit: K, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti (of 1024), each with an optional B,
 * or B alone. Only 0 needs no unit: bytes and MiB are both a guess.
 */
int quantity_size(const char *text, uint64_t *ret_bytes, char **ret_error);

/* Go's durations without a sign: 1h30m, 1.5h, 500ms, 2us, 1ns. False: invalid. */
bool quantity_duration(const char *text, double *ret_ms);

/* Whole milliseconds, between two bounds: 800ms, 30s, 1m30s, 2h. */
int quantity_time(const char *text, uint64_t least_ms, uint64_t most_ms, uint64_t *ret_ms, char **ret_error);

#endif
