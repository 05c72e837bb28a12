/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server had, and what a handler was told of it. For delivery_world.h.
 */
#ifndef TESTS_SUPPORT_DELIVERY_LOG_H
#define TESTS_SUPPORT_DELIVERY_LOG_H

#include "reader-lib/informer.h"

#define DELIVERY_EVENTS 512
#define DELIVERY_STATES 256
#define DELIVERY_NAMES 16
#define DELIVERY_LOG_MOMENTS 3

/*
 * A call. what: + add, u update, - delete, v value (rv 0: gone), O coalesced, R resync, B and E its begin and
 * end, S synced
 * readable  its object could be read; of -: it may have only a key, uid and rv 0
 * old_rv    of u: 0, it is not known; of v: of the value before
 */
struct delivery_event {
	char what;
	bool readable, initial, known;
	char name[8];
	unsigned uid, rv, old_rv;
};

/* A state that an object had; its rv is its place here, plus one. web: its label. deleted: the last one. */
struct delivery_state {
	char name[8];
	unsigned uid;
	bool web, deleted;
};

/*
 * moments  how many states there were
 * during   events that came before delivery_log_after()
 * unread   of these could not be read
 * result   of the last turn; error: what informer_error_text() said
 * listens  calls are written down
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

/* web_only: its handler is told of "web" alone; scoped: of namespace "default" alone. */
struct delivery_log *delivery_log_new(bool web_only, bool scoped);
void delivery_log_free(struct delivery_log *log);

/* Objects whose name begins with x are in "other", all else in "default". */
const char *delivery_namespace(const char *name);
/* The server has this now; its rv. */
unsigned delivery_log_state(struct delivery_log *log, const char *name, unsigned uid, bool web, bool deleted);
void delivery_log_moment(struct delivery_log *log, unsigned moment);

/* Options for pods that write down what is told. values: by on_value. */
void delivery_log_listen(struct delivery_log *log, bool values, struct informer_handler_options *ret);
/* What comes now is told of the last moment. */
void delivery_log_after(struct delivery_log *log);
void delivery_log_forget(struct delivery_log *log);

/*
 * NULL, or what is wrong: each state told must be one that was, none older than the one before; adds of what
 * is not there, updates and deletes of what is; what is there all the while is never told as gone; in the end
 * what was told is what there is. taken: of what was told during that it can be that it could not be read;
 * then, and then only, an update or a delete may follow of what was never heard of.
 */
const char *delivery_log_wrong(struct delivery_log *log, bool taken);
const char *delivery_log_text(struct delivery_log *log);

#endif
