/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents in protobuf: k8s\0, and a message of their type and their bytes.
 *
 * Source    k8s.io/apimachinery/pkg/runtime/serializer/protobuf
 */
#ifndef TOOLS_SERVING_PROTO_DOCUMENT_H
#define TOOLS_SERVING_PROTO_DOCUMENT_H

#include "tools/serving/buf.h"
#include "tools/schema/proto_schema.h"

/* The type of a kind, or NULL. */
const struct proto_message *api_proto_type(const char *api_version, const char *kind);

/* What stands before so many bytes, and what stands behind them: no encoding, no type of content. */
void api_proto_envelope(struct api_buf *buf, const char *api_version, const char *kind, uint64_t length);
#define API_PROTO_TRAILER "\x1a\0\"\0"
#define API_PROTO_TRAILER_LENGTH 4u

/* Append a document of a message. */
void api_proto_wrap(struct api_buf *buf, const char *api_version, const char *kind,
		    const struct api_buf *message);

/*
 * Append the message that a JSON text is.
 *
 * Returns  0; -EINVAL  the kind has no type, or the text does not fit it
 */
int api_proto_json(const char *api_version, const char *kind, const char *json, size_t len,
		   struct api_buf *buf);
/* The same as a document. */
int api_proto_document(const char *api_version, const char *kind, const char *json, size_t len,
		       struct api_buf *buf);

#endif
