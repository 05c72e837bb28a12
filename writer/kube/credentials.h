/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials, kept fresh: a token file (the kubelet rotates a service account's), the files of a client
 * certificate, a credential plugin (exec_plugin.h), or fixed values from the configuration.
 *
 * Files are read again after CREDENTIALS_REREAD_S seconds, and at once after the server refused their
 * content. While reading fails, the last good content is used.
 *
 * A plugin is run when there is no credential of it yet, or when its credential has expired or was refused.
 * Requests wait for the run, and share it. Except after a refusal, runs are at least EXEC_MIN_INTERVAL_MS
 * apart.
 *
 * Threads: the loop's thread only.
 */
#ifndef WRITER_KUBE_CREDENTIALS_H
#define WRITER_KUBE_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "writer/kube/client_config.h"
#include "writer/kube/exec_credential.h"

#define EXEC_MIN_INTERVAL_MS 1000
#define CREDENTIALS_REREAD_S 50

struct credentials {
	const struct kube_client_config *config; /* borrowed */
	uv_loop_t *loop;
	void (*on_change)(void *ctx);
	void *ctx;
	unsigned long generation; /* grows when what is sent changes */
	char *token;              /* last good value, as cert and key; or NULL */
	struct kube_pem cert, key;
	uint64_t read_at_ms;
	bool stale;                 /* the files must be read again */
	struct exec_plugin *plugin; /* running, or NULL */
	struct exec_credential given; /* from the plugin */
	bool has_given, refused;
	uint64_t ran_at_ms;
	char *plugin_error; /* error of the last run, or NULL */
};

/* What to send now; borrowed until the next turn of the loop. */
struct credentials_now {
	unsigned long generation;
	const char *bearer;		   /* or NULL */
	const struct kube_pem *cert, *key; /* both with data, or both NULL */
};

/*
 * Initialise; reads and runs nothing yet.
 *
 * on_change  called from the loop when a plugin has ended, with or without success
 * Returns    0 or -ENOMEM
 */
int credentials_init(struct credentials *credentials, uv_loop_t *loop,
		     const struct kube_client_config *config, void (*on_change)(void *ctx), void *ctx);

/* Kill a running plugin; the loop must run on to close it. A zeroed one is fine. */
void credentials_done(struct credentials *credentials);

/*
 * What to send at `now_ms` (uv_now()).
 *
 * Returns  0; -EAGAIN: a plugin is running, call again after on_change(); other negative errno: there is
 *          nothing to send (the message has no secret)
 */
int credentials_get(struct credentials *credentials, uint64_t now_ms, struct credentials_now *ret,
		    char **ret_error);

/* What was sent last, if any, however old. Reads nothing and runs nothing. */
void credentials_at_hand(const struct credentials *credentials, struct credentials_now *ret);

/*
 * The server refused what credentials_get() gave with this generation.
 * Returns whether other credentials may be obtained, so that the request is worth repeating
 */
bool credentials_refuse(struct credentials *credentials, unsigned long generation);

#endif
