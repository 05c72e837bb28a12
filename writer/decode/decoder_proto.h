/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an item in protobuf: passes its message, field by field, to the builder (body_build.h). The body
 * equals the one of the server's JSON.
 *
 * No message has code of its own: the schema (tools/schema) describes each. First a message's fields are
 * found, which touches only tags and lengths. Then they are built, in the order of JSON. A field that the
 * schema does not know ends the item; it is never dropped.
 */
#ifndef WRITER_DECODE_DECODER_PROTO_H
#define WRITER_DECODE_DECODER_PROTO_H

#include "writer/decode/decoder.h"
#include "tools/schema/proto_schema.h"
#include "writer/base/proto_wire.h"

/*
 * Build the open item. All of its bytes are in d->buffer.
 *
 * kind     of an object that stands alone: the body begins with kind and apiVersion, as in JSON; empty: it
 *          does not
 * Returns  0; -EBADMSG: malformed, -EPROTO: not known (decoder_error() says what and where); -E2BIG: it
 *          cannot be represented; -ENOSPC, -ENOMEM. After a failure the caller clears the builder
 */
int decoder_proto_item(struct decoder *d, const struct proto_message *m, struct proto_span bytes,
		       struct proto_span api_version, struct proto_span kind);

#endif
