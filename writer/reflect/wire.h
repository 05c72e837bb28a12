/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wire decides in which syntax one resource is requested, protobuf or JSON.
 *
 * Protobuf is requested if the schema has the kind and knows what this server's release prints of it. The
 * answer's Content-Type decides how it is read. Protobuf is given up for this resource in three cases. The
 * same request then continues in JSON from the same RV, and nothing is lost:
 *
 *	a field or a kind that the schema does not know		(a newer server)
 *	406, though JSON was offered as well			(an aggregated server that chooses protobuf
 *								and cannot write it)
 *	an answer that cannot be read, twice in a row		(the server sends other data than the schema
 *says)
 *
 * It is requested again after the server's version changes, after WIRE_AGAIN_MS (the version may be hidden),
 * and after a restart of informerd.
 *
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_REFLECT_WIRE_H
#define WRITER_REFLECT_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/schema/proto_schema.h"
#include "writer/base/clock.h"
#include "writer/config/list_choices.h"
#include "writer/decode/decoder.h"
#include "writer/kube/transport.h"

#define WIRE_AGAIN_MS 3600000u

enum wire_syntax { WIRE_IS_UNKNOWN, WIRE_IS_JSON, WIRE_IS_PROTOBUF };

struct wire {
	const struct proto_schema *schema; /* borrowed, as the clock; NULL: JSON alone */
	struct clock *clock;
	const struct proto_message *kind; /* the kind in the schema, or NULL */
	enum wire_choice choice;
	uint64_t json_until_ms;            /* protobuf is given up until then; 0: it is not */
	enum wire_syntax syntax;	   /* of the last answer */
	unsigned unreadable;               /* answers in protobuf, in a row */
	bool warned;                       /* logged that protobuf is configured and JSON comes */
	uint64_t fallbacks;
	char why[256]; /* reason of the last fallback, or "" */
};

/*
 * api_version, kind  of the resource; NULL: not known, so JSON
 * metadata_only      objects come as PartialObjectMetadata, whatever their kind
 */
void wire_init(struct wire *w, struct clock *clock, enum wire_choice choice,
	       const struct proto_schema *schema, const char *api_version, const char *kind,
	       bool metadata_only);

/* The server has another release: from the next request on, request protobuf again. */
void wire_ask_again(struct wire *w);

/* True if the next request asks for protobuf, with JSON as the second choice. */
bool wire_wants_protobuf(const struct wire *w);

/* The same, but false if the last answer was in JSON. Then a LIST costs the server less than a WatchList. */
bool wire_comes_in_protobuf(const struct wire *w);

/* A successful answer begins: set the decoder, which was reset, to its syntax. name: for messages */
void wire_begin(struct wire *w, const char *name, const char *content_type, struct decoder *decoder);

/*
 * An answer with this HTTP status ended with this result of transport.h or of the decoder. True if the same
 * request is to be repeated in JSON; this is logged and counted.
 */
bool wire_falls_back(struct wire *w, const char *name, int status, int result, const struct decoder *decoder);

/* "protobuf", "json", or "" before the first answer. */
const char *wire_syntax_name(const struct wire *w);

#endif
