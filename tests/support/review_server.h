/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An API server as far as reviews go: it knows some tokens, and who may do what, and answers when the test
 * says so; or not, or something else.
 */
#ifndef TESTS_SUPPORT_REVIEW_SERVER_H
#define TESTS_SUPPORT_REVIEW_SERVER_H

#include "tools/informer-gateway/upstream/upstream.h"

/* A token: whose it is, and for which audience; NULL: the API server's own. */
struct review_token {
	const char *token, *user, *group, *audience;
};

/* A grant; "*" and NULL are anything, as names of users and groups, too. */
struct review_grant {
	const char *who; /* a user, or a group */
	const char *verb, *group, *resource, *namespace_, *name;
	const char *field; /* the field selector must be this one */
	const char *path;
};

struct review_server {
	const struct review_token *tokens; /* token NULL ends */
	const struct review_grant *grants; /* who NULL ends */
	int code;                          /* instead of an answer; 0: none */
	const char *body;                  /* and this one; NULL: an empty one */
	const char *reason;                /* of refusals */
	unsigned token_reviews, access_reviews, cancelled;
	char *last;                /* the last document */
	struct review_call *calls; /* under way, the oldest first */
};

struct gw_review_way review_server_way(struct review_server *server);
/* Answer what is under way, and what is asked then. */
void review_server_answer(struct review_server *server);
/* How many are under way. */
unsigned review_server_waiting(const struct review_server *server);
void review_server_done(struct review_server *server);

#endif
