/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decoder that is fed a list or a watch in pieces, and writes down what it reports:
 *
 *	ADDED[NAMESPACE/NAME]JSON	an object, of an event or, without its type, of a list
 *	BOOKMARK:JSON ERROR:JSON	other events
 *	BAD:WHY FOREIGN:WHY		what is left out, and what tells of none of the objects
 *	END:VERSION,TOKEN,REMAINING	the end of a list
 *
 * each in a line.
 */
#ifndef TESTS_SUPPORT_STREAM_FIXTURE_H
#define TESTS_SUPPORT_STREAM_FIXTURE_H

#include "tests/support/body_fixture.h"
#include "tools/schema/proto_schema.h"

#define STREAM_KEPT 4u

struct stream {
	struct body_fixture *fx;
	struct proto_schema *proto; /* NULL: JSON */
	struct decoder *decoder;    /* while it runs */
	uint64_t max_bytes;         /* of an item; 0: any */
	const char *kind;           /* the expected kind of v1; NULL: any */
	bool forgets;               /* each run has its own schema, and must leave nothing in the arena */
	int answer;                 /* the result of on_object */
	unsigned keep, kept;        /* how many drafts are kept, so that repeated values are shared */
	uint32_t known;             /* the known object for any key; 0: none */
	struct draft drafts[STREAM_KEPT];
	struct bytes in;            /* input, for the test's use */
	/* of the last run */
	char log[8192];
	size_t used;
	unsigned objects, others, bad, ends;
	char why[400];   /* of the last bad object, or of the error */
	uint64_t offset; /* of the error */
	size_t memory;   /* most memory used for an incomplete item */
};

/* proto_schema NULL: JSON. An invalid schema fails the test. */
struct stream *stream_new(const char *const *drops, size_t drop_count, const char *proto_schema);
void stream_free(struct stream *s);
/* The same for cmocka: *state is the stream. */
int stream_tear_down(void **state);

/* Replace the schema. */
void stream_use_schema(struct stream *s, const char *proto_schema);
/* Discard the kept drafts; from now on none is kept. */
void stream_give_back(struct stream *s);

/* Decode data in pieces of `chunk` bytes (0: whole). Returns the decoder's result. */
int stream_run(struct stream *s, enum decoder_mode mode, const void *data, size_t length, size_t chunk);

/* Append a watch event in protobuf (proto_text.h), after its length. */
void stream_frame(struct bytes *to, const char *text);

#endif
