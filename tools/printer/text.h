/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text: a growing text, written to a file descriptor.
 *
 * Output is built in memory and written when complete. So a pager that does not read keeps no snapshot open,
 * which would hold memory in the daemon. Above TEXT_FLUSH bytes the text is written as it grows.
 */
#ifndef TOOLS_PRINTER_TEXT_H
#define TOOLS_PRINTER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/printer/field.h"

#define TEXT_FLUSH (64u << 20)

/* fd -1: kept in memory. error: negative errno of a write or an allocation; later additions are dropped. */
struct text {
	char *data;
	size_t length;
	size_t size;
	int fd;
	int error;
};

#define TEXT_INIT(file) {.fd = (file)}

void
text_done(struct text *text);
void
text_add(struct text *text, const char *data, size_t length);
void
text_adds(struct text *text, const char *string);
void
text_addc(struct text *text, char c);
void
text_pad(struct text *text, char c, size_t count);
void
text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Write the text to the fd. Returns 0 or text->error. */
int
text_flush(struct text *text);

#endif
