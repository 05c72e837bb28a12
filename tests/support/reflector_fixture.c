/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a Reflector on a source fixture, for its tests, and reads its status and its store's content. */
#include "tests/support/reflector_fixture.h"

#include "tests/room.h"

struct reflector_fixture *
reflector_fixture_new(const struct list_choices *choices)
{
	struct reflector_fixture *t = calloc(1, sizeof(*t));
	struct reflector_options options = { .refusal_hint = "grant informerd this RBAC rule: {…}" };

	if (!t)
		abort();
	t->fx = source_fixture_new(0);
	t->fx->source.api_version = "v1";
	t->fx->source.kind = "Pod";
	options.source = &t->fx->source;
	if (choices)
		options.choices = *choices;
	t->reflector = reflector_new(&options);
	if (!t->reflector)
		abort();
	return t;
}

int
reflector_fixture_free(struct reflector_fixture *t)
{
	bool timers;

	reflector_free(t->reflector);
	timers = t->fx->clock.clock.timers != NULL;
	source_fixture_free(t->fx);
	free(t);
	return timers ? -1 : 0;
}

FIXTURE_SET_UP(reflector_set_up, reflector_fixture_new(NULL))
FIXTURE_SET_UP(reflector_set_up_watch_list, reflector_fixture_new(&(struct list_choices){.watch_list = true}))

int
reflector_tear_down(void **state)
{
	return reflector_fixture_free(*state);
}

void
wait_out(struct reflector_fixture *t)
{
	virtual_clock_advance(&t->fx->clock, virtual_clock_next(&t->fx->clock));
}

const char *
seen(struct reflector_fixture *t)
{
	while (applier_run(t->fx->applier))
		;
	return published(t->fx);
}

struct reflector_status
status_of(struct reflector_fixture *t)
{
	struct reflector_status status;

	reflector_get_status(t->reflector, &status);
	return status;
}

void
start_watching(struct reflector_fixture *t)
{
	reflector_start(t->reflector, "", 0);
	if (status_of(t).watch_lists > 0) {
		server_open(t->fx);
		server_send(t->fx, EVENT("ADDED", pod("a/x", 5)));
		server_send(t->fx, END_MARK, 10);
	} else {
		server_answer(t->fx, 200, pod_list("10", NULL, pod("a/x", 5), NULL));
		server_open(t->fx);
	}
	assert_string_equal(seen(t), "[10] a/x@5 ");
	diary(t->fx);
}

size_t
send_added(struct reflector_fixture *t, unsigned i)
{
	char key[16], event[512];

	snprintf(key, sizeof(key), "a/n%u", i);
	snprintf(event, sizeof(event), EVENT("ADDED", pod(key, 100 + i)));
	server_send(t->fx, "%s", event);
	return strlen(event);
}
