/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared informers: handlers of one resource, which form a group of the handle (events/handler.h), with the
 * factory's options.
 */
#include <string.h>

#include "reader-lib/events/run.h"
#include "reader-lib/factory/factory.h"
#include "reader-lib/factory/gvr_name.h"

/* ---- adding ---- */

/* One selector that requires both. NULL: both are empty. */
static int
join(const struct informer *inf, const char *one, const char *other, char **ret_text)
{
	size_t n = one ? strlen(one) : 0, m = other ? strlen(other) : 0;
	char *text = NULL;

	if (n + m > 0) {
		text = memory_get(inf, n + m + 2);
		if (!text)
			return -ENOMEM;
		if (n > 0)
			memcpy(text, one, n);
		if (n > 0 && m > 0)
			text[n] = ',';
		if (m > 0)
			memcpy(text + n + (n > 0), other, m);
	}
	*ret_text = text;
	return 0;
}

/* Refuse options that name another resource or namespace: they are meant for another informer. */
static int
check_options(const struct informer_shared *shared, const struct informer_handler_options *o)
{
	const struct informer_factory *f = shared->factory;
	char name[RESOURCE_NAME_MAX + 1];

	if (o->pull)
		return error_set(-EINVAL,
				 "a factory's handlers are not pulled: informer_add_handler() adds one");
	if (o->resource &&
	    (resource_name_of(o->resource, name) < 0 || !resource_names_match(f->inf, name, shared->name)))
		return error_set(-EINVAL, "a handler of '%.60s' was given to the informer of %s", o->resource,
				 shared->name);
	if (o->namespace_ && strcmp(o->namespace_, f->namespace_) != 0)
		return error_set(-EINVAL, "a handler of namespace '%.60s' was given to an informer of %s%s",
				 o->namespace_, f->namespace_[0] ? "namespace " : "all namespaces",
				 f->namespace_);
	return 0;
}

int
informer_shared_add_handler(struct informer_shared *shared, const struct informer_handler_options *options,
			    struct informer_handler **ret_handler)
{
	struct informer_handler_options o = {0};
	char *labels = NULL, *fields = NULL;
	struct informer *inf;
	int r;

	if (!shared || !options || options->size < sizeof(options->size))
		return -EINVAL;
	inf = shared->factory->inf;
	if (forked(inf))
		return INFORMER_E_FORKED;
	memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	r = check_options(shared, &o);
	if (r < 0)
		return r;
	o.size = sizeof(o);
	o.resource = shared->name;
	o.namespace_ = shared->factory->namespace_;
	if (o.resync_ms == 0)
		o.resync_ms = shared->resync_ms;
	r = join(inf, shared->tweak ? shared->tweak->labels : NULL, o.label_selector, &labels);
	if (r == 0)
		r = join(inf, shared->tweak ? shared->tweak->fields : NULL, o.field_selector, &fields);
	o.label_selector = labels;
	o.field_selector = fields;
	if (r == 0)
		r = handler_add(inf, &o, &shared->group, ret_handler);
	memory_put(inf, labels);
	memory_put(inf, fields);
	return r;
}

/* ---- state ---- */

bool
shared_is_started(const struct informer_shared *shared)
{
	struct informer *inf = shared->factory->inf;
	bool is;

	pthread_mutex_lock(&inf->run->wait_lock);
	is = shared->group.started;
	pthread_mutex_unlock(&inf->run->wait_lock);
	return is;
}

void
shared_start(struct informer_shared *shared)
{
	struct informer *inf = shared->factory->inf;

	pthread_mutex_lock(&inf->run->wait_lock);
	if (!shared->group.started) {
		shared->group.started = true;
		for (struct informer_handler *h = inf->run->handlers; h; h = h->next)
			/* wait_lock orders it: run_look_again() below and the runner hold that lock. */
			if (h->work && h->work->group == &shared->group)
				atomic_store_explicit(&h->paused, false, memory_order_release);
		run_look_again(inf);
	}
	pthread_mutex_unlock(&inf->run->wait_lock);
}

bool
informer_shared_has_synced(const struct informer_shared *shared)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_snapshot snapshot;
	struct informer *inf;
	bool synced;

	if (!shared)
		return false;
	inf = shared->factory->inf;
	if (forked(inf) || informer_begin(inf, &snapshot) < 0)
		return false;
	synced = informer_resource_info(&snapshot, shared->resource, &info) == 0 && info.synced;
	informer_end(&snapshot);
	pthread_mutex_lock(&inf->run->wait_lock);
	synced = synced && shared->group.started && handlers_synced(inf, &shared->group);
	pthread_mutex_unlock(&inf->run->wait_lock);
	return synced;
}

bool
informer_shared_is_stopped(const struct informer_shared *shared)
{
	struct informer *inf;
	bool is;

	if (!shared)
		return true;
	inf = shared->factory->inf;
	if (forked(inf))
		return true;
	pthread_mutex_lock(&inf->run->wait_lock);
	is = shared->group.stopped || inf->run->stopped;
	pthread_mutex_unlock(&inf->run->wait_lock);
	return is;
}

struct informer_lister *
informer_shared_lister(struct informer_shared *shared)
{
	return shared ? &shared->lister : NULL;
}

void
shared_stop(struct informer_shared *shared)
{
	struct informer *inf = shared->factory->inf;

	/* In a forked child no function is called, no thread waits, and the parent's locks mean nothing. */
	if (forked(inf))
		return;
	pthread_mutex_lock(&inf->run->wait_lock);
	shared->group.stopped = true;
	/* None begins another call, also while the first one below still has to return from its own. */
	for (struct informer_handler *h = inf->run->handlers; h; h = h->next) {
		if (!h->work || h->work->group != &shared->group)
			continue;
		h->removed = true;
		atomic_store_explicit(&h->leave, true, memory_order_relaxed);
	}
	/* Handlers stay in the list until detach. */
	for (struct informer_handler *h = inf->run->handlers; h; h = h->next) {
		if (!h->work || h->work->group != &shared->group)
			continue;
		pthread_mutex_unlock(&inf->run->wait_lock);
		informer_remove_handler(h);
		pthread_mutex_lock(&inf->run->wait_lock);
	}
	pthread_mutex_unlock(&inf->run->wait_lock);
}
