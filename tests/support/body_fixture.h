/* SPDX-License-Identifier: Apache-2.0 */
/* Values made of JSON texts: a private arena, an intern table, a decoder, and a printer. */
#ifndef TESTS_SUPPORT_BODY_FIXTURE_H
#define TESTS_SUPPORT_BODY_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/value.h"
#include "tests/support/arena_fixture.h"
#include "writer/decode/decoder.h"
#include "writer/base/growing.h"
#include "writer/arena/intern.h"

struct body_fixture {
	struct arena *arena;
	struct intern *intern;
	struct decoder_schema *schema;
	struct decoder *document;	/* DECODE_DOCUMENT over the schema */
	struct bytes printed;		/* of body_fixture_print(), NUL-terminated */
	uint32_t ref;			/* of the last draft; 0: none */
	char error[256];		/* of the last body_fixture_decode() that failed */
	uint64_t offset;
};

/* drops may be NULL. Aborts without memory. */
struct body_fixture *body_fixture_new(const char *const *drops, size_t drop_count);
void body_fixture_free(struct body_fixture *fx);	/* discards the last draft */

/* For cmocka: *state is a fixture without drops. */
int body_fixture_set_up(void **state);
int body_fixture_tear_down(void **state);

/* Decode one document, in pieces of chunk bytes (0: whole); discards the last draft. The decoder's result. */
int body_fixture_decode(struct body_fixture *fx, const char *text, size_t length, size_t chunk);

/* The value of a text, which must be good: fails the test otherwise. Valid until the next decode. */
struct value body_fixture_value(struct body_fixture *fx, const char *text);

/* The text of a value; fails the test when it cannot be printed. */
const char *body_fixture_print(struct body_fixture *fx, struct value v);

/* The same for the object of any draft. */
const char *body_fixture_print_ref(struct body_fixture *fx, uint32_t ref);

/* A block of the intern table that has only this number; the caller owns the reference. */
uint32_t body_fixture_block(struct body_fixture *fx, uint16_t n);

/* Append formatted text to `to`, and a NUL that does not count. */
__attribute__((format(printf, 2, 3))) void bytes_say(struct bytes *to, const char *format, ...);

/*
 * Free all that the decoder remembers: once all drafts are gone, the arena must be empty. Nothing can be
 * decoded afterwards.
 */
void assert_nothing_left(struct body_fixture *fx);

#endif
