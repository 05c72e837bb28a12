/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the store keeps of JSON texts that are no objects: descriptors, the Reflectors' status. Equal ones are
 * one block.
 */
#ifndef WRITER_STORE_STORE_DOCUMENT_H
#define WRITER_STORE_STORE_DOCUMENT_H

#include <stdint.h>

struct store;

/* A JSON document as a BLOCK_VALUE with one reference for the caller. 0, -EINVAL, -ENOSPC, -ENOMEM. */
int store_make_document(struct store *s, const char *json, uint32_t *ret_ref);

#endif
