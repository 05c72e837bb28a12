/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf encoder: encodes documents byte for byte as upstream's generated code does. Fields are in order of
 * their numbers. Texts, numbers and messages are written even if zero. Maps are in order of their keys.
 *
 * Source    k8s.io/api, generated.pb.go
 */
#ifndef TOOLS_SERVING_PROTO_ENCODE_H
#define TOOLS_SERVING_PROTO_ENCODE_H

#include "tools/serving/doc.h"
#include "tools/schema/proto_schema.h"

/* Append an object as a message. The object must fit its type. */
void api_proto_message(const struct proto_message *message, const struct api_node *object,
		       struct api_buf *buf);

/* Append what precedes a field of `length` bytes. */
void api_proto_begin(struct api_buf *buf, unsigned number, uint64_t length);
/* Append a field of bytes; texts and messages have the same form. */
void api_proto_bytes(struct api_buf *buf, unsigned number, const char *data, size_t len);
void api_proto_text(struct api_buf *buf, unsigned number, const char *text);

#endif
