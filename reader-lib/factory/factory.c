/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Factories: one informer for each resource, with the factory's defaults and the resource's tweak.
 */
#include <string.h>

#include "reader-lib/events/wait.h"
#include "reader-lib/factory/factory.h"
#include "reader-lib/factory/gvr_name.h"

/* ---- creating ---- */

static int
bad_name(const char *text)
{
	return error_set(
		-EINVAL,
		"'%.60s' is no resource name: write it as kubectl takes it (deployments.apps), or as "
		"group/version/resource (apps/v1/deployments, v1/pods)",
		text ? text : "");
}

static int
copy_tweak(struct informer *inf, const struct informer_tweak *from, struct tweak *to)
{
	char name[RESOURCE_NAME_MAX + 1];
	int r = 0;

	if (resource_name_of(from->resource, name) < 0)
		return bad_name(from->resource);
	to->resource = allocator_text(&inf->memory, name);
	to->labels = allocator_text(&inf->memory, from->label_selector);
	to->fields = allocator_text(&inf->memory, from->field_selector);
	to->resync_ms = from->resync_ms;
	if (!to->resource || !to->labels || !to->fields)
		return -ENOMEM;
	if (*to->labels)
		r = informer_label_selector_compile(inf, to->labels, strlen(to->labels), &to->label_selector,
						    NULL);
	if (r == 0 && *to->fields)
		r = informer_field_selector_compile(inf, to->fields, strlen(to->fields), &to->field_selector);
	return r;
}

static void
factory_free(struct informer_factory *f)
{
	struct informer *inf = f->inf;

	for (size_t i = 0; i < f->tweak_count; i++) {
		memory_put(inf, f->tweaks[i].resource);
		memory_put(inf, f->tweaks[i].labels);
		memory_put(inf, f->tweaks[i].fields);
		informer_label_selector_free(f->tweaks[i].label_selector);
		informer_field_selector_free(f->tweaks[i].field_selector);
	}
	memory_put(inf, f->tweaks);
	memory_put(inf, f->namespace_);
	path_set_free(inf, f->transform);
	pthread_mutex_destroy(&f->lock);
	memory_put(inf, f);
}

static int
fill(struct informer_factory *f, const struct informer_factory_options *o)
{
	struct informer *inf = f->inf;
	int r = 0;

	f->resync_ms = o->resync_ms;
	f->namespace_ = allocator_text(&inf->memory, o->namespace_);
	if (!f->namespace_)
		return -ENOMEM;
	if (strlen(f->namespace_) > OBJECT_NAMESPACE_MAX)
		return error_set(-EINVAL, "no namespace has a name of %zu bytes", strlen(f->namespace_));
	if (o->n_keep > 0 || o->n_drop > 0)
		r = path_set_compile(inf, o->keep, o->n_keep, o->drop, o->n_drop, &f->transform);
	if (r < 0 || o->n_tweaks == 0)
		return r;
	if (!o->tweaks)
		return -EINVAL;
	f->tweaks = memory_get(inf, o->n_tweaks * sizeof(f->tweaks[0]));
	if (!f->tweaks)
		return -ENOMEM;
	f->tweak_count = o->n_tweaks;
	for (size_t i = 0; i < o->n_tweaks && r == 0; i++)
		r = copy_tweak(inf, &o->tweaks[i], &f->tweaks[i]);
	return r;
}

int
informer_factory_new(struct informer *inf, const struct informer_factory_options *options,
		     struct informer_factory **ret_factory)
{
	struct informer_factory_options o = {0};
	struct informer_factory *f;
	int r;

	if (!inf || !ret_factory || (options && options->size < sizeof(options->size)))
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	f = memory_get(inf, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->inf = inf;
	pthread_mutex_init(&f->lock, NULL);
	r = fill(f, &o);
	if (r < 0) {
		factory_free(f);
		return r;
	}
	*ret_factory = f;
	return 0;
}

/* ---- informers ---- */

static void
shared_free(struct informer_shared *shared)
{
	struct informer *inf = shared->factory->inf;

	lister_done(&shared->lister);
	memory_put(inf, shared->asked);
	memory_put(inf, shared->name);
	memory_put(inf, shared);
}

/* The factory's lock is held. */
static int
shared_new(struct informer_factory *f, const char *asked, const char *name, bool exclusive,
	   struct informer_shared **ret_shared)
{
	struct informer_shared *shared = memory_get(f->inf, sizeof(*shared));
	struct scope scope = {.inf = f->inf, .namespace_ = f->namespace_, .transform = f->transform};
	int r;

	if (!shared)
		return -ENOMEM;
	shared->factory = f;
	shared->exclusive = exclusive;
	shared->group.transform = f->transform;
	shared->asked = allocator_text(&f->inf->memory, asked);
	shared->name = allocator_text(&f->inf->memory, name);
	for (size_t i = 0; i < f->tweak_count; i++) {
		if (resource_names_match(f->inf, f->tweaks[i].resource, name))
			shared->tweak = &f->tweaks[i];
	}
	shared->resync_ms = shared->tweak && shared->tweak->resync_ms ? shared->tweak->resync_ms
								      : f->resync_ms;
	r = shared->asked && shared->name ? informer_resource_open(f->inf, name, &shared->resource) : -ENOMEM;
	if (r < 0) {
		memory_put(f->inf, shared->asked);
		memory_put(f->inf, shared->name);
		memory_put(f->inf, shared);
		return r;
	}
	scope.resource = shared->resource;
	scope.namespace_length = strlen(f->namespace_);
	scope.labels = shared->tweak ? shared->tweak->label_selector : NULL;
	scope.fields = shared->tweak ? shared->tweak->field_selector : NULL;
	lister_init(&shared->lister, &scope);
	shared->next = f->shared;
	f->shared = shared;
	*ret_shared = shared;
	return 0;
}

static int
get_shared(struct informer_factory *f, const char *resource, bool exclusive,
	   struct informer_shared **ret_shared)
{
	char name[RESOURCE_NAME_MAX + 1];
	struct informer_shared *shared;
	int r = 0;

	if (!f || !resource || !ret_shared)
		return -EINVAL;
	if (forked(f->inf))
		return INFORMER_E_FORKED;
	if (resource_name_of(resource, name) < 0)
		return bad_name(resource);
	pthread_mutex_lock(&f->lock);
	for (shared = exclusive ? NULL : f->shared; shared; shared = shared->next) {
		if (!shared->exclusive && resource_names_match(f->inf, shared->name, name))
			break;
	}
	if (!shared)
		r = shared_new(f, resource, name, exclusive, &shared);
	pthread_mutex_unlock(&f->lock);
	if (r == 0)
		*ret_shared = shared;
	return r;
}

int
informer_factory_for(struct informer_factory *f, const char *resource, struct informer_shared **ret_shared)
{
	return get_shared(f, resource, false, ret_shared);
}

int
informer_factory_new_exclusive(struct informer_factory *f, const char *resource,
			       struct informer_shared **ret_shared)
{
	return get_shared(f, resource, true, ret_shared);
}

/* ---- starting, syncing, shutting down ---- */

/* The head of the list. New informers are added before it, so the rest stays as it is. */
static struct informer_shared *
first_shared(struct informer_factory *f)
{
	struct informer_shared *first;

	pthread_mutex_lock(&f->lock);
	first = f->shared;
	pthread_mutex_unlock(&f->lock);
	return first;
}

int
informer_factory_start(struct informer_factory *f)
{
	bool stopped;

	if (!f)
		return -EINVAL;
	if (forked(f->inf))
		return INFORMER_E_FORKED;
	pthread_mutex_lock(&f->inf->run->wait_lock);
	stopped = f->inf->run->stopped;
	pthread_mutex_unlock(&f->inf->run->wait_lock);
	if (stopped)
		return error_set(INFORMER_E_STOPPED,
				 "informer_stop() was called: no informer can be started");
	for (struct informer_shared *shared = first_shared(f); shared; shared = shared->next)
		shared_start(shared);
	return 0;
}

int
shared_wait_synced(struct informer_shared *shared, uint64_t end_ns)
{
	struct informer *inf = shared->factory->inf;
	int r;

	if (!shared_is_started(shared))
		return -ETIMEDOUT;
	r = informer_wait_synced(inf, shared->name, wait_left_ms(end_ns));
	return r == 0 ? handlers_wait(inf, handlers_synced, &shared->group, wait_left_ms(end_ns)) : r;
}

int
informer_factory_wait_synced(struct informer_factory *f, int timeout_ms,
			     void (*each)(void *context, const char *resource, bool synced), void *context)
{
	uint64_t end_ns = wait_deadline(timeout_ms);
	int r = 0, one;

	if (!f)
		return -EINVAL;
	for (struct informer_shared *shared = first_shared(f); shared; shared = shared->next) {
		if (!shared_is_started(shared))
			continue;
		one = shared_wait_synced(shared, end_ns);
		if (one < 0 && one != -ETIMEDOUT)
			return one;
		if (each)
			each(context, shared->asked, one == 0);
		r = one < 0 ? one : r;
	}
	return r;
}

void
informer_factory_shutdown(struct informer_factory *f)
{
	if (!f)
		return;
	for (struct informer_shared *shared = f->shared; shared; shared = shared->next)
		shared_stop(shared);
	while (f->shared) {
		struct informer_shared *shared = f->shared;

		f->shared = shared->next;
		shared_free(shared);
	}
	factory_free(f);
}
