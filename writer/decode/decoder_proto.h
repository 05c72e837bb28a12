/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder's way through an item in protobuf: its message, field by field, to the builder (body_build.h),
 * so that the body is the one that the server's JSON would have brought.
 *
 * There is no code for any message: the schema (tools/schema) says what each is. Of a message its fields are
 * found first, which touches tags and lengths alone; then they are built, in the order of JSON. What the
 * schema does not know ends it: a field is never dropped because nobody knows it.
 */
#ifndef WRITER_DECODE_DECODER_PROTO_H
#define WRITER_DECODE_DECODER_PROTO_H

#include "writer/decode/decoder.h"
#include "tools/schema/proto_schema.h"
#include "writer/base/proto_wire.h"

/*
 * Build an item that is open. The bytes stand in d->buffer as a whole.
 *
 * kind     as in JSON, where the object stands alone: it begins with kind and apiVersion; empty: it does not
 * Returns  0; -EBADMSG malformed, -EPROTO not known (decoder_error() says what and where); -E2BIG it cannot
 *          be represented; -ENOSPC, -ENOMEM. After a failure the builder is to be cleared.
 */
int decoder_proto_item(struct decoder *d, const struct proto_message *m, struct proto_span bytes,
		       struct proto_span api_version, struct proto_span kind);

#endif
