/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration: merging, defaults, and checks after discovery; see config.h. */
#include "writer/config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>
#include <unistd.h>

#include <sodium.h>

#include "writer/config/config_expand.h"
#include "writer/config/config_parse.h"
#include "writer/config/config_entry.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/config/default_socket.h"
#include "writer/config/options.h"

#define SECRETS_HOW                                                                                          \
	"whoever may read this daemon's socket could then read every Secret; if that is wanted, set "        \
	"allowSecrets: true in the configuration file (--config), best in an instance of its own"

static void
free_strings(char **strings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(strings[i]);
	free(strings);
}

void
config_index_done(struct config_index *index)
{
	free(index->name);
	free(index->resource);
	free_strings(index->paths, index->n_paths);
	free(index->split);
	free(index->origin);
	memset(index, 0, sizeof(*index));
}

void
config_done(struct config *config)
{
	server_choice_done(&config->connection);
	free(config->namespace_);
	for (size_t i = 0; i < config->n_resources; i++)
		config_resource_done(&config->resources[i]);
	free(config->resources);
	for (size_t i = 0; i < config->n_indexes; i++)
		config_index_done(&config->indexes[i]);
	free(config->indexes);
	free(config->socket);
	free(config->arena_dir);
	free(config->arena_name);
	free(config->metrics_address);
	free(config->allow_uids);
	free(config->allow_gids);
	memset(config, 0, sizeof(*config));
}

/* ---- adding ---------------------------------------------------------------------------------- */

int
config_take_index(struct config *config, struct config_index *index, char **ret_error)
{
	struct config_index *larger;
	int r = -ENOMEM;

	if (config->n_indexes >= CONFIG_MAX_INDEXES) {
		r = message_set(ret_error, -E2BIG, "%s: more than %d indexes", index->origin,
				CONFIG_MAX_INDEXES);
		goto fail;
	}
	larger = reallocarray(config->indexes, config->n_indexes + 1, sizeof(*larger));
	if (!larger)
		goto fail;
	config->indexes = larger;
	larger[config->n_indexes++] = *index;
	memset(index, 0, sizeof(*index));
	return 0;
fail:
	config_index_done(index);
	return r;
}

int
config_add_index(struct config *config, const char *text, char **ret_error)
{
	struct config_index index;
	int r;

	r = config_parse_index(text, &index, ret_error);
	if (r < 0)
		return r;
	if (asprintf(&index.origin, "--index %s", text) < 0) {
		index.origin = NULL;
		config_index_done(&index);
		return -ENOMEM;
	}
	return config_take_index(config, &index, ret_error);
}

int
config_add_uid(struct config *config, uid_t uid)
{
	uid_t *larger = reallocarray(config->allow_uids, config->n_allow_uids + 1, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	config->allow_uids = larger;
	larger[config->n_allow_uids++] = uid;
	return 0;
}

int
config_add_gid(struct config *config, gid_t gid)
{
	gid_t *larger = reallocarray(config->allow_gids, config->n_allow_gids + 1, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	config->allow_gids = larger;
	larger[config->n_allow_gids++] = gid;
	return 0;
}

/* ---- merging --------------------------------------------------------------------------------- */

static int
copy_over(char **field, const char *flag)
{
	char *copy;

	if (!flag)
		return 0;
	copy = strdup(flag);
	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

static bool
copy_opt(char **ret, const char *from)
{
	return !from || (*ret = strdup(from));
}

static char **
copy_strings(char *const *from, size_t n)
{
	char **copy = calloc(n + 1, sizeof(*copy));

	for (size_t i = 0; copy && i < n; i++)
		if (!(copy[i] = strdup(from[i]))) {
			free_strings(copy, i);
			return NULL;
		}
	return copy;
}

static int
merge_index(struct config *config, const struct config_index *from, char **ret_error)
{
	struct config_index copy = {0};

	if (!copy_opt(&copy.name, from->name) || !copy_opt(&copy.resource, from->resource) ||
	    !copy_opt(&copy.split, from->split) || !copy_opt(&copy.origin, from->origin) ||
	    !(copy.paths = copy_strings(from->paths, from->n_paths))) {
		config_index_done(&copy);
		return -ENOMEM;
	}
	copy.n_paths = from->n_paths;
	return config_take_index(config, &copy, ret_error);
}

static int
merge(struct config *config, const struct config *flags, char **ret_error)
{
	int r = 0;

	if ((r = server_choice_merge(&config->connection, &flags->connection)) < 0 ||
	    (r = copy_over(&config->namespace_, flags->namespace_)) < 0 ||
	    (r = copy_over(&config->socket, flags->socket)) < 0 ||
	    (r = copy_over(&config->arena_dir, flags->arena_dir)) < 0 ||
	    (r = copy_over(&config->arena_name, flags->arena_name)) < 0 ||
	    (r = copy_over(&config->metrics_address, flags->metrics_address)) < 0)
		return r;
	for (size_t i = 0; i < flags->n_resources && r == 0; i++)
		r = config_merge_resource(config, &flags->resources[i], ret_error);
	for (size_t i = 0; i < flags->n_indexes && r == 0; i++)
		r = merge_index(config, &flags->indexes[i], ret_error);
	for (size_t i = 0; i < flags->n_allow_uids && r == 0; i++)
		r = config_add_uid(config, flags->allow_uids[i]);
	for (size_t i = 0; i < flags->n_allow_gids && r == 0; i++)
		r = config_add_gid(config, flags->allow_gids[i]);
	if (flags->arena_max_bytes)
		config->arena_max_bytes = flags->arena_max_bytes;
	if (flags->max_readers)
		config->max_readers = flags->max_readers;
	if (flags->log_level >= 0)
		config->log_level = flags->log_level;
	if (flags->watch_list != CONFIG_NOT_SAID)
		config->watch_list = flags->watch_list;
	config->keep_managed_fields |= flags->keep_managed_fields;
	config->allow_secrets |= flags->allow_secrets;
	return r;
}

/* ---- defaults and checks before discovery --------------------------------------------------------- */

/* "informer" for the socket that root's daemon has by default, else a name of the socket's own. */
static char *
default_arena_name(const char *socket)
{
	unsigned char hash[crypto_generichash_BYTES_MIN];
	char *absolute = NULL, *name = NULL, folder[4096];

	if (strcmp(socket, "/run/informer/informer.sock") == 0)
		return strdup("informer");
	if (*socket != '/' && getcwd(folder, sizeof(folder)) &&
	    asprintf(&absolute, "%s/%s", folder, socket) < 0)
		absolute = NULL;
	if (*socket != '/' && !absolute)
		return NULL;
	socket = absolute ? absolute : socket;
	crypto_generichash(hash, sizeof(hash), (const unsigned char *)socket, strlen(socket), NULL, 0);
	if (asprintf(&name, "informer-%02x%02x%02x%02x%02x%02x", hash[0], hash[1], hash[2], hash[3], hash[4],
		     hash[5]) < 0)
		name = NULL;
	free(absolute);
	return name;
}

static int
fill_defaults(struct config *config, char **ret_error)
{
	int r;

	if (!config->socket)
		config->socket = default_socket();
	if (!config->socket)
		return -ENOMEM;
	if (strlen(config->socket) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return message_set(ret_error, -EINVAL,
				   "the socket's path is too long (%zu bytes, the system allows %zu): %s; "
				   "choose a shorter one "
				   "with --socket",
				   strlen(config->socket), sizeof(((struct sockaddr_un *)0)->sun_path) - 1,
				   config->socket);
	if (!config->arena_name)
		config->arena_name = default_arena_name(config->socket);
	if (!config->arena_name)
		return -ENOMEM;
	if (strchr(config->arena_name, '/') || *config->arena_name == '.' || !*config->arena_name ||
	    strlen(config->arena_name) > 200)
		return message_set(ret_error, -EINVAL,
				   "the arena's name '%s' must be a plain file name without '/'",
				   config->arena_name);
	if (config->arena_dir && *config->arena_dir != '/')
		return message_set(ret_error, -EINVAL, "the arena's folder '%s' must be an absolute path",
				   config->arena_dir);
	if (!config->max_readers)
		config->max_readers = CONFIG_DEFAULT_MAX_READERS;
	if (config->log_level < 0)
		config->log_level = LOG_LEVEL_INFO;
	if (config->watch_list == CONFIG_NOT_SAID)
		config->watch_list = CONFIG_YES;
	r = config_expand(&config->namespace_, ret_error);
	if (r < 0)
		return r;
	for (size_t i = 0; i < config->n_resources; i++) {
		struct config_resource *resource = &config->resources[i];

		if (resource->watch_list == CONFIG_NOT_SAID)
			resource->watch_list = config->watch_list;
		if (!config->namespace_)
			continue;
		if (resource->namespace_)
			continue;
		resource->namespace_ = strdup(config->namespace_);
		if (!resource->namespace_)
			return -ENOMEM;
		resource->namespace_is_default = true;
	}
	return 0;
}

static int
check(const struct config *config, char **ret_error)
{
	int r = 0;

	if (config->n_resources == 0)
		return message_set(ret_error, -EINVAL,
				   "nothing to cache: name a resource, for example --resource pods, or "
				   "resources: in the configuration file");
	if (config->namespace_)
		r = config_check_namespace(config->namespace_, ret_error);
	for (size_t i = 0; i < config->n_resources && r == 0; i++) {
		const char *name = config->resources[i].resource;

		/* the plain spelling fails at once; others do after discovery */
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

int
config_build(const struct options *options, struct config *ret_config, char **ret_error)
{
	struct config config = {.log_level = -1};
	int r = 0;

	if (options->config_path)
		r = config_load(options->config_path, &config, ret_error);
	if (r < 0)
		return r;
	r = merge(&config, &options->flags, ret_error);
	if (r == 0)
		r = fill_defaults(&config, ret_error);
	if (r == 0)
		r = check(&config, ret_error);
	if (r < 0) {
		config_done(&config);
		return r;
	}
	*ret_config = config;
	return 0;
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

/* ---- checks after discovery ------------------------------------------------------------------------ */

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
	for (size_t j = 0; j < i; j++)
		if (strcmp(config->indexes[j].name, index->name) == 0 &&
		    is_same(resolved[config->n_resources + j], is))
			return message_set(ret_error, -EINVAL, "index '%s' is declared twice: %s and %s",
					   index->name, config->indexes[j].origin, index->origin);
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
