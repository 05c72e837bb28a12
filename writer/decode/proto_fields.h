/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of one protobuf message, found before one of them is looked into: JSON has them in another order
 * than that of their numbers, and has some that are absent.
 */
#ifndef WRITER_DECODE_PROTO_FIELDS_H
#define WRITER_DECODE_PROTO_FIELDS_H

#include <stdint.h>

#include "tools/schema/proto_schema.h"
#include "writer/base/proto_wire.h"

/* A field that was found: its number, or its bytes; a repeated one's from its first tag to its last entry. */
struct proto_found {
	const uint8_t *at; /* NULL: it is absent, and stands in JSON all the same */
	uint64_t value;    /* the number, or how many bytes */
};

static inline struct proto_span
proto_found_bytes(const struct proto_found *f)
{
	return (struct proto_span){f->at, f->at + f->value};
}

/* Where a failure is, and the number of a field that is not known. */
struct proto_fields_end {
	const uint8_t *at;
	uint64_t number;
};

/*
 * ret_fields  a bit for each field of m that stands in JSON
 * found       of these; the others are not touched
 * ret_end     set on failure
 * Returns     0; -EBADMSG malformed, or a field twice that is not repeated; -EPROTO a field is not known
 */
int proto_fields_find(const struct proto_message *m, struct proto_span in,
		      struct proto_found found[static PROTO_FIELDS_MAX], uint64_t *ret_fields,
		      struct proto_fields_end *ret_end);

#endif
