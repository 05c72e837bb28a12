/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the meaning of each name in the configuration. Names are learnt from a finished discovery; an
 * optional one may stay unknown.
 */
#include "writer/resource/known_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "writer/base/message.h"
#include "writer/config/config_check.h"

/* means has its own allocation: pointers to it stay valid while names are added. */
struct known_name {
	char *text;
	struct kube_resource *means;
};

const struct kube_resource *
known_names_find(const struct known_names *known, const char *text)
{
	for (size_t i = 0; i < known->count; i++)
		if (strcmp(known->names[i].text, text) == 0)
			return known->names[i].means;
	return NULL;
}

static void
name_done(struct known_name *name)
{
	if (name->means)
		kube_resource_done(name->means);
	free(name->means);
	free(name->text);
}

int
known_names_add(struct known_names *known, const char *text, const struct kube_resource *means)
{
	struct known_name name, *larger;

	if (known_names_find(known, text))
		return 0;
	larger = reallocarray(known->names, known->count + 1, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	known->names = larger;
	name = (struct known_name){ strdup(text), calloc(1, sizeof(*name.means)) };
	if (!name.text || !name.means || kube_resource_copy(means, name.means) < 0) {
		name_done(&name);
		return -ENOMEM;
	}
	known->names[known->count++] = name;
	return 0;
}

/*
 * The resource entry of name i. For an index, the entry with the same name, ignoring case; n_resources: there
 * is none.
 */
static size_t
entry_of(const struct config *config, size_t i, const char *const *names)
{
	size_t k = 0;

	if (i < config->n_resources)
		return i;
	while (k < config->n_resources && strcasecmp(names[i], names[k]) != 0)
		k++;
	return k;
}

static const char *
origin_of(const struct config *config, size_t i)
{
	return i < config->n_resources ? config->resources[i].origin
				       : config->indexes[i - config->n_resources].origin;
}

int
known_names_learn(struct known_names *known, const struct config *config, const struct discovery *discovery,
		  bool (*was_known)(void *context, const struct config_resource *entry), void *context,
		  char **ret_absent, char **ret_error)
{
	const char **names = config_names(config);
	int unknown = 0, r = names ? 0 : -ENOMEM;

	for (size_t i = 0; names && r >= 0 && i < config->n_resources + config->n_indexes; i++) {
		_cleanup_(message_freep) char *error = NULL;
		size_t k = entry_of(config, i, names);
		bool optional = k < config->n_resources && config->resources[k].optional;
		const struct kube_resource *means;

		if (known_names_find(known, names[i]))
			continue;
		r = discovery_resolve(discovery, names[i], &means, &error);
		if (r == -ENOENT && !optional && was_known && k < config->n_resources &&
		    was_known(context, &config->resources[k]))
			r = -EAGAIN;
		if (r == 0) {
			r = known_names_add(known, names[i], means);
		} else if (r == -EAGAIN) {
			r = unknown = message_set(ret_error, 1, "%s", error ? error : names[i]);
		} else if (r == -ENOENT && optional) {
			r = 0;
			if (i < config->n_resources)
				message_set(ret_absent, 0, "%s", error ? error : names[i]);
		} else {
			message_set(ret_error, r, "%s: %s", origin_of(config, i),
				    error ? error : strerror(-r));
		}
	}
	free(names);
	return r < 0 ? r : unknown;
}

const struct kube_resource **
known_names_of(const struct known_names *known, const struct config *config)
{
	size_t count = config->n_resources + config->n_indexes;
	const struct kube_resource **resolved = calloc(count + 1, sizeof(const struct kube_resource *));
	const char **names = config_names(config);

	if (!resolved || !names) {
		free(resolved);
		free(names);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		resolved[i] = known_names_find(known, names[i]);
	free(names);
	return resolved;
}

void
known_names_done(struct known_names *known)
{
	for (size_t i = 0; i < known->count; i++)
		name_done(&known->names[i]);
	free(known->names);
	*known = (struct known_names){0};
}
