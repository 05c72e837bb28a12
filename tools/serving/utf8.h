/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 validation, as JSON and protobuf require it. */
#ifndef TOOLS_SERVING_UTF8_H
#define TOOLS_SERVING_UTF8_H

#include <stddef.h>

/* Length of the valid multi-byte sequence at the beginning of a text; 0: none. left > 0 */
size_t api_utf8_length(const char *text, size_t left);

#endif
