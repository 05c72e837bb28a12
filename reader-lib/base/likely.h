/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which way a branch goes in all but rare cases.
 */
#ifndef READER_LIB_BASE_LIKELY_H
#define READER_LIB_BASE_LIKELY_H

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
