/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: checks names of labels and annotations, and values of labels, with apimachinery's rules and
 * messages.
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
 * Returns  0, or -EINVAL with the status (422) of the first invalid one
 */
int sim_names_check(const struct api_resource *resource, const struct api_node *meta, const char *name,
		    struct api_status *status);

#endif
