/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What labels and annotations may be called, and labels may say: the rules of apimachinery's validation, in
 * its words.
 */
#ifndef TOOLS_INFORMER_SIM_NAMES_H
#define TOOLS_INFORMER_SIM_NAMES_H

#include "tools/serving/doc.h"
#include "tools/serving/served_resource.h"
#include "tools/serving/status_document.h"

/*
 * Check metadata.labels and metadata.annotations.
 *
 * name     the object's, for the status
 * Returns  0, or -EINVAL with the status of the first one that is wrong (422)
 */
int sim_names_check(const struct api_resource *resource, const struct api_node *meta, const char *name,
		    struct api_status *status);

#endif
