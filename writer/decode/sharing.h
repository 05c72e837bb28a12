/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether sharing pays at a path, learnt from what arrives there.
 *
 * A shared block that is met again saves the value's bytes but for a reference; one that is not costs a
 * block header and padding. Both are added up as they come, the old fading, and the sign of the sum
 * decides.
 *
 * At first everything is new, so the sum may not decide before there was time to meet something twice. A
 * trial lasts SHARING_TRIAL samples; it is broken off early when next to nothing was met twice, after the
 * fewer samples the less a hit would save: a large container pays at one hit in twenty, so it is tried for
 * long. After a trial that failed values stand inline for a while, longer each time. What earlier trials
 * shared is still there, so a later one starts with more to meet.
 */
#ifndef WRITER_DECODE_SHARING_H
#define WRITER_DECODE_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#define SHARING_STRING_MIN 12u		/* shorter strings stand inline, always */
#define SHARING_CONTAINER_MIN 48u	/* the same for arrays and objects, in encoded bytes */

struct sharing {
	int32_t gain;		/* bytes, fading */
	uint16_t samples;	/* in this trial */
	uint16_t hits;
	uint16_t pause;		/* values still to pass inline; 0: shared */
	uint8_t trials;
};

enum {
	SHARING_TRIAL = 96,
	SHARING_SHORT_MIN = 32,		/* samples before a trial is broken off */
	SHARING_SHORT_MAX = 256,
	SHARING_FADE = 64,
	SHARING_MISS_COST = 28,		/* header, padding, reference: bytes */
	SHARING_LOOKUP_COST = 8,	/* what its time is worth, in bytes */
	SHARING_PAUSE = 250,		/* values; doubled with each trial that failed, up to */
	SHARING_PAUSE_DOUBLINGS = 6,
};

/* Shall this value be looked up among the shared ones? */
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

/* It was looked up. known: it was there. */
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
