/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a writer, a reader and two recorders for tests of handlers, feeds and threads. */
#include "tests/support/recorder_world.h"

#include "tests/room.h"

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

FIXTURE_TEAR_DOWN(recorder_world_tear_down, recorder_world_free)

static void
change_often(struct recorder_world *w, const char *what)
{
	const char *star = strchr(what, '*');
	char *label;
	long last = strtol(star + 1, &label, 10);

	for (long i = 2; i <= last; i++) {
		char change[64];

		snprintf(change, sizeof(change), "%.*s%ld%s", (int)(star - what), what, i, label);
		recorder_change(w->fx, change);
	}
}

static void
happen(struct recorder_world *w, const char *what)
{
	if (strcmp(what, "REPLACE") == 0) {
		broker_fixture_replace(w->fx, true);
	} else if (strcmp(what, "DETACH") == 0) {
		informer_detach(w->inf);
		w->inf = NULL;
		free(recorder_text(w->r, true));
	} else if (strcmp(what, "ATTACH") == 0) {
		w->inf = w->r->inf = broker_fixture_attach(w->fx, 0);
		recorder_add(w->r);
	} else if (what[0] == '~') {
		recorder_change_unsynced(w->fx, what + 1);
		dispatch_all(w->inf);
	} else if (strchr(what, '*')) {
		change_often(w, what);
	} else {
		recorder_change(w->fx, what);
	}
}

void
recorder_world_happen(struct recorder_world *w, const char *commits)
{
	char changes[256], *rest = changes, *one;

	snprintf(changes, sizeof(changes), "%s", commits);
	while ((one = strsep(&rest, ";")))
		if (one[0])
			happen(w, one);
}

void
recorder_world_play(struct recorder_world *w, const char *const *story)
{
	for (size_t i = 0; story[i]; i += 2) {
		recorder_world_happen(w, story[i]);
		if (!w->r->handler)
			recorder_add(w->r);
		recorder_expect(w->r, story[i + 1]);
	}
}

void
recorder_world_update(struct recorder_world *w, unsigned from, unsigned count, char *text, size_t size)
{
	size_t n = 0;

	for (unsigned i = from; i < from + count; i++) {
		char change[16];

		snprintf(change, sizeof(change), "a%u", i);
		recorder_change(w->fx, change);
		n += (size_t)snprintf(text + n, size - n, "%sa%u>a%u", i == from ? "" : " ", i - 1, i);
	}
}

void
recorder_world_many(struct recorder_world *w, unsigned count, unsigned version)
{
	char changes[2048];
	size_t n = 0;

	for (unsigned i = 0; i < count; i++)
		n += (size_t)snprintf(changes + n, sizeof(changes) - n, "k%c%c%u ", (int)('a' + i / 26),
				      (int)('a' + i % 26), version);
	recorder_change(w->fx, changes);
}
