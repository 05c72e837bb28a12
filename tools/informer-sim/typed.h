/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed: fits documents to their Go types as the API server does. The server reads a kind of the schema
 * (tools/schema) into its type, stores it in protobuf and prints it from there, which changes the document:
 *
 *	unknown members are removed; the others are in the type's order
 *	a null counts as absent; so does an empty list, map or text that the type omits
 *	members that the type always prints are added: "status":{}, "containers":null, "name":""
 *	maps are in order of their keys, times in UTC
 *
 * So an object is the same in JSON and in protobuf. Kinds that are not in the schema (custom resources) stay
 * unchanged. Texts keep their spelling; quantities are not made canonical.
 *
 * Source   encoding/json; k8s.io/apimachinery/pkg/apis/meta/v1 (Time, MicroTime), pkg/util/intstr
 */
#ifndef TOOLS_INFORMER_SIM_TYPED_H
#define TOOLS_INFORMER_SIM_TYPED_H

#include "tools/serving/doc.h"
#include "tools/schema/proto_schema.h"

#define SIM_TYPED_WHY 120

/*
 * Fit an object's members to its type. kind and apiVersion, which no message has, stay in place.
 *
 * ret_why  on failure, a sentence in the words of Go's decoder
 * Returns  0; -EINVAL  a member has a wrong type
 */
int sim_typed_fit(struct api_doc *doc, struct api_node *object, const struct proto_schema *schema,
		  const struct proto_message *message, char ret_why[SIM_TYPED_WHY]);

#endif
