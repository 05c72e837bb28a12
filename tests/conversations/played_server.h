/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of a conversation: informer-sim within this process, on a port of its own. The script changes
 * its pods. Every request is held until the script says how to answer it.
 *
 * Threads: the test's. The server has its own.
 */
#ifndef TESTS_CONVERSATIONS_PLAYED_SERVER_H
#define TESTS_CONVERSATIONS_PLAYED_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/informer-sim/quiescence.h"

struct talk_server;

/* hold: keep every request waiting. Aborts when the server cannot start. */
struct talk_server *talk_server_new(bool hold);
void talk_server_free(struct talk_server *s);

unsigned talk_server_port(const struct talk_server *s);
void talk_server_rest(struct talk_server *s, struct sim_quiescence *ret);
/* True if the server has closed its port. */
bool talk_server_is_down(const struct talk_server *s);

/*
 * Do what a line behind `server` says. Returns 0, or -EINVAL with the fault in *ret_error (free it). Changes
 * text.
 */
int talk_server_do(struct talk_server *s, char *text, char **ret_error);

/* The held requests, each ended by a newline, as in GET /sim/held. Free it. */
char *talk_server_held(struct talk_server *s);
/*
 * Answer the request held longest by an action of the fault language. "" answers as usual. Returns as
 * talk_server_do().
 */
int talk_server_answer(struct talk_server *s, const char *action, char **ret_error);
/* Add a line of the fault language; open streams apply it at once. Returns as talk_server_do(). */
int talk_server_rule(struct talk_server *s, const char *rule, char **ret_error);

/*
 * Makes lines of a watch from "MODIFIED a@15 ADDED s@31:kind=Service DELETED b@16:uid=another", each a type
 * and a pod. The server's state does not change. A pod that the server has gets its uid. *ret is for `say`;
 * free it. Returns as talk_server_do(). Changes text.
 */
int talk_server_events(struct talk_server *s, char *text, char **ret, char **ret_error);

/* The lines of GET /sim/log from number n on. Free it. */
char *talk_server_log(struct talk_server *s, size_t n);

#endif
