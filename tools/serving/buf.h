/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing byte buffer, and the servers' allocator.
 *
 * A server is its own process. If memory runs out it prints a message and exits, so no function here reports
 * allocation failure. Sizes that a client chooses are bounded before.
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
	char *data; /* NUL terminated once anything was put; len does not count the NUL */
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
 * Append a JSON string with its quotes. Bytes from 0x20 on, except quote and backslash, are copied unchanged.
 */
void api_buf_json(struct api_buf *buf, const char *text, size_t len);
void api_buf_json_str(struct api_buf *buf, const char *text);

/* Append a file's contents. Returns 0, negative errno, -EFBIG: longer than max. */
int api_buf_read_file(struct api_buf *buf, const char *path, size_t max);

/* Forget the contents, keep the memory. */
void api_buf_reset(struct api_buf *buf);
/* Free the memory; also a cleanup function. NULL is fine. */
void api_buf_done(struct api_buf *buf);
/* Take the memory out; the buffer is then empty. Free the result with free(). */
char *api_buf_take(struct api_buf *buf);

/* Cleanup function for char *. */
void api_freep(char **text);

#endif
