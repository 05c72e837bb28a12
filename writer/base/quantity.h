/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes and times as people write them. Each returns 0, or -EINVAL with a message that begins with what was
 * wrong.
 */
#ifndef WRITER_BASE_QUANTITY_H
#define WRITER_BASE_QUANTITY_H

#include <stdint.h>

/* Bytes, with K, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti (of 1024), and a B behind that if you like. */
int quantity_size(const char *text, uint64_t *ret_bytes, char **ret_error);

/* Milliseconds, between two bounds: 800ms, 30s, 1m30s, 2h. */
int quantity_time(const char *text, uint64_t least_ms, uint64_t most_ms, uint64_t *ret_ms, char **ret_error);

#endif
