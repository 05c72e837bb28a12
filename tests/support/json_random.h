/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random JSON documents in two forms: as a client might send it (white space, escapes, spellings of numbers,
 * duplicate keys), and as the decoder's value is printed. Equal seeds give equal documents.
 */
#ifndef TESTS_SUPPORT_JSON_RANDOM_H
#define TESTS_SUPPORT_JSON_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/base/growing.h"

struct json_random {
	uint64_t seed;
	bool plain;		/* no white space, no needless escapes */
	unsigned duplicates;	/* of the last document */
	struct bytes sent;
	struct bytes expected;
};

uint32_t json_random_below(struct json_random *r, uint32_t n);
void json_random_document(struct json_random *r);
void json_random_done(struct json_random *r);

#endif
