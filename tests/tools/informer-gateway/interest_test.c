/* SPDX-License-Identifier: Apache-2.0 */
/* Watchers are woken by the changes that concern them alone. */
#include "tests/room.h"
#include "tests/tools/informer-gateway/served_objects.h"

struct listener {
	struct gw_watcher watcher;
	uint64_t position;
	unsigned woken;
	bool leaves;            /* when woken */
	struct listener *takes; /* removes this listener too */
};

static void
on_wake(void *context)
{
	struct listener *l = context;

	l->woken++;
	if (l->leaves)
		gw_watcher_remove(&l->watcher);
	if (l->takes)
		gw_watcher_remove(&l->takes->watcher);
}

static void
listen_for(struct logged *w, struct listener *l, unsigned kind, const char *value)
{
	*l = (struct listener){.watcher = {.wake = on_wake, .context = l}, .position = w->log.next};
	gw_watcher_add(&w->interests, &l->watcher, kind, value);
}

/* Remove these listeners. */
#define leave(...)                                                                                           \
	do {                                                                                                 \
		struct listener *const all_[] = {__VA_ARGS__};                                               \
		for (size_t i_ = 0; i_ < sizeof(all_) / sizeof(*all_); i_++)                                 \
			gw_watcher_remove(&all_[i_]->watcher);                                               \
	} while (0)

static void
put(struct logged *w, struct api_event change)
{
	gw_interests_note(&w->interests, gw_change_log_put(&w->log, change));
}

/* The RVs that a listener reads; "410". */
static const char *
heard(struct logged *w, struct listener *l)
{
	static char text[1000];
	size_t length = 0;
	int r;

	text[0] = '\0';
	for (; (r = gw_watcher_next(&l->watcher, &l->position)) > 0; l->position++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%u ",
					   (unsigned)gw_change_log_at(&w->log, l->position)->rv);
	if (r < 0)
		snprintf(text + length, sizeof(text) - length, "410");
	else
		assert_int_equal(l->position, w->log.next);
	return text;
}

#define TEST(name) TEST_CASE_OF(struct logged *w, logged_set_up, logged_tear_down, name)

/* A watcher is woken by its namespace, its name, or a field's value, now or before the change. */
TEST(each_kind_of_watcher_is_woken_by_its_changes)
{
	struct listener all, ns, name, n1, n2, none;

	listen_for(w, &all, GW_ALL, "");
	listen_for(w, &ns, GW_NAMESPACE, "a");
	listen_for(w, &name, GW_KEY, "a/x");
	listen_for(w, &n1, GW_FIELD + POD_NODE, "n1");
	listen_for(w, &n2, GW_FIELD + POD_NODE, "n2");
	listen_for(w, &none, GW_FIELD + POD_NODE, "");
	put(w, pod_change("a/x", NULL, "n1", 101));
	put(w, pod_change("b/x", "", "n1", 102));
	put(w, pod_change("a/y", "n1", "n2", 103));
	put(w, pod_change("a/x", "n1", NULL, 104));
	put(w, pod_change("ab/x", "n3", "n3", 105));
	assert_int_equal(gw_interests_wake(&w->interests), 6);
	assert_string_equal(heard(w, &all), "101 102 103 104 105 ");
	assert_string_equal(heard(w, &ns), "101 103 104 ");
	assert_string_equal(heard(w, &name), "101 104 ");
	assert_string_equal(heard(w, &n1), "101 102 103 104 ");
	assert_string_equal(heard(w, &n2), "103 ");
	assert_string_equal(heard(w, &none), "102 ");
	leave(&all, &ns, &name, &n1, &n2, &none);
}

#define NODES 5000u
#define EVENTS 20000u

/* With thousands of watchers, each of its own node, there are at most as many wake-ups as changes. */
TEST(thousands_of_watchers_are_woken_by_their_changes_alone)
{
	struct listener *nodes = calloc(NODES, sizeof(*nodes));
	unsigned woken = 0, told = 0;
	char node[32], key[32];

	for (unsigned i = 0; i < NODES; i++) {
		snprintf(node, sizeof(node), "node-%u", i);
		listen_for(w, &nodes[i], GW_FIELD + POD_NODE, node);
	}
	for (unsigned i = 0; i < EVENTS; i++) {
		snprintf(node, sizeof(node), "node-%u", i * 7 % NODES);
		snprintf(key, sizeof(key), "default/pod-%u", i);
		put(w, pod_change(key, node, node, 101 + i));
		if (i % 10 == 9)
			woken += gw_interests_wake(&w->interests);
		if (i % 10 == 9) {
			for (unsigned k = i - 9; k <= i; k++) {
				struct listener *l = &nodes[k * 7 % NODES];

				assert_int_equal(gw_watcher_next(&l->watcher, &l->position), 1);
				assert_int_equal(gw_change_log_at(&w->log, l->position)->rv, 101 + k);
				l->position++;
				told++;
			}
		}
	}
	assert_int_equal(woken, EVENTS);
	assert_int_equal(told, EVENTS);
	for (unsigned i = 0; i < NODES; i++) {
		assert_int_equal(nodes[i].woken, EVENTS / NODES);
		gw_watcher_remove(&nodes[i].watcher);
	}
	free(nodes);
}

/* Several changes wake a watcher once, and it reads all of them. */
TEST(many_changes_wake_once_and_are_all_read)
{
	struct listener l;

	listen_for(w, &l, GW_FIELD + POD_NODE, "n1");
	for (unsigned i = 0; i < 10; i++) {
		put(w, pod_change("a/x", "n1", "n1", 101 + 2 * i));
		put(w, pod_change("a/y", "n2", "n2", 102 + 2 * i));
	}
	assert_int_equal(gw_interests_wake(&w->interests), 1);
	assert_int_equal(gw_interests_wake(&w->interests), 0);
	assert_string_equal(heard(w, &l), "101 103 105 107 109 111 113 115 117 119 ");
	put(w, pod_change("a/x", "n1", "n1", 130));
	assert_int_equal(gw_interests_wake(&w->interests), 1);
	assert_string_equal(heard(w, &l), "130 ");
	leave(&l);
}

/* A sleeping watcher loses nothing when the log drops changes that do not concern it. */
TEST(a_sleeping_watcher_is_not_overrun_by_others)
{
	struct listener sleeper, busy;

	w->log.options.bytes = 5000;
	listen_for(w, &sleeper, GW_FIELD + POD_NODE, "n1");
	listen_for(w, &busy, GW_FIELD + POD_NODE, "n2");
	for (unsigned i = 0; i < 100; i++)
		put(w, pod_change("a/y", "n2", "n2", 101 + i));
	assert_true(w->log.first > busy.position);
	put(w, pod_change("a/x", "n1", "n1", 300));
	assert_string_equal(heard(w, &sleeper), "300 ");
	assert_string_equal(heard(w, &busy), "410");
	w->log.options.bytes = 20000;
	for (unsigned i = 0; i < 100; i++)
		put(w, pod_change("a/y", "n2", "n2", 301 + i));
	for (unsigned i = 0; i < 8; i++)
		put(w, pod_change("a/x", "n1", "n1", 500 + i));
	assert_true(w->log.first > sleeper.position);
	assert_string_equal(heard(w, &sleeper), "500 501 502 503 504 505 506 507 ");
	leave(&sleeper, &busy);
}

/* A new watcher with an older position reads the log from there. */
TEST(an_older_position_is_read_from_the_log)
{
	struct listener l;
	uint64_t position;

	put(w, pod_change("a/x", NULL, "n1", 101));
	put(w, pod_change("a/y", NULL, "n2", 102));
	put(w, pod_change("a/z", NULL, "n1", 103));
	assert_int_equal(gw_change_log_position(&w->log, 101, &position), 0);
	listen_for(w, &l, GW_FIELD + POD_NODE, "n1");
	l.position = position;
	put(w, pod_change("a/z", "n1", "n1", 104));
	assert_string_equal(heard(w, &l), "103 104 ");
	leave(&l);
}

/* A change with an unknown old state wakes every watcher that it may concern. */
TEST(an_unknown_old_state_wakes_all_it_may_concern)
{
	struct api_event change = pod_change("a/x", NULL, "n1", 101);
	struct listener n1, n2, none, other;

	change.change = API_MODIFIED;
	change.unknown = true;
	listen_for(w, &n1, GW_FIELD + POD_NODE, "n1");
	listen_for(w, &n2, GW_FIELD + POD_NODE, "n2");
	listen_for(w, &none, GW_FIELD + POD_NODE, "");
	listen_for(w, &other, GW_KEY, "a/y");
	put(w, change);
	assert_string_equal(heard(w, &n1), "101 ");
	assert_string_equal(heard(w, &n2), "101 ");
	assert_string_equal(heard(w, &none), "101 ");
	assert_string_equal(heard(w, &other), "");
	leave(&n1, &n2, &none, &other);
}

/* A woken watcher may remove itself and others that are due. Of two that remove each other, one is woken. */
TEST(watchers_may_leave_while_others_are_woken)
{
	struct listener a, b;

	listen_for(w, &a, GW_ALL, "");
	listen_for(w, &b, GW_ALL, "");
	a.leaves = b.leaves = true;
	a.takes = &b;
	b.takes = &a;
	put(w, pod_change("a/x", NULL, "n1", 101));
	assert_int_equal(gw_interests_wake(&w->interests), 1);
	assert_int_equal(a.woken + b.woken, 1);
	assert_int_equal(gw_interests_wake(&w->interests), 0);
}

/* When the log begins anew, every watcher is woken and reads 410 until it has a new position. */
TEST(a_log_that_begins_anew_wakes_every_watcher)
{
	struct listener all, n1;

	listen_for(w, &all, GW_ALL, "");
	listen_for(w, &n1, GW_FIELD + POD_NODE, "n1");
	gw_change_log_begin(&w->log, 200);
	gw_interests_note_all(&w->interests);
	assert_int_equal(gw_interests_wake(&w->interests), 2);
	assert_string_equal(heard(w, &all), "410");
	assert_string_equal(heard(w, &n1), "410");
	gw_watcher_restart(&n1.watcher);
	n1.position = w->log.next;
	put(w, pod_change("a/x", NULL, "n1", 201));
	assert_string_equal(heard(w, &n1), "201 ");
	leave(&all, &n1);
}
