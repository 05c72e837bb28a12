/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the configuration as a whole; see gateway_config.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/config/gateway_config.h"
#include "tools/informer-gateway/http/loopback.h"
#include "writer/base/listen_address.h"
#include "writer/base/message.h"

#define P(name) (1u << GW_PROFILE_##name)
#define TLS (P(TOKENS) | P(CERTIFICATES))
#define ALL (P(UNIX) | TLS | P(INSECURE))

/* Check that the listener has the settings that its profile requires, and none that the profile ignores. */
static int
check_parts(const struct gw_listener_config *l, char **ret_error)
{
	const struct {
		const char *field, *flag;
		bool has;
		unsigned may, must; /* profiles, as bits P() */
	} parts[] = {
		{"certificate", "--tls-cert", l->certificate, TLS, TLS},
		{"key", "--tls-key", l->key, TLS, TLS},
		{"clientCA", "--client-ca", l->client_ca, P(CERTIFICATES), P(CERTIFICATES)},
		{"clientNames", "--client-name", l->client_names.count > 0, P(CERTIFICATES), P(CERTIFICATES)},
		{"uids or gids", "--allow-uid or --allow-gid", l->uids.count + l->gids.count > 0, P(UNIX),
		 P(UNIX)},
		{"audiences", NULL, l->audiences.count > 0, P(TOKENS), 0},
		{"scope", "--allow", l->scope.count > 0, ALL, ALL & ~P(TOKENS)},
		{"openHealth", NULL, l->open_health, P(TOKENS), 0},
		{"passThrough", NULL, l->pass_through, ALL & ~P(INSECURE), 0},
		{"freshness: strict", NULL, l->strict, ALL & ~P(INSECURE), 0},
	};
	unsigned profile = 1u << l->profile;
	bool by_flags = strncmp(l->origin, "--", 2) == 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const char *name = by_flags && parts[i].flag ? parts[i].flag : parts[i].field;

		if (!parts[i].has && (parts[i].must & profile))
			return message_set(ret_error, -EINVAL, "%s: a listener of profile %s needs %s",
					   l->origin, gw_profile_name(l->profile), name);
		if (parts[i].has && !(parts[i].may & profile))
			return message_set(ret_error, -EINVAL,
					   "%s: %s does not belong to a listener of profile %s", l->origin,
					   name, gw_profile_name(l->profile));
	}
	return 0;
}

/* ---- addresses ---- */

static int
check_address(const struct gw_listener_config *l, char **ret_error)
{
	_cleanup_(message_freep) char *error = NULL;
	struct listen_address address;
	bool is_unix;

	if (listen_address_parse(l->listen, &address, &error) < 0)
		return message_set(ret_error, -EINVAL, "%s: %s", l->origin, error ? error : "no memory");
	is_unix = address.address.ss_family == AF_UNIX;
	if (is_unix != (l->profile == GW_PROFILE_UNIX))
		return message_set(ret_error, -EINVAL, "%s: %s a listener of profile %s", l->origin,
				   is_unix ? "a Unix socket is not for"
					   : "only a Unix socket (unix:/PATH) is for",
				   gw_profile_name(l->profile));
	if (l->profile == GW_PROFILE_INSECURE && !gw_loopback_address(&address.address))
		return message_set(
			ret_error, -EINVAL,
			"%s: plain HTTP without identity is for 127.0.0.1 and [::1] alone, not for %s",
			l->origin, l->listen);
	return 0;
}

/* ---- listeners ---- */

static int
check_listener(const struct gw_listener_config *l, char **ret_error)
{
	int r;

	if (!l->listen)
		return message_set(ret_error, -EINVAL,
				   "%s: this listener has no address (listen), such as 127.0.0.1:8443",
				   l->origin);
	if (l->profile == GW_PROFILE_NONE)
		return message_set(
			ret_error, -EINVAL,
			"%s: who may use this listener? Say its profile: unix, tokens, certificates "
			"or insecure-loopback",
			l->origin);
	r = check_address(l, ret_error);
	if (r == 0)
		r = check_parts(l, ret_error);
	if (r < 0)
		return r;
	if (l->strict && !l->pass_through)
		return message_set(ret_error, -EINVAL,
				   "%s: freshness: strict passes reads without a resourceVersion through to "
				   "the API server: add passThrough: true",
				   l->origin);
	if (l->profile == GW_PROFILE_INSECURE && gw_scope_names(&l->scope, "secrets"))
		return message_set(ret_error, -EINVAL,
				   "%s: secrets are not given to everybody on this machine", l->origin);
	return 0;
}

static int
check_pair(const struct gw_listener_config *a, const struct gw_listener_config *b, char **ret_error)
{
	const char *port = strrchr(a->listen, ':');

	if (strcmp(a->name, b->name) == 0)
		return message_set(ret_error, -EINVAL, "%s and %s: two listeners are named %s", a->origin,
				   b->origin, a->name);
	/* port 0 gives each listener a port of its own */
	if (strcmp(a->listen, b->listen) == 0 && (!port || strcmp(port, ":0") != 0))
		return message_set(ret_error, -EINVAL, "%s and %s: two listeners are at %s", a->origin,
				   b->origin, a->listen);
	if (a->inherit_fd >= 0 && a->inherit_fd == b->inherit_fd)
		return message_set(ret_error, -EINVAL, "%s and %s: two listeners inherit descriptor %d",
				   a->origin, b->origin, a->inherit_fd);
	return 0;
}

int
gw_config_check(const struct gw_config *config, char **ret_error)
{
	int r = 0;

	if (config->listener_count == 0)
		return message_set(
			ret_error, -EINVAL,
			"there is no listener: use --config FILE, or --listen ADDRESS with --profile");
	for (size_t i = 0; i < config->listener_count && r == 0; i++)
		r = check_listener(&config->listeners[i], ret_error);
	for (size_t i = 0; i < config->listener_count && r == 0; i++)
		for (size_t j = 0; j < i && r == 0; j++)
			r = check_pair(&config->listeners[j], &config->listeners[i], ret_error);
	if (r == 0 && config->access.keep_refused_ms > config->access.keep_allowed_ms)
		r = message_set(ret_error, -EINVAL,
				"refusals may not be kept for longer than what was allowed");
	return r;
}

/* ---- warnings ---- */

static void
write_texts(FILE *out, const struct gw_texts *texts, const char *before)
{
	for (size_t i = 0; i < texts->count; i++)
		fprintf(out, "%s%s", i ? ", " : before, texts->items[i]);
}

char *
gw_config_warning(const struct gw_listener_config *listener)
{
	char *text = NULL;
	size_t length;
	FILE *out;

	if (listener->profile != GW_PROFILE_INSECURE || !(out = open_memstream(&text, &length)))
		return NULL;
	fprintf(out,
		"%s is plain HTTP without identity: every process on this machine, and every Pod in the "
		"host's network, may read",
		listener->listen);
	for (size_t i = 0; i < listener->scope.count; i++) {
		const struct gw_rule *rule = &listener->scope.rules[i];

		write_texts(out, &rule->resources, i ? "; " : " ");
		write_texts(out, &rule->paths, i ? "; " : " ");
		write_texts(out, &rule->namespaces, " in ");
		if (rule->resources.count > 0 && rule->namespaces.count == 0)
			fputs(" in all namespaces", out);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
