/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape: the form of the objects in an answer: plain, metadata only, or rows of a Table; and the syntax: JSON
 * or protobuf. The client chooses by Accept: application/json;as=Table;v=v1;g=meta.k8s.io
 */
#ifndef TOOLS_SERVING_SHAPE_H
#define TOOLS_SERVING_SHAPE_H

#include "tools/serving/stored_object.h"

#define API_PROTOBUF_TYPE "application/vnd.kubernetes.protobuf"

enum api_shape_kind { API_PLAIN, API_PARTIAL, API_PARTIAL_LIST, API_TABLE };

/* The object in a Table's row, beside its cells: ?includeObject= */
enum api_row_object { API_ROW_METADATA, API_ROW_NONE, API_ROW_OBJECT };

struct api_shape {
	enum api_shape_kind kind;
	const char *version; /* of meta.k8s.io: "v1" or "v1beta1"; a literal */
	enum api_row_object rows;
	bool protobuf; /* else JSON */
	bool bare;     /* without metadata.managedFields: drop=metadata.managedFields, KEP-5958 */
	bool unversioned; /* a list without an RV, as the kubelet's; set by the server */
};

/* The shapes a server offers. */
struct api_offer {
	bool protobuf; /* the server has protobuf: for metadata and failures */
	bool typed;    /* it has protobuf for the requested kind */
	bool drop;     /* metadata.managedFields can be left out */
};

/*
 * Choose the first of Accept's media types that is offered, in the client's order.
 *
 * accept   may be NULL
 * Returns  0; -ENOTSUP: none is offered
 */
int api_shape_parse(const char *accept, const struct api_offer *offer, struct api_shape *ret_shape);

/* Returns a reference to the object, or to a copy without the fields that the shape leaves out. */
struct api_object *api_shape_object(const struct api_shape *shape, struct api_object *object);

/*
 * Append `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`. The caller appends the
 * metadata and }.
 */
void api_shape_partial_head(const struct api_shape *shape, struct api_buf *buf);
/*
 * Append an object in a shape; a Table is complete, with one row.
 *
 * rv       the RV to show; 0: its own
 * columns  Table: with column definitions, else null
 */
void api_shape_print(const struct api_shape *shape, const struct api_resource *resource,
		     const struct api_object *object, uint64_t rv, bool columns, struct api_buf *buf);

/* Append a Table with one row; object NULL: with none. */
void api_table(const struct api_shape *shape, const struct api_resource *resource,
	       const struct api_object *object, uint64_t rv, bool columns, struct api_buf *buf);
/*
 * A Table in parts: the head, up to the rows' opening bracket (meta: the inside of metadata), then rows
 * separated by commas, then "]}".
 */
void api_table_head(const struct api_shape *shape, const struct api_resource *resource, const char *meta,
		    bool columns, struct api_buf *buf);
void api_table_row(const struct api_shape *shape, const struct api_resource *resource,
		   const struct api_object *object, uint64_t rv, struct api_buf *buf);

#endif
