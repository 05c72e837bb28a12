/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's objects of one resource as a DeltaFIFO asks for them (struct known_objects), for
 * cached_resource.c.
 */
#ifndef WRITER_RESOURCE_STORE_KNOWN_H
#define WRITER_RESOURCE_STORE_KNOWN_H

#include "writer/fifo/delta_fifo.h"
#include "writer/store/store.h"

struct store_known {
	struct store *store;
	unsigned resource;
};

/* known is borrowed by what is returned. */
struct known_objects store_known_objects(struct store_known *known);

#endif
