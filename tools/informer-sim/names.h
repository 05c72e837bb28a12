/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What labels and annotations may be called, and labels may say: the rules of apimachinery's validation, in
 * its words.
 */
#ifndef TOOLS_INFORMER_SIM_NAMES_H
#define TOOLS_INFORMER_SIM_NAMES_H

#include "tools/informer-sim/doc.h"
#include "tools/informer-sim/served_resource.h"
#include "tools/informer-sim/status_document.h"

/*
 * Check metadata.labels and metadata.annotations.
 *
 * name     the object's, for the status
 * Returns  0, or -EINVAL with the status of the first one that is wrong (422)
 */
int sim_names_check(const struct sim_resource *resource, const struct sim_node *meta, const char *name,
		    struct sim_status *status);

#endif
