/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the gateway's configuration file, and their first line as a rule of a scope: refused with a
 * message, or complete. A configuration that passes the check admits nobody by oversight.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/informer-gateway/config/gateway_file.h"
#include "writer/base/message.h"

static void
rule(const uint8_t *data, size_t size)
{
	static const struct gw_attributes secrets = {"list", "", "v1", "secrets", "", "", "", "", "", ""};
	_cleanup_(message_freep) char *error = NULL;
	struct gw_scope scope = {0};
	char line[1024];

	fuzz_line(data, size, line);
	if (gw_take_rule(&scope, line, &error) < 0)
		must(error && *error && scope.count == 0);
	else
		must(scope.count == 1 && (!gw_scope_allows(&scope, &secrets) || strstr(line, "secrets")));
	gw_scope_done(&scope);
}

static void
checked(const struct gw_config *config)
{
	for (size_t i = 0; i < config->listener_count; i++) {
		const struct gw_listener_config *l = &config->listeners[i];
		char *warning = gw_config_warning(l);

		must(l->profile != GW_PROFILE_NONE && l->listen && l->name);
		must(l->profile != GW_PROFILE_UNIX || l->uids.count + l->gids.count > 0);
		must(l->profile != GW_PROFILE_CERTIFICATES || (l->client_ca && l->client_names.count > 0));
		must(l->profile == GW_PROFILE_TOKENS || l->scope.count > 0);
		must((l->profile == GW_PROFILE_INSECURE) == (warning != NULL));
		free(warning);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gw_config config;
	char *error = NULL;
	int r;

	gw_config_init(&config);
	r = gw_config_load(fuzz_file(data, size), &config, &error);
	must(r == 0 || (error && *error && !strchr(error, '\n')));
	if (r == 0 && gw_config_check(&config, &error) == 0)
		checked(&config);
	else
		must(error && *error);
	free(error);
	gw_config_done(&config);
	rule(data, size);
	return 0;
}
