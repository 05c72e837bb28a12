/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared informers: handlers of one resource, with what the informer brings along.
 *
 * Each handler stands between the feed and the caller's functions as a shared_handler: it shows them objects
 * through the transform. It is listed for as long as something may still be called, and goes with on_done,
 * which is the last call.
 */
#include <string.h>

#include "reader-lib/events/run.h"
#include "reader-lib/factory/factory.h"
#include "reader-lib/factory/gvr_name.h"
#include "reader-lib/read/copy.h"

/* o: the caller's functions and context. */
struct shared_handler {
	struct shared_handler *next;
	struct informer_shared *shared;
	struct informer_handler *handler;
	struct informer_handler_options o;
};

/* ---- calls ---- */

/*
 * What the caller is to see of an object. Without memory for a copy, or of one that cannot be copied, it is
 * the object itself: to tell too much is better than to lose an event.
 */
static const struct informer_object *
seen(const struct shared_handler *sh, const struct informer_object *object, struct informer_object *copy)
{
	const struct scope *scope = &sh->shared->lister.scope;

	memset(copy, 0, sizeof(*copy));
	if (!scope->transform || object_copy_filtered(scope->inf, object, scope->transform, copy) < 0)
		return object;
	return copy;
}

static bool
filter(void *context, const struct informer_object *object)
{
	const struct shared_handler *sh = context;
	struct informer_object copy;
	bool wanted = sh->o.filter(sh->o.context, seen(sh, object, &copy));

	informer_object_free(&copy);
	return wanted;
}

static void
on_add(void *context, const struct informer_object *object, bool is_initial)
{
	const struct shared_handler *sh = context;
	struct informer_object copy;

	sh->o.on_add(sh->o.context, seen(sh, object, &copy), is_initial);
	informer_object_free(&copy);
}

/* Of a resync both objects are one, also afterwards. */
static void
on_update(void *context, const struct informer_object *old, const struct informer_object *object)
{
	const struct shared_handler *sh = context;
	struct informer_object copy, old_copy = {0};
	const struct informer_object *shown = seen(sh, object, &copy);

	sh->o.on_update(sh->o.context, old == object ? shown : old ? seen(sh, old, &old_copy) : NULL, shown);
	informer_object_free(&copy);
	informer_object_free(&old_copy);
}

static void
on_delete(void *context, const struct informer_object *object, bool final_state_known)
{
	const struct shared_handler *sh = context;
	struct informer_object copy;

	sh->o.on_delete(sh->o.context, seen(sh, object, &copy), final_state_known);
	informer_object_free(&copy);
}

static void *
transform(void *context, const struct informer_object *object)
{
	const struct shared_handler *sh = context;
	struct informer_object copy;
	void *value = sh->o.transform(sh->o.context, seen(sh, object, &copy));

	informer_object_free(&copy);
	return value;
}

static void
on_value(void *context, const struct informer_object *object, void *old, void *value)
{
	const struct shared_handler *sh = context;
	struct informer_object copy;

	sh->o.on_value(sh->o.context, seen(sh, object, &copy), old, value);
	informer_object_free(&copy);
}

static void
release(void *context, void *value)
{
	const struct shared_handler *sh = context;

	sh->o.release(sh->o.context, value);
}

static void
on_overflow(void *context, enum informer_overflow kind)
{
	const struct shared_handler *sh = context;

	sh->o.on_overflow(sh->o.context, kind);
}

static void
on_resync_begin(void *context)
{
	const struct shared_handler *sh = context;

	sh->o.on_resync_begin(sh->o.context);
}

static void
on_resync_end(void *context)
{
	const struct shared_handler *sh = context;

	sh->o.on_resync_end(sh->o.context);
}

static void
on_synced(void *context)
{
	const struct shared_handler *sh = context;

	sh->o.on_synced(sh->o.context);
}

static void
on_error(void *context, const struct informer_watch_status *status)
{
	const struct shared_handler *sh = context;

	sh->o.on_error(sh->o.context, status);
}

static void
unlist(struct shared_handler *sh)
{
	struct shared_handler **at = &sh->shared->handlers;

	while (*at != sh)
		at = &(*at)->next;
	*at = sh->next;
}

static void
on_done(void *context)
{
	struct shared_handler *sh = context;
	struct informer *inf = sh->shared->factory->inf;

	if (sh->o.on_done)
		sh->o.on_done(sh->o.context);
	/* From here on the informer may be freed: shared_stop() waits for the list to be empty. */
	pthread_mutex_lock(&inf->run->wait_lock);
	unlist(sh);
	pthread_cond_broadcast(&inf->run->handler_cond);
	pthread_mutex_unlock(&inf->run->wait_lock);
	memory_put(inf, sh);
}

/* ---- adding ---- */

/* Two selectors of which both must match. NULL when there is neither. */
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

/* Options that name another resource or namespace were meant for another informer. */
static int
check_options(const struct informer_shared *shared, const struct informer_handler_options *o)
{
	const struct informer_factory *f = shared->factory;
	char name[RESOURCE_NAME_MAX + 1];

	if (o->resource &&
	    (resource_name_of(o->resource, name) < 0 || !resource_names_match(f->inf, name, shared->name)))
		return error_set(f->inf, -EINVAL, "a handler of '%.60s' was given to the informer of %s",
				 o->resource, shared->name);
	if (o->namespace_ && strcmp(o->namespace_, f->namespace_) != 0)
		return error_set(
			f->inf, -EINVAL, "a handler of namespace '%.60s' was given to an informer of %s%s",
			o->namespace_, f->namespace_[0] ? "namespace " : "all namespaces", f->namespace_);
	return 0;
}

/* The functions that the caller has, as those that this file has. */
static void
put_between(struct informer_handler_options *o, struct shared_handler *sh)
{
	o->context = sh;
	o->on_add = o->on_add ? on_add : NULL;
	o->on_update = o->on_update ? on_update : NULL;
	o->on_delete = o->on_delete ? on_delete : NULL;
	o->on_overflow = o->on_overflow ? on_overflow : NULL;
	o->on_resync_begin = o->on_resync_begin ? on_resync_begin : NULL;
	o->on_resync_end = o->on_resync_end ? on_resync_end : NULL;
	o->on_synced = o->on_synced ? on_synced : NULL;
	o->on_error = o->on_error ? on_error : NULL;
	o->on_done = on_done;
	o->filter = o->filter ? filter : NULL;
	o->transform = o->transform ? transform : NULL;
	o->on_value = o->on_value ? on_value : NULL;
	o->release = o->release ? release : NULL;
}

/* wait_lock held, when nothing else can fail: list it, held back until the start. */
static int
admit(void *context, struct informer_handler *h)
{
	struct shared_handler *sh = context;
	struct informer_shared *shared = sh->shared;

	if (shared->stopped)
		return error_set(shared->factory->inf, INFORMER_E_STOPPED, "the informer of %s was stopped",
				 shared->name);
	atomic_store_explicit(&h->paused, !shared->started, memory_order_relaxed);
	sh->handler = h;
	sh->next = shared->handlers;
	shared->handlers = sh;
	return 0;
}

int
informer_shared_add_handler(struct informer_shared *shared, const struct informer_handler_options *options,
			    struct informer_handler **ret_handler)
{
	struct informer_handler_options o = {0};
	char *labels = NULL, *fields = NULL;
	struct shared_handler *sh;
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
	sh = memory_get(inf, sizeof(*sh));
	if (!sh)
		return -ENOMEM;
	sh->shared = shared;
	sh->o = o;
	o.size = sizeof(o);
	o.resource = shared->name;
	o.namespace_ = shared->factory->namespace_;
	if (o.resync_ms == 0)
		o.resync_ms = shared->resync_ms;
	put_between(&o, sh);
	r = join(inf, shared->tweak ? shared->tweak->labels : NULL, o.label_selector, &labels);
	if (r == 0)
		r = join(inf, shared->tweak ? shared->tweak->fields : NULL, o.field_selector, &fields);
	o.label_selector = labels;
	o.field_selector = fields;
	if (r == 0)
		r = handler_add(inf, &o, admit, sh, ret_handler);
	if (r < 0)
		memory_put(inf, sh);
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
	is = shared->started;
	pthread_mutex_unlock(&inf->run->wait_lock);
	return is;
}

void
shared_start(struct informer_shared *shared)
{
	struct informer *inf = shared->factory->inf;

	pthread_mutex_lock(&inf->run->wait_lock);
	if (!shared->started) {
		shared->started = true;
		for (struct shared_handler *sh = shared->handlers; sh; sh = sh->next)
			/*
			 * wait_lock is held: run_look_again() below, and the runner, see it under the same
			 * lock.
			 */
			atomic_store_explicit(&sh->handler->paused, false, memory_order_release);
		run_look_again(inf);
	}
	pthread_mutex_unlock(&inf->run->wait_lock);
}

bool
shared_handlers_synced(const struct informer_shared *shared)
{
	for (const struct shared_handler *sh = shared->handlers; sh; sh = sh->next) {
		if (!sh->handler->removed && !informer_handler_has_synced(sh->handler))
			return false;
	}
	return true;
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
	synced = synced && shared->started && shared_handlers_synced(shared);
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
	is = shared->stopped || inf->run->stopped;
	pthread_mutex_unlock(&inf->run->wait_lock);
	return is;
}

struct informer_lister *
informer_shared_lister(struct informer_shared *shared)
{
	return shared ? &shared->lister : NULL;
}

/* In a forked child nothing is called, nobody waits, and the parent's locks mean nothing. */
static void
drop_handlers(struct informer_shared *shared)
{
	while (shared->handlers) {
		struct shared_handler *sh = shared->handlers;

		shared->handlers = sh->next;
		memory_put(shared->factory->inf, sh);
	}
}

void
shared_stop(struct informer_shared *shared)
{
	struct informer *inf = shared->factory->inf;

	if (forked(inf)) {
		drop_handlers(shared);
		return;
	}
	pthread_mutex_lock(&inf->run->wait_lock);
	shared->stopped = true;
	while (shared->handlers) {
		struct informer_handler *h = shared->handlers->handler;

		pthread_mutex_unlock(&inf->run->wait_lock);
		informer_remove_handler(h);
		pthread_mutex_lock(&inf->run->wait_lock);
	}
	pthread_mutex_unlock(&inf->run->wait_lock);
}
