/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf documents: k8s\0, then an envelope with the type and the bytes of a message.
 *
 * Source    k8s.io/apimachinery/pkg/runtime/serializer/protobuf
 */
#ifndef TOOLS_SERVING_PROTO_DOCUMENT_H
#define TOOLS_SERVING_PROTO_DOCUMENT_H

#include "tools/serving/buf.h"
#include "tools/schema/proto_schema.h"

/* The message of a kind, or NULL. */
const struct proto_message *api_proto_type(const char *api_version, const char *kind);

/*
 * Append what precedes a message of `length` bytes. API_PROTO_TRAILER follows the message: empty
 * contentEncoding and contentType.
 */
void api_proto_envelope(struct api_buf *buf, const char *api_version, const char *kind, uint64_t length);
#define API_PROTO_TRAILER "\x1a\0\"\0"
#define API_PROTO_TRAILER_LENGTH 4u

/* Append a document with this message. */
void api_proto_wrap(struct api_buf *buf, const char *api_version, const char *kind,
		    const struct api_buf *message);

/*
 * Append a JSON text as a message.
 *
 * Returns  0; -EINVAL  the kind has no message, or the text does not fit it
 */
int api_proto_json(const char *api_version, const char *kind, const char *json, size_t len,
		   struct api_buf *buf);
/* The same as a document. */
int api_proto_document(const char *api_version, const char *kind, const char *json, size_t len,
		       struct api_buf *buf);

#endif
