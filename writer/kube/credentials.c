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

#define TOKEN_MAX_BYTES (1u << 20)

int
credentials_init(struct credentials *credentials, uv_loop_t *loop, const struct kube_client_config *config,
		 void (*on_change)(void *ctx), void *ctx)
{
	*credentials = (struct credentials){
		.config = config, .loop = loop, .on_change = on_change, .ctx = ctx};
	credentials->stale = true;
	if (config->token && !(credentials->token = strdup(config->token)))
		return -ENOMEM;
	return 0;
}

void
credentials_done(struct credentials *credentials)
{
	exec_plugin_cancel(credentials->plugin);
	exec_credential_done(&credentials->given);
	file_wipe_text(credentials->token);
	kube_pem_done(&credentials->cert);
	kube_pem_done(&credentials->key);
	free(credentials->plugin_error);
	memset(credentials, 0, sizeof(*credentials));
}

/* ---- files ----------------------------------------------------------------------------------- */

static int
read_token(const char *path, char **ret_token, char **ret_error)
{
	char *text, *start, *token;
	size_t len, n;
	int r;

	r = file_read(path, TOKEN_MAX_BYTES, &text, &len, ret_error);
	if (r < 0)
		return r;
	start = text + strspn(text, " \t\r\n");
	n = strlen(start);
	while (n > 0 && strchr(" \t\r\n", start[n - 1]))
		n--;
	token = strndup(start, n);
	file_wipe(text, len);
	if (!token)
		return -ENOMEM;
	if (n > 0 && kube_is_printable(token)) {
		*ret_token = token;
		return 0;
	}
	file_wipe_text(token);
	return message_set(ret_error, -EINVAL,
			   n == 0 ? "%s: empty, a token was expected"
				  : "%s: not a token: a character that cannot stand in one",
			   path);
}

/* Read the token file. Fails only if no token is known. */
static int
refresh_token(struct credentials *c, char **ret_error)
{
	char *token;
	int r;

	if (!c->config->token_file)
		return 0;
	r = read_token(c->config->token_file, &token, c->token ? NULL : ret_error);
	if (r < 0)
		return c->token ? 0 : r;
	if (!c->token || strcmp(c->token, token) != 0)
		c->generation++;
	file_wipe_text(c->token);
	c->token = token;
	return 0;
}

static bool
is_same(const struct kube_pem *a, const struct kube_pem *b)
{
	return a->data && b->data && a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* Read certificate and key; replace both or neither. Fails only if none are known. */
static int
refresh_pair(struct credentials *c, char **ret_error)
{
	struct kube_pem cert = {0}, key = {0};
	int r;

	r = kube_pem_read(&c->config->client_cert, &cert, ret_error);
	if (r == 0)
		r = kube_pem_read(&c->config->client_key, &key, ret_error);
	if (r < 0 || (is_same(&cert, &c->cert) && is_same(&key, &c->key))) {
		kube_pem_done(&cert);
		kube_pem_done(&key);
	} else {
		kube_pem_done(&c->cert);
		kube_pem_done(&c->key);
		c->cert = cert;
		c->key = key;
		c->generation++;
	}
	return r < 0 && !c->cert.data ? r : 0;
}

static bool
is_in_files(const struct kube_client_config *config)
{
	return config->token_file || (config->client_cert.file && !config->client_cert.data) ||
	       (config->client_key.file && !config->client_key.data);
}

static int
get_kept(struct credentials *c, uint64_t now_ms, struct credentials_now *ret, char **ret_error)
{
	if (c->stale ||
	    (is_in_files(c->config) && now_ms - c->read_at_ms >= CREDENTIALS_REREAD_S * 1000ull)) {
		int r = refresh_token(c, ret_error);

		if (r == 0 && kube_pem_given(&c->config->client_cert))
			r = refresh_pair(c, ret_error);
		if (r < 0)
			return r;
		c->read_at_ms = now_ms;
		c->stale = false;
	}
	credentials_at_hand(c, ret);
	return 0;
}

/* ---- the plugin ------------------------------------------------------------------------------ */

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

/* ---- all kinds ------------------------------------------------------------------------------- */

int
credentials_get(struct credentials *credentials, uint64_t now_ms, struct credentials_now *ret,
		char **ret_error)
{
	int r;

	*ret = (struct credentials_now){0};
	r = credentials->config->exec.command ? get_given(credentials, now_ms, ret, ret_error)
					      : get_kept(credentials, now_ms, ret, ret_error);
	ret->generation = credentials->generation;
	return r;
}

void
credentials_at_hand(const struct credentials *credentials, struct credentials_now *ret)
{
	const struct kube_pem *cert = &credentials->cert, *key = &credentials->key;

	*ret = (struct credentials_now){.bearer = credentials->token, .generation = credentials->generation};
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
	bool can_change = credentials->config->exec.command || is_in_files(credentials->config);

	if (can_change && generation == credentials->generation)
		credentials->refused = credentials->stale = true;
	return can_change;
}
