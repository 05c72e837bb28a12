/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learns, per path, whether sharing its values saves memory.
 *
 * A shared block that is met again saves the value's bytes except a reference. A block that is not met again
 * costs a block header and padding. Both are added to `gain`, which fades; its sign decides.
 *
 * At first every value is new, so the sum decides only after a trial of SHARING_TRIAL samples. A trial ends
 * early when almost nothing was met twice. The more a hit would save, the longer it lasts: a large container
 * pays at one hit in twenty. After a failed trial values stand inline for a pause, which doubles each time.
 * What earlier trials shared is still there, so a later trial finds more.
 */
#ifndef WRITER_DECODE_SHARING_H
#define WRITER_DECODE_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#define SHARING_STRING_MIN 12u          /* shorter strings always stand inline */
#define SHARING_CONTAINER_MIN 48u	/* the same for arrays and objects, in encoded bytes */

struct sharing {
	int32_t gain;		/* bytes, fading */
	uint16_t samples;	/* in this trial */
	uint16_t hits;
	uint16_t pause; /* values that still stand inline; 0: sharing */
	uint8_t trials;
};

enum {
	SHARING_TRIAL = 96,
	SHARING_SHORT_MIN = 32, /* samples before a trial may end early */
	SHARING_SHORT_MAX = 256,
	SHARING_FADE = 64,
	SHARING_MISS_COST = 28,  /* header, padding, reference: bytes */
	SHARING_LOOKUP_COST = 8, /* its time, in bytes */
	SHARING_PAUSE = 250,     /* values; doubled with each failed trial, up to */
	SHARING_PAUSE_DOUBLINGS = 6,
};

/* Whether this value should be looked up among the shared ones. */
static inline bool
sharing_wanted(struct sharing *s)
{
	if (s->pause == 0)
		return true;
	s->pause--;
	return false;
}

static inline void
sharing_give_up(struct sharing *s)
{
	s->pause = (uint16_t)(SHARING_PAUSE << s->trials);
	if (s->trials < SHARING_PAUSE_DOUBLINGS)
		s->trials++;
	s->samples = 0;
	s->hits = 0;
	s->gain = 0;
}

/* The value was looked up. known: it was found. */
static inline void
sharing_note(struct sharing *s, bool known, uint32_t bytes)
{
	int32_t saved = bytes < 4096 ? (int32_t)bytes - 5 : 4096,
		enough = 3 * (saved + SHARING_MISS_COST) / SHARING_MISS_COST;

	s->gain += (known ? saved : -SHARING_MISS_COST) - SHARING_LOOKUP_COST - s->gain / SHARING_FADE;
	s->hits = (uint16_t)(s->hits + (known && s->hits < UINT16_MAX));
	if (s->samples < SHARING_SHORT_MAX)
		s->samples++;
	enough = enough < SHARING_SHORT_MIN   ? SHARING_SHORT_MIN
		 : enough > SHARING_SHORT_MAX ? SHARING_SHORT_MAX
					      : enough;
	if (s->hits < 2 ? s->samples >= enough : s->samples >= SHARING_TRIAL && s->gain < 0)
		sharing_give_up(s);
	else if (s->samples == SHARING_SHORT_MAX)
		s->trials = 0;
}

#endif
