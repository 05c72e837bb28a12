/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds all fields of a protobuf message before any is read. JSON has them in another order than their
 * numbers, and has some that are absent in protobuf.
 */
#ifndef WRITER_DECODE_PROTO_FIELDS_H
#define WRITER_DECODE_PROTO_FIELDS_H

#include <stdint.h>

#include "tools/schema/proto_schema.h"
#include "writer/base/proto_wire.h"

/*
 * A found field: its number, or its bytes. A repeated field is from its first tag to the end of its last
 * entry.
 */
struct proto_found {
	const uint8_t *at; /* NULL: it is absent, but stands in JSON */
	uint64_t value;    /* the number, or the count of bytes */
};

static inline struct proto_span
proto_found_bytes(const struct proto_found *f)
{
	return (struct proto_span){f->at, f->at + f->value};
}

/* The position of a failure, and the number of an unknown field. */
struct proto_fields_end {
	const uint8_t *at;
	uint64_t number;
};

/*
 * ret_fields  a bit for each field of m that stands in JSON
 * found       set for these fields; the others are not touched
 * ret_end     set on failure
 * Returns     0; -EBADMSG: malformed, or a field that is not repeated occurs twice; -EPROTO: a field is
 *             unknown
 */
int proto_fields_find(const struct proto_message *m, struct proto_span in,
		      struct proto_found found[static PROTO_FIELDS_MAX], uint64_t *ret_fields,
		      struct proto_fields_end *ret_end);

#endif
