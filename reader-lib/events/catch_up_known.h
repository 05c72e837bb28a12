/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a handler believes of each object while its feed is unsettled (feed.h): in an episode that began at
 * seq `from`, an object that was created later is not known to it, and one that was created before may be,
 * until the episode has told of it.
 *
 * Two bits an object, by part and ordinal: an ordinal is given to another object only after its deletion,
 * which is told in order.
 */
#ifndef READER_LIB_EVENTS_CATCH_UP_KNOWN_H
#define READER_LIB_EVENTS_CATCH_UP_KNOWN_H

#include "reader-lib/informer.h"
#include "shm-layout/header.h"

enum known_state {
	KNOWN_NONE,	/* the episode has not told of it */
	KNOWN_ABSENT,	/* it was looked at, and is not there, or not selected */
	KNOWN_PRESENT, /* it was told, in the state before the next that comes */
	KNOWN_BEHIND,	/* it was told, but changes in between were missed */
	KNOWN_MAYBE,	/* as a conclusion: it was there when the episode began, and may have been told */
	KNOWN_OTHER,	/* as a conclusion: another object of that name was told */
};

/* Zeroed is empty. */
struct catch_up_known {
	struct known_part {
		uint8_t *bits;
		uint32_t room;	/* ordinals */
	} parts[RESOURCE_MAX];
};

/* Changes may have been missed: PRESENT becomes BEHIND. */
void catch_up_known_fall_behind(struct catch_up_known *b);
void catch_up_known_clear(struct informer *inf, struct catch_up_known *b);
/* Make room for an ordinal, so that it can be set: 0 or -ENOMEM. */
int catch_up_known_reserve(struct informer *inf, struct catch_up_known *b, uint32_t part, uint32_t ordinal);

static inline enum known_state
catch_up_known_get(const struct catch_up_known *b, uint32_t part, uint32_t ordinal)
{
	if (ordinal >= b->parts[part].room)
		return KNOWN_NONE;
	return (enum known_state)(b->parts[part].bits[ordinal / 4] >> ordinal % 4 * 2 & 3);
}

/* With reserved room. */
static inline void
catch_up_known_set(struct catch_up_known *b, uint32_t part, uint32_t ordinal, enum known_state known)
{
	uint8_t *byte = &b->parts[part].bits[ordinal / 4];
	unsigned shift = ordinal % 4 * 2;

	*byte = (uint8_t)((*byte & ~(3u << shift)) | (unsigned)known << shift);
}

#endif
