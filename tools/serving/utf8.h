/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, as JSON and protobuf ask for it. */
#ifndef TOOLS_SERVING_UTF8_H
#define TOOLS_SERVING_UTF8_H

#include <stddef.h>

/* Length of the well-formed sequence of several bytes that a text begins with; 0: with none. left > 0 */
size_t api_utf8_length(const char *text, size_t left);

#endif
