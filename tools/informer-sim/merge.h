/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patches of documents: JSON merge patch, Kubernetes' strategic merge patch, JSON patch. All change `target`
 * in place where they can and return what stands in its place. Texts are borrowed from the patch.
 */
#ifndef TOOLS_INFORMER_SIM_MERGE_H
#define TOOLS_INFORMER_SIM_MERGE_H

#include "tools/serving/doc.h"

/* JSON merge patch (RFC 7386): returns the patched target, which may be a new node. `target` may be NULL. */
struct api_node *
sim_merge(struct api_doc *doc, struct api_node *target, const struct api_node *patch);

/*
 * Strategic merge patch: as a merge patch, but lists that have a merge key (containers by name) are merged by
 * it; with the directives $patch, $retainKeys, $setElementOrder and $deleteFromPrimitiveList.
 *
 * Returns  0, or -EINVAL with a sentence in *ret_error (free it): a directive that is none
 */
int sim_merge_strategic(struct api_doc *doc, struct api_node *target, const struct api_node *patch,
			char **ret_error);

/*
 * JSON patch (RFC 6902): a list of operations, done to doc->root in order.
 *
 * Returns  0, or -EINVAL with a sentence in *ret_error (free it); the document is then half patched
 */
int
sim_patch_json(struct api_doc *doc, const struct api_node *patch, char **ret_error);

#endif
