/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration: defaults, words and numbers; see gateway_config.h. */
#include "tools/informer-gateway/config/gateway_config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/serving/buf.h"
#include "writer/base/message.h"
#include "writer/base/number.h"

static const char *const profiles[] = {
	[GW_PROFILE_NONE] = "none",
	[GW_PROFILE_UNIX] = "unix",
	[GW_PROFILE_TOKENS] = "tokens",
	[GW_PROFILE_CERTIFICATES] = "certificates",
	[GW_PROFILE_INSECURE] = "insecure-loopback",
};

/* ---- creating and freeing ---- */

/* $NODE_NAME, or this host's name in lower case, which is the kubelet's default. */
static char *
default_node_name(void)
{
	const char *name = getenv("NODE_NAME");
	char host[256] = "";

	if (name && *name)
		return api_strndup(name, strlen(name));
	gethostname(host, sizeof(host) - 1);
	for (char *c = host; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return api_strndup(host, strlen(host));
}

void
gw_config_init(struct gw_config *config)
{
	*config = (struct gw_config){
		.node_name = default_node_name(),
		.limits = {.connections = 12000,
			   .connections_by_client = 10000,
			   .requests_by_identity = 256,
			   .watches_by_identity = 4096,
			   .header_timeout_ms = 10000,
			   .body_bytes = 3 << 20},
		.access = {.keep_allowed_ms = 120000,
			   .keep_refused_ms = 10000,
			   .review_timeout_ms = 5000,
			   .decisions = 16384,
			   .reviews = 256},
		.history_bytes = 64 << 20,
		.memory_bytes = 512 << 20,
		.drain_ms = 30000,
		.log_level = LOG_LEVEL_INFO,
	};
}

struct gw_listener_config *
gw_config_add_listener(struct gw_config *config)
{
	struct gw_listener_config *listener;

	if (config->listener_count == GW_LISTENERS_MAX)
		return NULL;
	config->listeners = api_realloc(config->listeners,
					(config->listener_count + 1) * sizeof(*config->listeners));
	listener = &config->listeners[config->listener_count++];
	*listener = (struct gw_listener_config)GW_LISTENER_DEFAULTS;
	return listener;
}

void
gw_listener_config_done(struct gw_listener_config *listener)
{
	free(listener->name);
	free(listener->listen);
	free(listener->origin);
	refs_done(&listener->uids);
	refs_done(&listener->gids);
	free(listener->certificate);
	free(listener->key);
	free(listener->client_ca);
	gw_texts_done(&listener->client_names);
	gw_texts_done(&listener->audiences);
	gw_scope_done(&listener->scope);
}

void
gw_config_done(struct gw_config *config)
{
	free(config->socket);
	free(config->node_name);
	server_choice_done(&config->server);
	for (size_t i = 0; i < config->listener_count; i++)
		gw_listener_config_done(&config->listeners[i]);
	free(config->listeners);
	free(config->audit_file);
	*config = (struct gw_config){0};
}

/* ---- values ---- */

const char *
gw_profile_name(enum gw_profile profile)
{
	return profiles[profile];
}

int
gw_take_profile(void *at, const char *text, char **ret_error)
{
	for (enum gw_profile p = GW_PROFILE_UNIX; p <= GW_PROFILE_INSECURE; p++) {
		if (strcmp(text, profiles[p]) == 0) {
			*(enum gw_profile *)at = p;
			return 0;
		}
	}
	return message_set(ret_error, -EINVAL,
			   "'%s' is no profile: unix, tokens, certificates or insecure-loopback", text);
}

int
gw_take_mode(void *at, const char *text, char **ret_error)
{
	size_t length = strspn(text, "01234567");

	if (length == 0 || length > 4 || text[length] || strtoul(text, NULL, 8) > 0777)
		return message_set(ret_error, -EINVAL, "'%s' is no mode of a file, as 0660", text);
	*(unsigned *)at = (unsigned)strtoul(text, NULL, 8);
	return 0;
}

