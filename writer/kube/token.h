/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Token: the bearer token of a request, kept fresh. A token file (the service account's
 * is rotated by the kubelet) is read again after TOKEN_REREAD_S seconds, and at once after
 * the server said 401. While a re-read fails the last good token is used on.
 *
 * Threads   one
 */
#ifndef WRITER_KUBE_TOKEN_H
#define WRITER_KUBE_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/kube/client_config.h"

#define TOKEN_REREAD_S 50

struct token {
	char *file;		/* or NULL: the value never changes */
	char *value;		/* or NULL: none known */
	uint64_t read_at_ms;
	bool stale;		/* read again at the next use */
	unsigned long changes;	/* how often the file held another value */
};

/* Returns 0 or -ENOMEM; reads nothing yet. */
int token_init(struct token *token, const struct kube_client_config *config);
void token_done(struct token *token);

/*
 * The token to send at `now_ms` (any monotonic clock). *ret_value is NULL when there is
 * none to send; borrowed until the next call.
 *
 * Returns   0, or a negative errno with message when no token could be read at all,
 *           -EINVAL when the file's content cannot be a token
 */
int token_get(struct token *token, uint64_t now_ms, const char **ret_value, char **ret_error);

/* The server did not accept it: read again at the next use. */
void token_reject(struct token *token);

#endif
