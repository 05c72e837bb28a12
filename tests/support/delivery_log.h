/* SPDX-License-Identifier: Apache-2.0 */
/* A server's history, and what a handler was told of it. For delivery_world.h. */
#ifndef TESTS_SUPPORT_DELIVERY_LOG_H
#define TESTS_SUPPORT_DELIVERY_LOG_H

#include "reader-lib/informer.h"

#define DELIVERY_EVENTS 512
#define DELIVERY_STATES 256
#define DELIVERY_NAMES 16
#define DELIVERY_LOG_MOMENTS 3

/*
 * A call.
 *
 * what      + add, u update, - delete, v value (rv 0: gone), O COALESCED, R RESYNC, B and E begin and end
 * of a RESYNC, S synced
 * readable  the object could be read; of a deletion with only a key, uid and rv are 0
 * old_rv    u: 0 if unknown; v: of the value before
 */
struct delivery_event {
	char what;
	bool readable, initial, known;
	char name[8];
	unsigned uid, rv, old_rv;
};

/* A state of an object; its rv is its index here plus one. web: it has the label. deleted: its last state. */
struct delivery_state {
	char name[8];
	unsigned uid;
	bool web, deleted;
};

/*
 * moments  the number of states at each moment
 * during   the number of events before delivery_log_after()
 * unread   how many of these could not be read
 * result   of the last turn; error: its informer_error_text()
 * listens  record calls
 */
struct delivery_log {
	bool web_only, scoped, values, listens;
	struct delivery_state states[DELIVERY_STATES];
	unsigned state_count, moments[DELIVERY_LOG_MOMENTS];
	struct delivery_event events[DELIVERY_EVENTS];
	unsigned count, during, unread;
	int result;
	char error[256];
	char text[8192], wrong[256];
};

/* web_only: the handler selects the label "web"; scoped: it selects namespace "default". */
struct delivery_log *delivery_log_new(bool web_only, bool scoped);
void delivery_log_free(struct delivery_log *log);

/* The namespace of an object: "other" if its name begins with x, else "default". */
const char *delivery_namespace(const char *name);
/* Add a state to the server's history. Returns its rv. */
unsigned delivery_log_state(struct delivery_log *log, const char *name, unsigned uid, bool web, bool deleted);
void delivery_log_moment(struct delivery_log *log, unsigned moment);

/* Options of a handler of pods that records its calls. values: with on_value. */
void delivery_log_listen(struct delivery_log *log, bool values, struct informer_handler_options *ret);
/* From now on the handler is told of the last moment. */
void delivery_log_after(struct delivery_log *log);
void delivery_log_forget(struct delivery_log *log);

/*
 * Returns NULL, or the fault found. Each state told must have existed, and none may be older than the one
 * before it. Only absent objects are added, only present ones are updated or deleted. An object present all
 * the time is never told as gone. In the end the handler knows the present state. taken: the arena was
 * revoked, so some calls may be unread; only then may an update or a delete follow of an object that the
 * handler never heard of.
 */
const char *delivery_log_wrong(struct delivery_log *log, bool taken);
const char *delivery_log_text(struct delivery_log *log);

#endif
