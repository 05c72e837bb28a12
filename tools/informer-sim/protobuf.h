/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf bodies, as far as kubectl sends them: `kubectl create namespace`, `create deployment` and their
 * like use typed clients, which write protobuf without falling back to JSON. A body is converted to JSON and
 * then treated like all others.
 *
 * It reads the kinds that `kubectl create` makes, with the fields that it can fill. Any other field that is
 * not empty is refused by name, so nothing is lost silently. Answers are JSON, which these clients accept.
 *
 * Source    k8s.io/api, generated.proto; k8s.io/apimachinery/pkg/runtime/serializer/protobuf (the envelope)
 */
#ifndef TOOLS_INFORMER_SIM_PROTOBUF_H
#define TOOLS_INFORMER_SIM_PROTOBUF_H

#include "tools/serving/buf.h"

/*
 * Append a body as JSON.
 *
 * ret_why  on failure, a sentence
 * Returns  0; -EPROTO not a valid message; -EOPNOTSUPP a kind or field that is not supported
 */
int
sim_protobuf_json(const char *data, size_t len, struct api_buf *json, char ret_why[200]);

#endif
