/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wire: in which syntax one resource is asked for, protobuf or JSON, and what makes that change.
 *
 * Protobuf is asked for where the schema has the kind, and knows what this server's release prints of it; the
 * answer's Content-Type decides how it is read.
 * What gives protobuf up for this resource, so that the same request goes on in JSON, from the same RV, and
 * nothing is lost:
 *
 *	a field or a kind that the schema does not know		(a newer server)
 *	406, though JSON was offered as well			(an aggregated server that chooses protobuf
 *								and cannot write it)
 *	an answer that cannot be read, twice in a row		(what the schema says is not what is sent)
 *
 * It is asked for again when the server is another version, after WIRE_AGAIN_MS (its version may be hidden),
 * and with the next life of informerd.
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
	const struct proto_message *kind;  /* what the schema has of it, or NULL */
	enum wire_choice choice;
	uint64_t json_until_ms;		   /* protobuf was given up until then; 0: it was not */
	enum wire_syntax syntax;	   /* of the last answer */
	unsigned unreadable;		   /* answers in protobuf, one after the other */
	bool warned;			   /* that it cannot be had, which was asked for alone */
	uint64_t fallbacks;
	char why[256];			   /* of the last one; "": there was none */
};

/*
 * api_version, kind  of the resource; NULL: not known, and so JSON
 * metadata_only      objects come as PartialObjectMetadata, whatever they are
 */
void wire_init(struct wire *w, struct clock *clock, enum wire_choice choice,
	       const struct proto_schema *schema, const char *api_version, const char *kind,
	       bool metadata_only);

/* The server is of another release: what was given up is asked for again, from the next request on. */
void wire_ask_again(struct wire *w);

/* Whether the next request is for protobuf, with JSON as the second choice. */
bool wire_wants_protobuf(const struct wire *w);

/*
 * The same, unless the last answer was in JSON: where a WatchList costs the server less than a LIST.
 */
bool wire_comes_in_protobuf(const struct wire *w);

/* An answer of success begins: the decoder, which was reset, reads what it is. name: for messages. */
void wire_begin(struct wire *w, const char *name, const char *content_type, struct decoder *decoder);

/*
 * An answer with this HTTP status ended with this result of transport.h or of the decoder: is the same to be
 * asked for again, in JSON? Logged, and counted.
 */
bool wire_falls_back(struct wire *w, const char *name, int status, int result, const struct decoder *decoder);

/* "protobuf", "json", or "" before the first answer. */
const char *wire_syntax_name(const struct wire *w);

#endif
