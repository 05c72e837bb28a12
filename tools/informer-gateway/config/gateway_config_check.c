/* SPDX-License-Identifier: Apache-2.0 */
/* What a configuration must be as a whole; see gateway_config.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/config/gateway_config.h"
#include "tools/informer-gateway/http/loopback.h"
#include "writer/base/listen_address.h"
#include "writer/base/message.h"

#define P(name) (1u << GW_PROFILE_##name)

/* What a listener can have, for which profiles, and whether these must have it. */
struct part {
	const char *name;
	bool (*has)(const struct gw_listener_config *l);
	unsigned may, must; /* of P() */
};

static bool
has_certificate(const struct gw_listener_config *l)
{
	return l->certificate != NULL;
}

static bool
has_key(const struct gw_listener_config *l)
{
	return l->key != NULL;
}

static bool
has_client_ca(const struct gw_listener_config *l)
{
	return l->client_ca != NULL;
}

static bool
has_client_names(const struct gw_listener_config *l)
{
	return l->client_names.count > 0;
}

static bool
has_ids(const struct gw_listener_config *l)
{
	return l->uids.count + l->gids.count > 0;
}

static bool
has_audiences(const struct gw_listener_config *l)
{
	return l->audiences.count > 0;
}

static bool
has_scope(const struct gw_listener_config *l)
{
	return l->scope.count > 0;
}

static bool
has_open_health(const struct gw_listener_config *l)
{
	return l->open_health;
}

static bool
has_pass_through(const struct gw_listener_config *l)
{
	return l->pass_through;
}

static bool
is_strict(const struct gw_listener_config *l)
{
	return l->freshness == GW_FRESHNESS_STRICT;
}

static bool
has_answers(const struct gw_listener_config *l)
{
	return l->narrow || l->misses_wait || l->deleted_for_ms;
}

static const struct part parts[] = {
	{"certificate", has_certificate, P(TOKENS) | P(CERTIFICATES), P(TOKENS) | P(CERTIFICATES)},
	{"key", has_key, P(TOKENS) | P(CERTIFICATES), P(TOKENS) | P(CERTIFICATES)},
	{"clientCA", has_client_ca, P(CERTIFICATES), P(CERTIFICATES)},
	{"clientNames", has_client_names, P(CERTIFICATES), P(CERTIFICATES)},
	{"uids or gids", has_ids, P(UNIX), P(UNIX)},
	{"audiences", has_audiences, P(TOKENS), 0},
	{"scope", has_scope, P(UNIX) | P(TOKENS) | P(CERTIFICATES) | P(INSECURE),
	 P(UNIX) | P(CERTIFICATES) | P(INSECURE)},
	{"openHealth", has_open_health, P(TOKENS), 0},
	{"passThrough", has_pass_through, P(UNIX) | P(TOKENS) | P(CERTIFICATES), 0},
	{"freshness: strict", is_strict, P(UNIX) | P(TOKENS) | P(CERTIFICATES), 0},
	{"narrow, misses or deletedFor", has_answers, P(UNIX) | P(TOKENS) | P(CERTIFICATES) | P(INSECURE), 0},
};

static int
check_parts(const struct gw_listener_config *l, char **ret_error)
{
	unsigned profile = 1u << l->profile;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const struct part *part = &parts[i];
		bool has = part->has(l);

		if (!has && (part->must & profile))
			return message_set(ret_error, -EINVAL, "%s: a listener of profile %s needs %s",
					   l->origin, gw_profile_name(l->profile), part->name);
		if (has && !(part->may & profile))
			return message_set(ret_error, -EINVAL,
					   "%s: %s does not belong to a listener of profile %s", l->origin,
					   part->name, gw_profile_name(l->profile));
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

	if (!l->listen)
		return message_set(ret_error, -EINVAL, "%s: this listener has no address (listen)",
				   l->origin);
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

/* ---- all of it ---- */

static int
check_listener(const struct gw_listener_config *l, char **ret_error)
{
	int r;

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
	if (is_strict(l) && !l->pass_through)
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
	/* port 0 is another one each time */
	if (strcmp(a->listen, b->listen) == 0 && (!port || strcmp(port, ":0") != 0))
		return message_set(ret_error, -EINVAL, "%s and %s: two listeners are at %s", a->origin,
				   b->origin, a->listen);
	return 0;
}

int
gw_config_check(const struct gw_config *config, char **ret_error)
{
	int r = 0;

	if (config->listener_count == 0)
		return message_set(
			ret_error, -EINVAL,
			"there is no listener: say where, and who may, by --config FILE or --listen");
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
		"host's "
		"network, may read",
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
