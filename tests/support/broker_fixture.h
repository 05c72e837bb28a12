/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer in this process: a store (store_fixture.h), and a broker on a socket in its own directory. Both
 * run on a loop in their own thread. broker_fixture_do() runs there whatever touches them.
 */
#ifndef TESTS_SUPPORT_BROKER_FIXTURE_H
#define TESTS_SUPPORT_BROKER_FIXTURE_H

#include <pthread.h>

#include "reader-lib/informer.h"
#include "tests/support/generations.h"
#include "tests/support/store_fixture.h"
#include "tests/support/test_clock.h"
#include "writer/serve/broker.h"
#include "writer/serve/consumers.h"
#include "writer/serve/fan_out.h"

#define WANTED_MAX 1024

struct broker_fixture {
	char directory[64];
	char socket[100];
	struct broker_options options;	/* may be changed before broker_fixture_start() */
	struct store_fixture *store;
	struct fan_out *fan_out;
	struct consumers *consumers;
	struct store_fixture *old[8];	/* replaced stores */
	struct fan_out *old_fan_out[8];
	struct consumers *old_consumers[8];
	unsigned old_count;
	bool in_generations;
	bool judges_wakes;		/* refuse readers slow to wake, as informerd does */
	struct generations generations;

	unsigned widgets;		/* the id of widgets.example.com after broker_fixture_on_demand() */
	pthread_mutex_t wanted_lock;
	/* "pods widgets.example.com ": resources that readers requested */
	char wanted[WANTED_MAX];

	bool running;
	struct broker *broker;
	uv_loop_t loop;
	uv_async_t async;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t done;
	void (*task)(struct broker_fixture *fx, void *context);
	void *task_context;
};

/* Makes directory and store; the broker does not run yet. */
struct broker_fixture *broker_fixture_new(void);
void broker_fixture_start(struct broker_fixture *fx);
/* Ends as a killed writer does: connections close, the socket's file stays. */
void broker_fixture_stop(struct broker_fixture *fx);
/* NULL is fine. */
void broker_fixture_free(struct broker_fixture *fx);
/* For cmocka: *state is the fixture; the broker does not run yet. */
int broker_fixture_set_up(void **state);
/* The same with a running broker. */
int broker_fixture_set_up_running(void **state);
int broker_fixture_tear_down(void **state);

/* Run a function on the loop's thread and wait for it. Without a running loop it runs here. */
void broker_fixture_do(struct broker_fixture *fx, void (*task)(struct broker_fixture *fx, void *context),
		       void *context);

/* Let the loop turn until the condition holds. */
#define broker_fixture_until(fx, condition)                                                                  \
	for (unsigned turns = 0; !(condition); broker_fixture_turn(fx))                                      \
		if (++turns > BROKER_TURNS_MAX)                                                              \
	fail_msg("it never came true: %s", #condition)
#define BROKER_TURNS_MAX 200000u
void broker_fixture_turn(struct broker_fixture *fx);

/* With stopped clocks (test_clock.h): move them, from one of the loop's timers to the next. */
void broker_fixture_pass(struct broker_fixture *fx, uint64_t ms);

/* Add widgets.example.com, cached on demand, beside pods; before broker_fixture_start(). */
void broker_fixture_on_demand(struct broker_fixture *fx);
/* The resources that readers requested since the last call, copied into text. */
const char *broker_fixture_wanted(struct broker_fixture *fx, char text[WANTED_MAX]);
/* Publish a resourceVersion of a resource, as a bookmark does. */
void broker_fixture_version(struct broker_fixture *fx, unsigned resource, const char *version);

/* Put objects (JSON texts, NULL at the end) and commit; the resource becomes synced. */
void broker_fixture_put(struct broker_fixture *fx, const char *const *objects);
/* Put one pod with this name on node "n1", labelled app=NAME, and commit. */
void broker_fixture_pod(struct broker_fixture *fx, const char *name);
/* Delete a pod, and commit. Its last state is the final one. */
void broker_fixture_delete(struct broker_fixture *fx, const char *ns, const char *name);
void broker_fixture_commit(struct broker_fixture *fx);
/* Set the pods' status, a JSON text, and commit. */
void broker_fixture_status(struct broker_fixture *fx, const char *json);
/* From the next commit on only this many deletions of pods are remembered. */
void broker_fixture_remember(struct broker_fixture *fx, uint64_t deletions);

/*
 * Replace the store by a new, empty generation. mark: set the superseded word of the old one. A running
 * broker is stopped before and started again, as when the daemon dies and returns.
 */
void broker_fixture_replace(struct broker_fixture *fx, bool mark);

/*
 * Keep arenas in a directory, as the daemon does; before broker_fixture_start(). From then on
 * broker_fixture_adopt() starts a new generation, which takes over the content of the previous one. A running
 * broker is stopped and started as by broker_fixture_replace().
 */
void broker_fixture_keep_generations(struct broker_fixture *fx);
void broker_fixture_adopt(struct broker_fixture *fx);

struct broker_stats broker_fixture_stats(struct broker_fixture *fx);
/* Wait until this many readers are attached. */
void broker_fixture_wait_readers(struct broker_fixture *fx, unsigned readers);

/*
 * Wait until informerd has answered, or cannot be reached. informer_attach() itself waits at most a tenth of
 * a second, and a busy machine may take longer.
 */
void broker_fixture_wait_answer(struct informer *inf);

/* Attach to the fixture's socket with these flags, and wait for the answer. A failure fails the test. */
struct informer *broker_fixture_attach(struct broker_fixture *fx, uint32_t flags);
/* Start the broker with a pod "a", and attach. */
struct informer *broker_fixture_serve(struct broker_fixture *fx, uint32_t flags);

/* Revoke the reader with the oldest snapshot. */
void broker_fixture_revoke_oldest(struct broker_fixture *fx);

#endif
