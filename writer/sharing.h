/*
 * Whether sharing pays at a path, learnt from what arrives there.
 *
 * A shared block that is met again saves the value's bytes but for a reference; one that is not costs a block header and padding.
 * Both are added up as they come, the old fading, and the sign of the sum decides. A trial that finds nothing twice is broken off
 * after TRIAL_SHORT samples; later trials, ever further apart, find out when the world has changed.
 */
#ifndef WRITER_SHARING_H
#define WRITER_SHARING_H

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

enum { SHARING_TRIAL_SHORT = 16, SHARING_TRIAL_LONG = 96, SHARING_FADE = 64, SHARING_MISS_COST = 28, SHARING_PAUSE = 1000 };

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
	if (s->trials < 5)
		s->trials++;
	s->pause = (uint16_t)(SHARING_PAUSE << s->trials);
	s->samples = 0;
	s->hits = 0;
	s->gain = 0;
}

/* It was looked up. known: it was there. */
static inline void
sharing_note(struct sharing *s, bool known, uint32_t bytes)
{
	int32_t saved = bytes < 4096 ? (int32_t)bytes - 5 : 4096;

	s->gain += (known ? saved : -SHARING_MISS_COST) - s->gain / SHARING_FADE;
	s->hits = (uint16_t)(s->hits + known);
	if (s->samples < SHARING_TRIAL_LONG) {
		s->samples++;
		if (s->samples != SHARING_TRIAL_SHORT || s->hits >= 2)
			return;
		sharing_give_up(s);
	} else if (s->gain < 0) {
		sharing_give_up(s);
	} else {
		s->trials = 0;
	}
}

#endif
