/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor defines a resource in the arena, as a JSON document beside its content, for readers and for
 * adoption:
 *
 *	{
 *	  "group": "", "version": "v1", "resource": "pods",
 *	  "kind": "Pod", "singular": "pod", "shortNames": ["po"],
 *	  "namespaced": true,
 *	  "namespace": "", "labelSelector": "", "fieldSelector": "",   which part of it is cached; "" is all
 *	  "metadataOnly": false,                                       only metadata
 *	  "onDemand": false,                                           not requested before a reader asks for
 *it "drops": ["metadata.managedFields"],                         paths whose values are not stored "indexes":
 *[
 *	    {"name": "namespace", "rules": [{"as": "namespace"}]},
 *	    {"name": "containerID", "prefix": 12, "rules": [...]},                 only if values are cut
 *	    {"name": "byUser",
 *	     "rules": [{"path": "metadata.annotations.users", "as": "split", "separator": ","}]}
 *	  ]
 *	}
 *
 * Index i of the document is index i of the resource block (shm-layout/root.h). All fields are always
 * present. Stored bodies have neither "apiVersion" nor "kind", which a WATCH sends and a LIST does not: the
 * descriptor has them.
 */
#ifndef WRITER_RESOURCE_DESCRIPTOR_H
#define WRITER_RESOURCE_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "shm-layout/value.h"
#include "writer/config/config.h"

struct descriptor_source {
	const struct kube_resource *resource;
	const char *namespace_, *label_selector, *field_selector; /* NULL is "" */
	bool metadata_only, on_demand;
	const char *const *drops;
	size_t drop_count;
	const struct config_index *const *indexes; /* configured for this resource, in their order */
	size_t index_count;
};

/*
 * ret_json   allocated text, without white space
 * Returns    0, -EINVAL with message (an index's name is taken, too many paths, an invalid separator),
 *            -ENOMEM
 */
int descriptor_build(const struct descriptor_source *source, char **ret_json, char **ret_error);

/*
 * True if the descriptor fits the entry by name and namespace. Such a resource is adopted and serves readers
 * before the API server says what the name means. A resource that fits no entry is not adopted.
 */
bool descriptor_serves(struct value descriptor, const struct config_resource *entry);

#endif
