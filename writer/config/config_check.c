/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a configuration as a whole; see config_check.h. */
#include "writer/config/config_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "writer/base/message.h"
#include "writer/config/config_parse.h"

#define SECRETS_HOW                                                                                          \
	"whoever may read this daemon's socket could then read every Secret; if that is wanted, set "        \
	"allowSecrets: true in the configuration file (--config), best in an instance of its own"

/* Check the backoff with its defaults filled in. */
static int
check_backoff(const struct config *config, char **ret_error)
{
	struct backoff_pace pace = backoff_pace_filled(config->backoff);

	if (pace.first_ms > pace.max_ms)
		return message_set(ret_error, -EINVAL,
				   "the first wait after a failure, %" PRIu64 " ms, is longer than the "
				   "longest, %" PRIu64 " ms: set both --backoff-initial and --backoff-max "
				   "(backoff: initial, max)",
				   pace.first_ms, pace.max_ms);
	if (pace.reset_ms < 2 * pace.max_ms)
		return message_set(ret_error, -EINVAL,
				   "--backoff-reset (backoff: reset) is %" PRIu64 " ms; it must be at least "
				   "twice the longest wait, %" PRIu64 " ms: else waiting alone resets it",
				   pace.reset_ms, pace.max_ms);
	return 0;
}

int
config_check(const struct config *config, char **ret_error)
{
	int r = check_backoff(config, ret_error);

	if (r < 0)
		return r;

	if (config->n_resources == 0)
		return message_set(ret_error, -EINVAL,
				   "nothing to cache: name a resource, for example --resource pods, or "
				   "resources: in the configuration file, or use --preset node-agent");
	if (config->namespace_)
		r = config_check_namespace(config->namespace_, ret_error);
	for (size_t i = 0; i < config->n_resources && r == 0; i++) {
		const char *name = config->resources[i].resource;

		/* these spellings fail at once; others fail after discovery */
		if (!config->allow_secrets &&
		    (strcasecmp(name, "secrets") == 0 || strcasecmp(name, "secret") == 0))
			r = message_set(ret_error, -EPERM,
					"%s: Secrets are not cached by default: " SECRETS_HOW,
					config->resources[i].origin);
	}
	for (size_t i = 0; i < config->n_indexes && r == 0; i++)
		for (size_t j = 0; j < i && r == 0; j++)
			if (strcmp(config->indexes[i].name, config->indexes[j].name) == 0 &&
			    strcmp(config->indexes[i].resource, config->indexes[j].resource) == 0)
				r = message_set(ret_error, -EINVAL, "index '%s' is declared twice: %s and %s",
						config->indexes[i].name, config->indexes[j].origin,
						config->indexes[i].origin);
	return r;
}

const char **
config_names(const struct config *config)
{
	const char **names = calloc(config->n_resources + config->n_indexes + 1, sizeof(*names));

	for (size_t i = 0; names && i < config->n_resources; i++)
		names[i] = config->resources[i].resource;
	for (size_t i = 0; names && i < config->n_indexes; i++)
		names[config->n_resources + i] = config->indexes[i].resource;
	return names;
}

/* ---- after discovery ---- */

static bool
is_same(const struct kube_resource *a, const struct kube_resource *b)
{
	return a && b && strcmp(a->group, b->group) == 0 && strcmp(a->resource, b->resource) == 0;
}

static int
check_resource(struct config *config, size_t i, const struct kube_resource *const *resolved, char **ret_error)
{
	struct config_resource *resource = &config->resources[i];
	const struct kube_resource *is = resolved[i];

	if (!*is->group && strcmp(is->resource, "secrets") == 0 && !config->allow_secrets)
		return message_set(ret_error, -EPERM, "%s: Secrets are not cached by default: " SECRETS_HOW,
				   resource->origin);
	if (!is->namespaced && resource->namespace_) {
		if (!resource->namespace_is_default)
			return message_set(ret_error, -EINVAL,
					   "%s: %s have no namespace; leave namespace '%s' away",
					   resource->origin, is->resource, resource->namespace_);
		free(resource->namespace_);
		resource->namespace_ = NULL;
	}
	for (size_t j = 0; j < i; j++) {
		const struct config_resource *other = &config->resources[j];

		if (!is_same(resolved[j], is))
			continue;
		if (!resource->namespace_ || !other->namespace_ ||
		    strcmp(resource->namespace_, other->namespace_) == 0)
			return message_set(ret_error, -EINVAL,
					   "%s and %s are both %s and not disjoint: give each a namespace of "
					   "its own, or join "
					   "them into one",
					   other->origin, resource->origin, is->resource);
	}
	return 0;
}

static int
check_index(const struct config *config, size_t i, const struct kube_resource *const *resolved,
	    char **ret_error)
{
	const struct config_index *index = &config->indexes[i];
	const struct kube_resource *is = resolved[config->n_resources + i];
	bool cached = false;

	for (size_t j = 0; j < config->n_resources && !cached; j++)
		cached = is_same(resolved[j], is);
	if (!cached)
		return message_set(ret_error, -EINVAL,
				   "%s: index '%s' is over %s, which are not cached; add --resource %s",
				   index->origin, index->name, is->resource, index->resource);
	return 0;
}

int
config_check_resolved(struct config *config, const struct kube_resource *const *resolved, char **ret_error)
{
	int r = 0;

	for (size_t i = 0; i < config->n_resources && r == 0; i++)
		if (resolved[i])
			r = check_resource(config, i, resolved, ret_error);
	for (size_t i = 0; i < config->n_indexes && r == 0; i++)
		if (resolved[config->n_resources + i])
			r = check_index(config, i, resolved, ret_error);
	return r;
}
