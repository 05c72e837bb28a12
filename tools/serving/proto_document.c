/* SPDX-License-Identifier: Apache-2.0 */
/* Makes envelopes and messages; see proto_document.h. */
#include "tools/serving/proto_document.h"

#include <errno.h>
#include <string.h>

#include "tools/serving/proto_encode.h"

const struct proto_message *
api_proto_type(const char *api_version, const char *kind)
{
	return proto_schema_kind(proto_schema_builtin(), api_version, strlen(api_version), kind,
				 strlen(kind));
}

void
api_proto_envelope(struct api_buf *buf, const char *api_version, const char *kind, uint64_t length)
{
	_cleanup_(api_buf_done) struct api_buf type = {0};

	api_proto_text(&type, 1, api_version);
	api_proto_text(&type, 2, kind);
	api_buf_put(buf, "k8s", 4); /* with its NUL */
	api_proto_bytes(buf, 1, type.data, type.len);
	api_proto_begin(buf, 2, length);
}

void
api_proto_wrap(struct api_buf *buf, const char *api_version, const char *kind, const struct api_buf *message)
{
	api_proto_envelope(buf, api_version, kind, message->len);
	api_buf_put(buf, message->data, message->len);
	api_buf_put(buf, API_PROTO_TRAILER, API_PROTO_TRAILER_LENGTH);
}

int
api_proto_json(const char *api_version, const char *kind, const char *json, size_t len, struct api_buf *buf)
{
	const struct proto_message *message = api_proto_type(api_version, kind);
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	struct api_doc_error error;

	if (!message || api_doc_parse(&doc, json, len, NULL, &error) < 0 || doc.root->type != API_OBJECT)
		return -EINVAL;
	api_proto_message(message, doc.root, buf);
	return 0;
}

int
api_proto_document(const char *api_version, const char *kind, const char *json, size_t len,
		   struct api_buf *buf)
{
	_cleanup_(api_buf_done) struct api_buf message = {0};
	int r;

	r = api_proto_json(api_version, kind, json, len, &message);
	if (r < 0)
		return r;
	api_proto_wrap(buf, api_version, kind, &message);
	return 0;
}
