/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merge: applies patches: JSON merge patch, Kubernetes' strategic merge patch, JSON patch. Texts are borrowed
 * from the patch.
 */
#ifndef TOOLS_INFORMER_SIM_MERGE_H
#define TOOLS_INFORMER_SIM_MERGE_H

#include "tools/serving/doc.h"

/* JSON merge patch (RFC 7386): returns the patched target, which may be a new node. `target` may be NULL. */
struct api_node *
sim_merge(struct api_doc *doc, struct api_node *target, const struct api_node *patch);

/*
 * Strategic merge patch, on `target` in place: as a merge patch, but lists with a merge key (containers by
 * name) are merged by it. Directives: $patch, $retainKeys, $setElementOrder, $deleteFromPrimitiveList.
 *
 * Returns  0, or -EINVAL with a sentence in *ret_error (free it): an unknown directive
 */
int sim_merge_strategic(struct api_doc *doc, struct api_node *target, const struct api_node *patch,
			char **ret_error);

/*
 * JSON patch (RFC 6902): applies a list of operations to doc->root in order.
 *
 * Returns  0, or -EINVAL with a sentence in *ret_error (free it); the document is then partly patched
 */
int
sim_patch_json(struct api_doc *doc, const struct api_node *patch, char **ret_error);

#endif
