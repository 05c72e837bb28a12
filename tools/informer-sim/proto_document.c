/* SPDX-License-Identifier: Apache-2.0 */
/* Envelopes, and what goes in them; see proto_document.h. */
#include "tools/informer-sim/proto_document.h"

#include <errno.h>
#include <string.h>

#include "tools/informer-sim/proto_encode.h"
#include "tools/informer-sim/typed.h"

const struct proto_message *
sim_proto_type(const char *api_version, const char *kind)
{
	return proto_schema_kind(proto_schema_builtin(), api_version, strlen(api_version), kind,
				 strlen(kind));
}

void
sim_proto_envelope(struct sim_buf *buf, const char *api_version, const char *kind, uint64_t length)
{
	_cleanup_(sim_buf_done) struct sim_buf type = {0};

	sim_proto_text(&type, 1, api_version);
	sim_proto_text(&type, 2, kind);
	sim_buf_put(buf, "k8s", 4); /* with its NUL */
	sim_proto_bytes(buf, 1, type.data, type.len);
	sim_proto_begin(buf, 2, length);
}

int
sim_proto_json(const char *api_version, const char *kind, const char *json, size_t len, struct sim_buf *buf)
{
	const struct proto_message *message = sim_proto_type(api_version, kind);
	_cleanup_(sim_doc_done) struct sim_doc doc = {0};
	struct sim_doc_error error;
	char why[SIM_TYPED_WHY];

	if (!message || sim_doc_parse(&doc, json, len, NULL, &error) < 0 || doc.root->type != SIM_OBJECT ||
	    sim_typed_fit(&doc, doc.root, proto_schema_builtin(), message, why) < 0)
		return -EINVAL;
	sim_proto_message(proto_schema_builtin(), message, doc.root, buf);
	return 0;
}

int
sim_proto_document(const char *api_version, const char *kind, const char *json, size_t len,
		   struct sim_buf *buf)
{
	_cleanup_(sim_buf_done) struct sim_buf message = {0};
	int r;

	sim_buf_put(&message, "", 0);
	r = sim_proto_json(api_version, kind, json, len, &message);
	if (r < 0)
		return r;
	sim_proto_envelope(buf, api_version, kind, message.len);
	sim_buf_put(buf, message.data, message.len);
	sim_buf_put(buf, SIM_PROTO_TRAILER, SIM_PROTO_TRAILER_LENGTH);
	return 0;
}
