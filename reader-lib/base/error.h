/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the last failure in a thread was, as a sentence for informer_error_text().
 *
 * Invariant: a sentence is kept with its code, and is given out for this code alone.
 *
 * Threads: each has its own sentence. No lock.
 */
#ifndef READER_LIB_BASE_ERROR_H
#define READER_LIB_BASE_ERROR_H

/* Keep a sentence for this thread. Returns the code. */
int error_set(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An errno in words; where something has run out, with what to do about it. Lent until the next call. */
const char *errno_text(int error);

#endif
