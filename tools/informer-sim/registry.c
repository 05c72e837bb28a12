/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses missing names; see registry.h. */
#include "tools/informer-sim/registry.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "tools/serving/buf.h"

struct api_resource *
sim_registry_kind(const struct api_registry *registry, const char *api_version, const char *kind)
{
	for (unsigned i = 0; i < api_registry_count(registry); i++) {
		struct api_resource *r = registry->items[i];

		if (api_resource_served(r) && !strcmp(r->kind, kind) && !strcmp(r->api_version, api_version))
			return r;
	}
	return NULL;
}

static char *
guess_kind(const char *plural)
{
	size_t len = strlen(plural);
	char *kind;

	if (len > 3 && !strcmp(plural + len - 3, "ies")) {
		kind = api_strndup(plural, len - 2);
		kind[len - 3] = 'y';
	} else if (len > 4 && (!strcmp(plural + len - 4, "sses") || !strcmp(plural + len - 4, "ches") ||
			       !strcmp(plural + len - 3, "xes"))) {
		kind = api_strndup(plural, len - 2);
	} else {
		kind = api_strndup(plural, len > 1 && plural[len - 1] == 's' ? len - 1 : len);
	}
	kind[0] = (char)toupper((unsigned char)kind[0]);
	return kind;
}

static char *
guess_plural(const char *kind)
{
	size_t len = strlen(kind);
	_cleanup_(api_freep) char *singular = api_strndup(kind, len);
	struct api_buf buf = {0};

	for (char *c = singular; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (len > 1 && singular[len - 1] == 'y' && !strchr("aeiou", singular[len - 2])) {
		api_buf_put(&buf, singular, len - 1);
		api_buf_puts(&buf, "ies");
	} else {
		api_buf_puts(&buf, singular);
		if (len > 0 && (singular[len - 1] == 's' || singular[len - 1] == 'x' ||
				(len > 1 && singular[len - 1] == 'h' && strchr("cs", singular[len - 2]))))
			api_buf_puts(&buf, "es");
		else
			api_buf_puts(&buf, "s");
	}
	return api_buf_take(&buf);
}

int
sim_registry_add(struct api_registry *registry, const char *group, const char *version, const char *plural,
		 const char *kind, bool namespaced, struct api_resource **ret_resource)
{
	_cleanup_(api_freep) char *own_kind = NULL;
	_cleanup_(api_freep) char *own_plural = NULL;

	own_plural = plural ? api_strndup(plural, strlen(plural)) : guess_plural(kind);
	own_kind = kind ? api_strndup(kind, strlen(kind)) : guess_kind(own_plural);
	*ret_resource = api_registry_find(registry, group, version, own_plural);
	if (*ret_resource)
		return 0;
	return api_registry_define(registry,
				   &(struct api_resource){.group = group,
							  .version = version,
							  .plural = own_plural,
							  .kind = own_kind,
							  .namespaced = namespaced,
							  .has_status = true,
							  .custom = true},
				   NULL, ret_resource);
}

static bool
same_scale(const struct api_resource *a, const struct api_resource *b)
{
	return !strcmp(a->scale_spec, b->scale_spec) && !strcmp(a->scale_status, b->scale_status) &&
	       !strcmp(a->scale_selector, b->scale_selector);
}

static bool
equal(const struct api_resource *a, const struct api_resource *b)
{
	for (size_t i = 0; i < 3; i++)
		if (strcmp(a->shorts[i] ? a->shorts[i] : "", b->shorts[i] ? b->shorts[i] : "") != 0)
			return false;
	return a->custom == b->custom && !strcmp(a->plural, b->plural) && !strcmp(a->group, b->group) &&
	       !strcmp(a->version, b->version) && !strcmp(a->kind, b->kind) &&
	       !strcmp(a->singular, b->singular ? b->singular : a->singular) &&
	       a->namespaced == b->namespaced && a->has_status == b->has_status && a->in_all == b->in_all &&
	       a->scale == b->scale && (!a->scale || same_scale(a, b));
}

int
sim_registry_define(struct api_registry *registry, const struct api_resource *like,
		    const struct api_resource *first, struct api_resource **ret_resource)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int r = 0;

	*ret_resource = NULL;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < registry->count && !*ret_resource; i++)
		if (!api_resource_served(registry->items[i]) && equal(registry->items[i], like) &&
		    registry->items[i]->index == (first ? first->index : i))
			*ret_resource = registry->items[i];
	if (*ret_resource)
		atomic_store_explicit(&(*ret_resource)->gone, false, memory_order_release);
	else
		r = api_registry_define(registry, like, first, ret_resource);
	pthread_mutex_unlock(&lock);
	return r;
}

int
sim_registry_declare(struct api_registry *registry, const char *text, struct api_resource **ret_resource)
{
	_cleanup_(api_freep) char *copy = api_strndup(text, strlen(text));
	char *version, *group, *kind;

	version = strchr(copy, '.');
	group = version ? strchr(version + 1, '.') : NULL;
	if (!group)
		return -EINVAL;
	*version++ = '\0';
	*group++ = '\0';
	kind = strchr(copy, '/');
	if (kind)
		*kind++ = '\0';
	if (!group[0])
		return -EINVAL;
	return sim_registry_add(registry, group, version, copy, kind, true, ret_resource);
}
