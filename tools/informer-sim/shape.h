/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which shape objects are answered: as they are, their metadata alone, or rows of a Table; and in which
 * syntax: JSON or protobuf. The client says so in Accept: application/json;as=Table;v=v1;g=meta.k8s.io
 */
#ifndef TOOLS_INFORMER_SIM_SHAPE_H
#define TOOLS_INFORMER_SIM_SHAPE_H

#include "tools/informer-sim/stored_object.h"

enum sim_shape_kind { SIM_PLAIN, SIM_PARTIAL, SIM_PARTIAL_LIST, SIM_TABLE };

/* What a Table's rows carry beside their cells: ?includeObject= */
enum sim_row_object { SIM_ROW_METADATA, SIM_ROW_NONE, SIM_ROW_OBJECT };

struct sim_shape {
	enum sim_shape_kind kind;
	const char *version; /* of meta.k8s.io: "v1" or "v1beta1"; a literal */
	enum sim_row_object rows;
	bool protobuf; /* else JSON */
	bool bare;     /* without metadata.managedFields: drop=metadata.managedFields, KEP-5958 */
};

/* What there is to choose from. */
struct sim_offer {
	bool protobuf; /* the server has it at all: for metadata, and for what goes wrong */
	bool typed;    /* it has it for the kind that is asked for */
	bool as_json;  /* whatever is asked for comes in JSON */
	bool drop;     /* metadata.managedFields can be left out */
};

/*
 * The first of Accept's media types that is served, in the order of the client.
 *
 * accept   may be NULL
 * Returns  0; -ENOTSUP: none is
 */
int
sim_shape_parse(const char *accept, const struct sim_offer *offer, struct sim_shape *ret_shape);

/*
 * Append `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`, which metadata and }
 * follow.
 */
void
sim_shape_partial_head(const struct sim_shape *shape, struct sim_buf *buf);
/* Append an object in its shape; a Table is a whole one with one row. rv 0: the object's own. */
void sim_shape_print(const struct sim_shape *shape, const struct sim_resource *resource,
		     const struct sim_object *object, uint64_t rv, struct sim_buf *buf);

/*
 * A Table in parts: everything up to the rows' opening bracket (meta: the inside of metadata; columns: with
 * their definitions, or null), then rows with commas between, then "]}".
 */
void sim_key_chunks_head(const struct sim_shape *shape, const struct sim_resource *resource, const char *meta,
			 bool columns, struct sim_buf *buf);
void sim_key_chunks_row(const struct sim_shape *shape, const struct sim_resource *resource,
			const struct sim_object *object, uint64_t rv, struct sim_buf *buf);

#endif
