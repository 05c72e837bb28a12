/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event whose object cannot be read within its call. The program is linked to wrap
 * informer_object_value(), which makes the object unreadable for the test.
 */
#include <errno.h>

#include "tests/support/broker_fixture.h"
#include "tests/support/dispatch.h"
#include "tests/tools/informer-run/supervisor_fixture.h"
#include "tools/informer-run/intake.h"
#include "tools/informer-run/loop.h"

int __real_informer_object_value(const struct informer_object *object, struct informer_value *ret);
int __wrap_informer_object_value(const struct informer_object *object, struct informer_value *ret);

/* The next object to be read: its arena is revoked first, or the result is value_error. */
static struct broker_fixture *revoke_at_value;
static int value_error;

int
__wrap_informer_object_value(const struct informer_object *object, struct informer_value *ret)
{
	int r = value_error;

	value_error = 0;
	if (revoke_at_value)
		broker_fixture_revoke_oldest(revoke_at_value);
	revoke_at_value = NULL;
	return r < 0 ? r : __real_informer_object_value(object, ret);
}

struct source {
	struct broker_fixture *fx;
	struct informer *inf;
	struct intake *intake;
};

static void
source_begin(struct source *s, struct world *w)
{
	static const struct handler_settings settings = {
		.name = "test", .resource = "pods", .consumer = "test"};

	s->fx = broker_fixture_new();
	s->fx->options.barred_ms = 1;
	s->inf = broker_fixture_serve(s->fx, 0);
	assert_int_equal(intake_new(s->inf, &settings, w->s, &s->intake), 0);
}

static void
source_end(struct source *s)
{
	intake_free(s->intake);
	informer_detach(s->inf);
	broker_fixture_free(s->fx);
}

/* Dispatch, and acknowledge all events that were sent. */
static void
turn(struct source *s, struct world *w)
{
	const struct world_worker *worker = &w->workers[0];

	dispatch_turn(s->inf);
	intake_dispatched(s->intake);
	for (size_t i = 0; i < worker->sent_count; i++)
		supervisor_acknowledged(w->s, 0, worker->sent[i], loop_now());
}

static bool
was_sent(const struct world *w, uint64_t seq)
{
	const struct world_worker *worker = &w->workers[0];

	for (size_t i = 0; i < worker->sent_count; i++)
		if (worker->sent[i] == seq)
			return true;
	return false;
}

TEST(an_event_whose_arena_is_taken_back_comes_again)
{
	struct source s;

	source_begin(&s, w);
	DISPATCH_UNTIL(s.inf, (turn(&s, w), w->acknowledged == 1));
	revoke_at_value = s.fx;
	broker_fixture_pod(s.fx, "b");
	DISPATCH_UNTIL(s.inf, (turn(&s, w), w->acknowledged == 2));
	assert_null(revoke_at_value);
	assert_true(was_sent(w, 2));
	assert_false(intake_lacks_memory(s.intake));
	source_end(&s);
}

TEST(an_event_without_memory_is_never_acknowledged)
{
	struct source s;

	source_begin(&s, w);
	DISPATCH_UNTIL(s.inf, (turn(&s, w), w->acknowledged == 1));
	value_error = -ENOMEM;
	broker_fixture_pod(s.fx, "b");
	DISPATCH_UNTIL(s.inf, (turn(&s, w), intake_lacks_memory(s.intake)));
	broker_fixture_pod(s.fx, "c");
	DISPATCH_UNTIL(s.inf, (turn(&s, w), was_sent(w, 3)));
	turn(&s, w);
	assert_false(was_sent(w, 2));
	assert_int_equal(w->acknowledged, 1);
	source_end(&s);
}
