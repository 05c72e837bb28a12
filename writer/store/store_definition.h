/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resource as its descriptor defines it (LAYOUT.md, DESCRIPTOR), for whoever adds, adopts or redefines one.
 */
#ifndef WRITER_STORE_STORE_DEFINITION_H
#define WRITER_STORE_STORE_DEFINITION_H

#include "shm-layout/value.h"

struct store;
struct store_resource;

/*
 * Index definitions and names out of res->now.descriptor; ret_why: what is wrong with it. 0, -EINVAL,
 * -ENOMEM, -EBADMSG.
 */
int store_read_descriptor(struct store *s, struct store_resource *res, const char **ret_why);

/* The private memory; what it has in the arena stays. NULL is fine. */
void store_resource_free(struct store_resource *res);

#endif
