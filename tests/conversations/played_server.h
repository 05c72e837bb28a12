/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of a conversation: informer-sim within this process, on a port of its own, with pods that the
 * script changes. Every request is held until the script says how it is answered.
 *
 * Threads: the test's one; the server has its own.
 */
#ifndef TESTS_CONVERSATIONS_PLAYED_SERVER_H
#define TESTS_CONVERSATIONS_PLAYED_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/informer-sim/quiescence.h"

struct talk_server;

/* hold: keep every request waiting. Aborts when it cannot be had. */
struct talk_server *talk_server_new(bool hold);
void talk_server_free(struct talk_server *s);

unsigned talk_server_port(const struct talk_server *s);
void talk_server_rest(struct talk_server *s, struct sim_quiescence *ret);
/* It has closed its port. */
bool talk_server_is_down(const struct talk_server *s);

/*
 * Do what a line behind `server` says. 0, or -EINVAL with what is wrong in *ret_error (free it). The text is
 * changed.
 */
int talk_server_do(struct talk_server *s, char *text, char **ret_error);

/* The requests that are held, each ended by a newline, as GET /sim/held; free() it. */
char *talk_server_held(struct talk_server *s);
/*
 * Answer the one held longest by an action of the fault language; "": as if nobody had held it. As
 * talk_server_do().
 */
int talk_server_answer(struct talk_server *s, const char *action, char **ret_error);
/* Add a line of the fault language; what streams are open look at it now. As talk_server_do(). */
int talk_server_rule(struct talk_server *s, const char *rule, char **ret_error);

/*
 * Events that the server's state does not make, as lines of a watch: "MODIFIED a@15 ADDED s@31:kind=Service
 * DELETED b@16:uid=another", each a type and a pod. A pod that the server has has its uid there. *ret is for
 * `say`; free it. As talk_server_do(); the text is changed.
 */
int talk_server_events(struct talk_server *s, char *text, char **ret, char **ret_error);

/* GET /sim/log from its n-th line on; free() it. */
char *talk_server_log(struct talk_server *s, size_t n);

#endif
