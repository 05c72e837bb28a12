/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer, and the allocation that all of informer-sim uses.
 *
 * The simulator is a tool of its own process: where memory runs out it says so
 * and exits, so nothing here returns an allocation failure.
 */
#ifndef TOOLS_INFORMER_SIM_BUF_H
#define TOOLS_INFORMER_SIM_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define _cleanup_(destructor) __attribute__((cleanup(destructor)))

struct sim_buf {
	char *data; /* always ended by a NUL that len does not count, once anything was put */
	size_t len;
	size_t cap;
};

/* malloc, realloc and strndup that end the process with a message when memory runs out. */
void *
sim_alloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void *
sim_realloc(void *block, size_t bytes) __attribute__((returns_nonnull));
char *
sim_strndup(const char *text, size_t len) __attribute__((malloc, returns_nonnull));

void
sim_buf_put(struct sim_buf *buf, const void *data, size_t len);
void
sim_buf_puts(struct sim_buf *buf, const char *text);
void
sim_buf_printf(struct sim_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Append a JSON string, quotes included. Bytes from 0x20 on, apart from quote and backslash, go as they
 * are.
 */
void
sim_buf_json(struct sim_buf *buf, const char *text, size_t len);
void
sim_buf_json_str(struct sim_buf *buf, const char *text);

/* Append a file's contents. Returns 0, negative errno, -EFBIG: longer than max. */
int
sim_buf_read_file(struct sim_buf *buf, const char *path, size_t max);

/* Forget the contents, keep the memory. */
void
sim_buf_reset(struct sim_buf *buf);
/* Free the memory; also a cleanup function. NULL is fine. */
void
sim_buf_done(struct sim_buf *buf);
/* Hand the memory over; the buffer is empty afterwards. Free it with free(). */
char *
sim_buf_take(struct sim_buf *buf);

/* Cleanup function for char *. */
void
sim_freep(char **text);

#endif
