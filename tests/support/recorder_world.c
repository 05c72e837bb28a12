/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a writer, a reader and two recorders for the tests of handlers, feeds and threads.
 */
#include "tests/support/recorder_world.h"

#include <stdlib.h>

struct recorder_world *
recorder_world_new(const char *present, bool generations)
{
	struct recorder_world *w = calloc(1, sizeof(*w));

	if (!w)
		abort();
	w->fx = broker_fixture_new();
	if (generations)
		broker_fixture_keep_generations(w->fx);
	broker_fixture_start(w->fx);
	recorder_change(w->fx, present);
	w->inf = broker_fixture_attach(w->fx, 0);
	w->r = recorder_new(w->inf);
	w->other = recorder_new(w->inf);
	return w;
}

void
recorder_world_free(struct recorder_world *w)
{
	informer_detach(w->inf);
	recorder_free(w->r);
	recorder_free(w->other);
	broker_fixture_free(w->fx);
	free(w);
}

int
recorder_world_tear_down(void **state)
{
	recorder_world_free(*state);
	return 0;
}
