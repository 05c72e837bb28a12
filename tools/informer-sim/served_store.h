/* SPDX-License-Identifier: Apache-2.0 */
/* The object store as lists and watches see one (tools/serving/api_store.h). */
#ifndef TOOLS_INFORMER_SIM_SERVED_STORE_H
#define TOOLS_INFORMER_SIM_SERVED_STORE_H

#include "tools/informer-sim/object_store.h"

/* The store must outlive it. */
struct api_store
sim_store_served(struct sim_store *store);

#endif
