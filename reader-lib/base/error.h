/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last failure of each thread, as a sentence for informer_error_text().
 *
 * Invariant: a sentence is stored with its code and given out only for this code.
 *
 * Threads: each has its own sentence. No lock.
 */
#ifndef READER_LIB_BASE_ERROR_H
#define READER_LIB_BASE_ERROR_H

/* Store a sentence for this thread. Returns the code. */
int error_set(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An errno in words. If a resource has run out, the text says what to raise. Lent until the next call. */
const char *errno_text(int error);

#endif
