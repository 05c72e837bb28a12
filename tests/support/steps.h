/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a test does as a text: "put a 1, delete b, commit". The file of tests says what each step means.
 */
#ifndef TESTS_SUPPORT_STEPS_H
#define TESTS_SUPPORT_STEPS_H

#include <stdlib.h>
#include <string.h>

/* Call act() with each step, what stands between commas. */
static inline void
each_step(void *context, const char *steps, void (*act)(void *context, const char *step))
{
	char *copy = strdup(steps), *rest = copy, *step;

	while ((step = strsep(&rest, ",")))
		act(context, step);
	free(copy);
}

#endif
