/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a resource's definition from its descriptor (LAYOUT.md, DESCRIPTOR), when a resource is added,
 * adopted or redefined.
 */
#ifndef WRITER_STORE_STORE_DEFINITION_H
#define WRITER_STORE_STORE_DEFINITION_H

#include "shm-layout/value.h"

struct store;
struct store_resource;

/*
 * Read index definitions and names from res->now.descriptor. ret_why: what is wrong with it. 0, -EINVAL,
 * -ENOMEM, -EBADMSG.
 */
int store_read_descriptor(struct store *s, struct store_resource *res, const char **ret_why);

/* Free the resource's private memory; its blocks in the arena stay. NULL is fine. */
void store_resource_free(struct store_resource *res);

#endif
