/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials: who we say that we are, kept fresh: a token file (that of a service account is
 * rotated by the kubelet), the files of a client
 * certificate, or a credential plugin (exec_plugin.h); or what stands fixed in the configuration.
 *
 * Files are read again after CREDENTIALS_REREAD_S seconds and at once after the server refused what was in
 * them; while that fails the last good ones are used on. A plugin is run when nothing of it is
 * there, when that has expired, or when it was refused; requests wait for it, and share one run. It is not
 * run more often than once in EXEC_MIN_INTERVAL_MS, but for a refusal.
 *
 * Threads   one, the loop's
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
	unsigned long generation; /* grows whenever what is sent changes */
	char *token;              /* last known to be good, as the two behind it; or NULL */
	struct kube_pem cert, key;
	uint64_t read_at_ms;
	bool stale;                 /* to be read again */
	struct exec_plugin *plugin; /* running, or NULL */
	struct exec_credential given; /* by the plugin */
	bool has_given, refused;
	uint64_t ran_at_ms;
	char *plugin_error; /* of the last run, or NULL */
};

/* What to send now; borrowed until the loop goes on. */
struct credentials_now {
	unsigned long generation;
	const char *bearer;		   /* or NULL */
	const struct kube_pem *cert, *key; /* both with data, or both NULL */
};

/*
 * on_change  called from the loop when a plugin has ended, well or not
 * Returns    0 or -ENOMEM; reads and runs nothing yet
 */
int credentials_init(struct credentials *credentials, uv_loop_t *loop,
		     const struct kube_client_config *config, void (*on_change)(void *ctx), void *ctx);

/* Kills a plugin that runs; the loop must then run until that is closed. A zeroed one is fine. */
void credentials_done(struct credentials *credentials);

/*
 * What to send at `now_ms` (uv_now()).
 *
 * Returns   0; -EAGAIN: a plugin is running, ask again after on_change(); or a negative errno with message
 *           (which holds no secret) when there is nothing to send
 */
int credentials_get(struct credentials *credentials, uint64_t now_ms, struct credentials_now *ret,
		    char **ret_error);

/* What was shown last, as far as it is there, however old: nothing is read, nothing runs. */
void credentials_at_hand(const struct credentials *credentials, struct credentials_now *ret);

/*
 * The server did not accept what credentials_get() gave with this generation.
 * Returns whether others may be had, so that asking once more is worth it.
 */
bool credentials_refuse(struct credentials *credentials, unsigned long generation);

#endif
