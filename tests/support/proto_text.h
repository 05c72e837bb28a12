/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf written as text, for tests:
 *
 *	1:'text' 2=-7 3:{1:'inner'}	fields: bytes, a number, a message
 *	'k8s' 00 {1:''}			bytes as they are, of a text, in hex; fields without a head
 *	raw 0a ff			the same, for what is malformed
 */
#ifndef TESTS_SUPPORT_PROTO_TEXT_H
#define TESTS_SUPPORT_PROTO_TEXT_H

#include "writer/base/growing.h"

/* Replaces the content of *to. Aborts on an invalid text. */
void proto_text(struct bytes *to, const char *text);

#endif
