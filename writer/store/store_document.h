/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores JSON documents that are no objects: descriptors, and the Reflectors' status. Equal documents share
 * one block.
 */
#ifndef WRITER_STORE_STORE_DOCUMENT_H
#define WRITER_STORE_STORE_DOCUMENT_H

#include <stdint.h>

struct store;

/* Make a BLOCK_VALUE of a JSON document, with one reference for the caller. 0, -EINVAL, -ENOSPC, -ENOMEM. */
int store_make_document(struct store *s, const char *json, uint32_t *ret_ref);

#endif
