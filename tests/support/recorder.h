/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler that writes down what it is told, in short:
 *
 *	+a1*   add of a, in version 1, initial    +a1    add, not initial
 *	a1>a2  update                             ?>a2   update, old unknown    a2=a2  resync
 *	-a2    delete, final state known          -a2?   delete, unknown        -a!    only the key is known
 *	COALESCED RESYNC BEGIN END SYNCED DONE    ERROR(reason) RECOVERED
 *
 * The version is metadata.resourceVersion. Objects of other namespaces than "default" are written with it:
 * "+x/a1".
 */
#ifndef TESTS_SUPPORT_RECORDER_H
#define TESTS_SUPPORT_RECORDER_H

#include <pthread.h>

#include "reader-lib/informer.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/dispatch.h"

struct recorder {
	struct informer *inf;
	struct informer_handler *handler;
	struct informer_handler_options options;
	pthread_mutex_t lock;
	pthread_cond_t written;
	char *log;
	size_t length;
	_Atomic unsigned calls;			/* of any kind */
	void (*each)(struct recorder *r);	/* called within each add, update and delete; may be NULL */
	void *context;
};

/* Options for pods that call the recorder; may be changed before recorder_add(). */
struct recorder *recorder_new(struct informer *inf);
/* With options.pull the results of informer_changes_next() are recorded. */
void recorder_add(struct recorder *r);
/* Pull the next change within this time, and record it. Returns informer_changes_next()'s result. */
int recorder_pull(struct recorder *r, int timeout_ms);
/* Call after the handler's removal, or the handle's detach. */
void recorder_free(struct recorder *r);

/* The record so far, without the last blank; free() it. take: and clear it. */
char *recorder_text(struct recorder *r, bool take);

/* Dispatch until the record is `expected`, and clear it. Fails the test if it does not become that. */
void recorder_expect(struct recorder *r, const char *expected);
/* The same while informer_run() works. */
void recorder_await(struct recorder *r, const char *expected);
/* Wait for this number of calls; more of them fail the test. */
void recorder_await_calls(struct recorder *r, unsigned calls);

/* A gate: each call of a recorder with `each` gate_wait() and this context waits until it is opened. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool open, waiting;
};
#define GATE                                                                                                 \
	{                                                                                                    \
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER                       \
	}
void gate_wait(struct recorder *r);
void gate_await_waiting(struct gate *g);
void gate_open(struct gate *g);

/* Change a to version 2, 3, ... last; after each change wait until the recorder was told. */
void recorder_follow(struct broker_fixture *fx, struct recorder *r, unsigned last);

/*
 * Put pods and commit once: "a1 b2 x/c3"; with a label: "a1:web" (label app). "-a" deletes, "-a7:db" does
 * with this final state, "-a?" without being seen.
 */
void recorder_change(struct broker_fixture *fx, const char *changes);
/* The same without a synced state or a version. */
void recorder_change_unsynced(struct broker_fixture *fx, const char *changes);

#endif
