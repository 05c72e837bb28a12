/* SPDX-License-Identifier: Apache-2.0 */
/* A test's actions as a text: "put a 1, delete b, commit". The file of tests defines the steps. */
#ifndef TESTS_SUPPORT_STEPS_H
#define TESTS_SUPPORT_STEPS_H

#include <stdlib.h>
#include <string.h>

/* Call act() with each step, the text between commas. */
static inline void
each_step(void *context, const char *steps, void (*act)(void *context, const char *step))
{
	char *copy = strdup(steps), *rest = copy, *step;

	while ((step = strsep(&rest, ",")))
		act(context, step);
	free(copy);
}

#endif
