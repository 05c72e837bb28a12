/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents as the API server's Go types have them. A kind of the schema (tools/schema) is read into its
 * type, stored in protobuf and printed from there, and that changes a document:
 *
 *	members that the type lacks are gone, the others stand in the type's order
 *	a null is as if nothing were there; an empty list, map or text too, where it is omitted
 *	what the type prints always is there: "status":{}, "containers":null, "name":""
 *	maps are in order of their keys, times in UTC
 *
 * So an object is the same in JSON and in protobuf. Kinds that the schema lacks (custom resources) stay as
 * they are. Texts keep their spelling, quantities are not made canonical.
 *
 * Source   encoding/json; k8s.io/apimachinery/pkg/apis/meta/v1 (Time, MicroTime), pkg/util/intstr
 */
#ifndef TOOLS_INFORMER_SIM_TYPED_H
#define TOOLS_INFORMER_SIM_TYPED_H

#include "tools/serving/doc.h"
#include "tools/schema/proto_schema.h"

#define SIM_TYPED_WHY 120

/*
 * Make an object's members those of its type. kind and apiVersion, which no message has, stay where they are.
 *
 * ret_why  on failure, a sentence in the words of Go's decoder
 * Returns  0; -EINVAL  a member is of another type
 */
int sim_typed_fit(struct api_doc *doc, struct api_node *object, const struct proto_schema *schema,
		  const struct proto_message *message, char ret_why[SIM_TYPED_WHY]);

#endif
