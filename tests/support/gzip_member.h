/* SPDX-License-Identifier: Apache-2.0 */
/* Gzip as a server makes it, for tests. */
#ifndef TESTS_SUPPORT_GZIP_MEMBER_H
#define TESTS_SUPPORT_GZIP_MEMBER_H

#include "writer/base/growing.h"

/* Appends one member of gzip that these bytes are packed in. Aborts when it cannot. */
void gzip_member(struct bytes *to, const void *data, size_t length);

#endif
