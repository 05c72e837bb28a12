/* SPDX-License-Identifier: Apache-2.0 */
/* The object store behind the interface for lists and watches (tools/serving/api_store.h). */
#ifndef TOOLS_INFORMER_SIM_SERVED_STORE_H
#define TOOLS_INFORMER_SIM_SERVED_STORE_H

#include "tools/informer-sim/object_store.h"

/* The store must outlive the result. */
struct api_store
sim_store_served(struct sim_store *store);

#endif
