/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf of documents, byte for byte as upstream's generated code writes it: fields in the order of their
 * numbers, texts, numbers and messages also where they are zero, maps in the order of their keys.
 *
 * Source    k8s.io/api, generated.pb.go
 */
#ifndef TOOLS_SERVING_PROTO_ENCODE_H
#define TOOLS_SERVING_PROTO_ENCODE_H

#include "tools/serving/doc.h"
#include "tools/schema/proto_schema.h"

/* Append the message that an object is, which is as its type has it. */
void api_proto_message(const struct proto_message *message, const struct api_node *object,
		       struct api_buf *buf);

/* What stands before a field of so many bytes. */
void api_proto_begin(struct api_buf *buf, unsigned number, uint64_t length);
/* A field of bytes, as which texts and messages stand too. */
void api_proto_bytes(struct api_buf *buf, unsigned number, const char *data, size_t len);
void api_proto_text(struct api_buf *buf, unsigned number, const char *text);

#endif
