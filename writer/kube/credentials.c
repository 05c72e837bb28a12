/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials, kept fresh; see credentials.h. */
#include "writer/kube/credentials.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "writer/base/file.h"
#include "writer/kube/exec_plugin.h"
#include "writer/base/message.h"

int
credentials_init(struct credentials *credentials, uv_loop_t *loop, const struct kube_client_config *config,
		 void (*on_change)(void *ctx), void *ctx)
{
	*credentials = (struct credentials){
		.config = config, .loop = loop, .on_change = on_change, .ctx = ctx};
	credentials->pair.stale = true;
	return token_init(&credentials->token, config);
}

void
credentials_done(struct credentials *credentials)
{
	exec_plugin_cancel(credentials->plugin);
	exec_credential_done(&credentials->given);
	token_done(&credentials->token);
	kube_pem_done(&credentials->pair.cert);
	kube_pem_done(&credentials->pair.key);
	free(credentials->plugin_error);
	memset(credentials, 0, sizeof(*credentials));
}

/* ---- the files of a client certificate ----------------------------------------------------- */

static bool
is_same(const struct kube_pem *a, const struct kube_pem *b)
{
	return a->data && b->data && a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static int
refresh_pair(struct credentials *c, char **ret_error)
{
	struct client_pair *pair = &c->pair;
	struct kube_pem cert = {0}, key = {0};
	int r;

	r = kube_pem_read(&c->config->client_cert, &cert, ret_error);
	if (r == 0)
		r = kube_pem_read(&c->config->client_key, &key, ret_error);
	if (r < 0 || (is_same(&cert, &pair->cert) && is_same(&key, &pair->key))) {
		kube_pem_done(&cert);
		kube_pem_done(&key);
	} else {
		kube_pem_done(&pair->cert);
		kube_pem_done(&pair->key);
		pair->cert = cert;
		pair->key = key;
		c->generation++;
	}
	return r < 0 && !pair->cert.data ? r : 0;
}

static bool
pair_is_in_files(const struct credentials *c)
{
	return (c->config->client_cert.file && !c->config->client_cert.data) ||
	       (c->config->client_key.file && !c->config->client_key.data);
}

static int
get_pair(struct credentials *c, uint64_t now_ms, struct credentials_now *ret, char **ret_error)
{
	struct client_pair *pair = &c->pair;
	bool old = pair_is_in_files(c) && now_ms - pair->read_at_ms >= TOKEN_REREAD_S * 1000ull;

	if (!pair->cert.data || pair->stale || old) {
		int r = refresh_pair(c, ret_error);

		if (r < 0)
			return r;
		pair->read_at_ms = now_ms;
		pair->stale = false;
	}
	ret->cert = &pair->cert;
	ret->key = &pair->key;
	return 0;
}

/* ---- a plugin -------------------------------------------------------------------------------- */

static void
on_plugin_done(void *ctx, struct exec_credential *credential, const char *error)
{
	struct credentials *c = ctx;

	c->plugin = NULL;
	c->ran_at_ms = uv_now(c->loop);
	free(c->plugin_error);
	c->plugin_error = NULL;
	if (credential) {
		exec_credential_done(&c->given);
		c->given = *credential;
		c->has_given = true;
		c->refused = false;
		c->generation++;
	} else {
		c->plugin_error = strdup(error);
	}
	c->on_change(c->ctx);
}

static int
get_given(struct credentials *c, uint64_t now_ms, struct credentials_now *ret, char **ret_error)
{
	bool just_ran = c->ran_at_ms && now_ms - c->ran_at_ms < EXEC_MIN_INTERVAL_MS;
	bool expired = c->has_given && !just_ran && time(NULL) >= c->given.expires_s;
	int r;

	if (c->plugin)
		return -EAGAIN;
	if (c->plugin_error && just_ran)
		return message_set(ret_error, -EACCES, "%s", c->plugin_error);
	if (!c->has_given || c->refused || expired) {
		r = exec_plugin_start(c->loop, c->config, on_plugin_done, c, &c->plugin, ret_error);
		return r < 0 ? r : -EAGAIN;
	}
	ret->bearer = c->given.token;
	if (c->given.cert.data) {
		ret->cert = &c->given.cert;
		ret->key = &c->given.key;
	}
	return 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

int
credentials_get(struct credentials *credentials, struct credentials_now *ret, char **ret_error)
{
	uint64_t now_ms = uv_now(credentials->loop);
	int r = 0;

	*ret = (struct credentials_now){0};
	if (credentials->config->exec.command) {
		r = get_given(credentials, now_ms, ret, ret_error);
	} else {
		r = token_get(&credentials->token, now_ms, &ret->bearer, ret_error);
		if (r == 0 && kube_pem_given(&credentials->config->client_cert))
			r = get_pair(credentials, now_ms, ret, ret_error);
	}
	ret->generation = credentials->generation + credentials->token.changes;
	return r;
}

void
credentials_at_hand(const struct credentials *credentials, struct credentials_now *ret)
{
	const struct kube_pem *cert = &credentials->pair.cert, *key = &credentials->pair.key;

	*ret = (struct credentials_now){.bearer = credentials->token.value,
					.generation = credentials->generation + credentials->token.changes};
	if (credentials->config->exec.command) {
		ret->bearer = credentials->has_given ? credentials->given.token : NULL;
		cert = &credentials->given.cert;
		key = &credentials->given.key;
	}
	if (cert->data && key->data) {
		ret->cert = cert;
		ret->key = key;
	}
}

bool
credentials_refuse(struct credentials *credentials, unsigned long generation)
{
	bool can_change = credentials->config->exec.command || credentials->token.file ||
			  pair_is_in_files(credentials);

	if (can_change && generation == credentials->generation + credentials->token.changes) {
		credentials->refused = true;
		credentials->pair.stale = true;
		token_reject(&credentials->token);
	}
	return can_change;
}
