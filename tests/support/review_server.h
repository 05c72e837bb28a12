/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An API server for reviews: it knows some tokens and grants. It answers when the test says so, also with an
 * error or any body.
 */
#ifndef TESTS_SUPPORT_REVIEW_SERVER_H
#define TESTS_SUPPORT_REVIEW_SERVER_H

#include "tools/informer-gateway/upstream/upstream.h"

/* A token with its user and audience; audience NULL: the API server's own. */
struct review_token {
	const char *token, *user, *group, *audience;
};

/* A grant; "*" and NULL match anything, also names of users and groups. resource: "pods", "pods/log" */
struct review_grant {
	const char *who; /* a user, or a group */
	const char *verb, *group, *resource, *namespace_, *name;
	const char *field; /* the required field selector */
	const char *path;
};

struct review_server {
	const struct review_token *tokens; /* ends with token NULL */
	const struct review_grant *grants; /* ends with who NULL */
	int code;                          /* answer with this code; 0: answer properly */
	const char *body;                  /* and this body; NULL: empty */
	const char *reason;                /* of refusals */
	unsigned token_reviews, access_reviews, cancelled;
	char *last;                /* the last document */
	struct review_call *calls; /* pending, the oldest first */
};

struct gw_review_way review_server_way(struct review_server *server);
/* Answer all pending requests, and those that follow from the answers. */
void review_server_answer(struct review_server *server);
/* The number of pending requests. */
unsigned review_server_waiting(const struct review_server *server);
void review_server_done(struct review_server *server);

#endif
