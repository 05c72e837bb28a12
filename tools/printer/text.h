/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing text, and what comes of it on standard output.
 *
 * Output is built in memory and written when it is complete, so that a pager at the other end of a pipe does
 * not keep a snapshot open (which would hold memory back in the daemon); past TEXT_FLUSH bytes it is written
 * as it grows.
 */
#ifndef TOOLS_PRINTER_TEXT_H
#define TOOLS_PRINTER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/printer/field.h"

#define TEXT_FLUSH (64u << 20)

/*
 * fd -1: stays in memory. error: a negative errno that a write or an allocation met; what follows is
 * dropped.
 */
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
/* Write what there is to the fd. Returns 0 or text->error. */
int
text_flush(struct text *text);

#endif
