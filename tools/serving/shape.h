/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which shape objects are answered: as they are, their metadata alone, or rows of a Table; and in which
 * syntax: JSON or protobuf. The client says so in Accept: application/json;as=Table;v=v1;g=meta.k8s.io
 */
#ifndef TOOLS_SERVING_SHAPE_H
#define TOOLS_SERVING_SHAPE_H

#include "tools/serving/stored_object.h"

#define API_PROTOBUF_TYPE "application/vnd.kubernetes.protobuf"

enum api_shape_kind { API_PLAIN, API_PARTIAL, API_PARTIAL_LIST, API_TABLE };

/* What a Table's rows carry beside their cells: ?includeObject= */
enum api_row_object { API_ROW_METADATA, API_ROW_NONE, API_ROW_OBJECT };

struct api_shape {
	enum api_shape_kind kind;
	const char *version; /* of meta.k8s.io: "v1" or "v1beta1"; a literal */
	enum api_row_object rows;
	bool protobuf; /* else JSON */
	bool bare;     /* without metadata.managedFields: drop=metadata.managedFields, KEP-5958 */
};

/* What there is to choose from. */
struct api_offer {
	bool protobuf; /* the server has it at all: for metadata, and for what goes wrong */
	bool typed;    /* it has it for the kind that is asked for */
	bool drop;     /* metadata.managedFields can be left out */
};

/*
 * The first of Accept's media types that is served, in the order of the client.
 *
 * accept   may be NULL
 * Returns  0; -ENOTSUP: none is
 */
int api_shape_parse(const char *accept, const struct api_offer *offer, struct api_shape *ret_shape);

/* A reference to the object, or to one without what the shape leaves out. */
struct api_object *api_shape_object(const struct api_shape *shape, struct api_object *object);

/*
 * Append `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`, which metadata and }
 * follow.
 */
void api_shape_partial_head(const struct api_shape *shape, struct api_buf *buf);
/*
 * Append an object in its shape; a Table is a whole one with one row.
 *
 * rv       that it shows; 0: its own
 * columns  of a Table: with their definitions, else null
 */
void api_shape_print(const struct api_shape *shape, const struct api_resource *resource,
		     const struct api_object *object, uint64_t rv, bool columns, struct api_buf *buf);

/* Append a Table with one row, or with none where object is NULL. */
void api_table(const struct api_shape *shape, const struct api_resource *resource,
	       const struct api_object *object, uint64_t rv, bool columns, struct api_buf *buf);
/*
 * A Table in parts: everything up to the rows' opening bracket (meta: the inside of metadata), then rows with
 * commas between, then "]}".
 */
void api_table_head(const struct api_shape *shape, const struct api_resource *resource, const char *meta,
		    bool columns, struct api_buf *buf);
void api_table_row(const struct api_shape *shape, const struct api_resource *resource,
		   const struct api_object *object, uint64_t rv, struct api_buf *buf);

#endif
