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
	void (*each)(struct recorder *r);	/* within each call of add, update and delete; may be NULL */
	void *context;
};

/* Options for pods that call the recorder; to be changed before recorder_add(). */
struct recorder *recorder_new(struct informer *inf);
/* With options.pull what informer_changes_next() gives is written down. */
void recorder_add(struct recorder *r);
/* Pull the next change, at most so many ms, and write it down. As informer_changes_next() returns. */
int recorder_pull(struct recorder *r, int timeout_ms);
/* After detach, or its removal. */
void recorder_free(struct recorder *r);

/* What was written so far, without the last blank; free() it. take: and forget it. */
char *recorder_text(struct recorder *r, bool take);

/* Dispatch until the log is this, and forget it; when that does not come the test fails with what it is. */
void recorder_expect(struct recorder *r, const char *expected);
/* The same where informer_run() does the work. */
void recorder_await(struct recorder *r, const char *expected);
/* Until it was called so often, and no more often. */
void recorder_await_calls(struct recorder *r, unsigned calls);

/* Each call of a recorder whose context it is, and whose `each` is gate_wait(), waits until it is opened. */
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

/* Change a to version 2, 3, ... last; of each change the recorder is awaited to be told. */
void recorder_follow(struct broker_fixture *fx, struct recorder *r, unsigned last);

/*
 * Put pods and commit once: "a1 b2 x/c3"; with a label: "a1:web" (label app). "-a" deletes, "-a7:db" does
 * with this final state, "-a?" without being seen.
 */
void recorder_change(struct broker_fixture *fx, const char *changes);
/* The same without synced state or version. */
void recorder_change_unsynced(struct broker_fixture *fx, const char *changes);

#endif
