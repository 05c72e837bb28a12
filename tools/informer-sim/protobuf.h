/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf bodies, as far as kubectl sends them: `kubectl create namespace`, `create deployment` and their
 * like come from typed clients, which write protobuf and do not fall back to JSON. A body becomes the JSON
 * that it stands for, and goes the way of all others.
 *
 * What is read are the kinds that `kubectl create` makes, with the fields that it can fill; anything else
 * that is not empty is refused by name: nothing is lost silently. Answers are JSON, which the same clients
 * take.
 *
 * Source    k8s.io/api, generated.proto; k8s.io/apimachinery/pkg/runtime/serializer/protobuf (the envelope)
 */
#ifndef TOOLS_INFORMER_SIM_PROTOBUF_H
#define TOOLS_INFORMER_SIM_PROTOBUF_H

#include "tools/serving/buf.h"

/*
 * Append the JSON of a body.
 *
 * ret_why  set on failure: a sentence
 * Returns  0; -EPROTO it is no such message; -EOPNOTSUPP a kind or field that is not read here
 */
int
sim_protobuf_json(const char *data, size_t len, struct api_buf *json, char ret_why[200]);

#endif
