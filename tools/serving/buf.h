/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer, and the allocation that servers use.
 *
 * A server is a process of its own: where memory runs out it says so and exits, so
 * nothing here returns an allocation failure. What a client chooses the size of is
 * bounded first.
 */
#ifndef TOOLS_SERVING_BUF_H
#define TOOLS_SERVING_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef _cleanup_
#define _cleanup_(destructor) __attribute__((cleanup(destructor)))
#endif

struct api_buf {
	char *data; /* always ended by a NUL that len does not count, once anything was put */
	size_t len;
	size_t cap;
};

/* malloc, realloc and strndup that end the process with a message when memory runs out. */
void *api_alloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void *api_realloc(void *block, size_t bytes) __attribute__((returns_nonnull));
char *api_strndup(const char *text, size_t len) __attribute__((malloc, returns_nonnull));

void api_buf_put(struct api_buf *buf, const void *data, size_t len);
void api_buf_puts(struct api_buf *buf, const char *text);
void api_buf_printf(struct api_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Append a JSON string, quotes included. Bytes from 0x20 on, apart from quote and backslash, go as they
 * are.
 */
void api_buf_json(struct api_buf *buf, const char *text, size_t len);
void api_buf_json_str(struct api_buf *buf, const char *text);

/* Append a file's contents. Returns 0, negative errno, -EFBIG: longer than max. */
int api_buf_read_file(struct api_buf *buf, const char *path, size_t max);

/* Forget the contents, keep the memory. */
void api_buf_reset(struct api_buf *buf);
/* Free the memory; also a cleanup function. NULL is fine. */
void api_buf_done(struct api_buf *buf);
/* Hand the memory over; the buffer is empty afterwards. Free it with free(). */
char *api_buf_take(struct api_buf *buf);

/* Cleanup function for char *. */
void api_freep(char **text);

#endif
