/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf of documents, byte for byte as upstream's generated code writes it: fields in the order of their
 * numbers, texts, numbers and messages also where they are zero, maps in the order of their keys.
 *
 * Source    k8s.io/api, generated.pb.go
 */
#ifndef TOOLS_INFORMER_SIM_PROTO_ENCODE_H
#define TOOLS_INFORMER_SIM_PROTO_ENCODE_H

#include "tools/informer-sim/doc.h"
#include "tools/schema/proto_schema.h"

/* Append the message that an object is, which was fitted to its type (typed.h). */
void sim_proto_message(const struct proto_schema *schema, const struct proto_message *message,
		       const struct sim_node *object, struct sim_buf *buf);

/* The parts of a message. */
void
sim_proto_varint(struct sim_buf *buf, uint64_t value);
/* What stands before a field of so many bytes. */
void
sim_proto_begin(struct sim_buf *buf, unsigned number, uint64_t length);
/* A field of bytes, as which texts and messages stand too. */
void
sim_proto_bytes(struct sim_buf *buf, unsigned number, const char *data, size_t len);
void
sim_proto_text(struct sim_buf *buf, unsigned number, const char *text);

#endif
