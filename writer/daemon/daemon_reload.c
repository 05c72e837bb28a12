/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Daemon: going over to a configuration that was read again.
 */
#include "writer/daemon/reload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/daemon/daemon_internal.h"
#include "writer/daemon/limits.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/base/notify.h"
#include "writer/config/options.h"
#include "writer/resource/reload_plan.h"
#include "shm-layout/time_ns.h"
#include "writer/config/config_check.h"
#include "writer/config/config_build.h"

/* A configuration that is not decided about yet: some of its names have to be asked for. */
struct reload {
	struct daemon *daemon;
	struct config config;
	struct discovery *discovery;
	struct backoff backoff;
	struct clock_timer retry;
	char *waits;		/* why it could not be asked; NULL: it is being asked */
};

/* ---- deciding ---------------------------------------------------------------------- */

static void
forget(struct daemon *d)
{
	struct reload *reload = d->reload;

	d->reload = NULL;
	if (!reload)
		return;
	clock_clear(&d->clock.clock, &reload->retry);
	discovery_free(reload->discovery);
	config_done(&reload->config);
	free(reload->waits);
	free(reload);
}

/* Before it was ready the daemon has nothing to say that systemd would expect. */
static void
tell_begin(const struct daemon *d)
{
	if (d->ready)
		notify_format("RELOADING=1\nMONOTONIC_USEC=%llu",
			      (unsigned long long)(time_ns(CLOCK_MONOTONIC) / 1000));
}

static void
tell_end(const struct daemon *d)
{
	if (d->ready)
		notify("READY=1");
}

static void
decided(struct daemon *d, bool failed, char *error, char *changes, char *later)
{
	struct reload_record *record = d->reloads;

	record->last_wall_ns = time_ns(CLOCK_REALTIME);
	record->last_failed = failed;
	if (failed) {
		record->failed++;
	} else {
		record->succeeded++;
		record->last_success_wall_ns = record->last_wall_ns;
	}
	free(record->error);
	free(record->changes);
	record->error = error;
	record->changes = changes;
	if (!failed) {
		free(record->later);
		record->later = later;
	}
	forget(d);
	tell_end(d);
}

static void
refuse(struct daemon *d, int error, const char *message)
{
	const char *why = message ? message : strerror(-error);

	log_error("reload refused, everything stays as it was: %s", why);
	decided(d, true, strdup(why), NULL, NULL);
}

/* ---- in force ------------------------------------------------------------------------ */

static void
apply_fields(struct daemon *d)
{
	const struct config *config = d->config;

	log_set_level((enum log_level)config->log_level);
	if (broker_set_access(d->broker, config->allow_uids, config->n_allow_uids, config->allow_gids,
			      config->n_allow_gids) < 0)
		log_error("reload: no memory for access.uids and access.gids, which stay as they were");
	fan_out_set_limits(d->fan_out, limits_of_queues(config));
	broker_set_queue_memory(d->broker, config->max_queue_memory);
	if (consumers_set_limits(d->consumers, limits_of_consumers(config)) < 0)
		log_error("reload: no memory for consumers.total, which stays as it was");
	/* arena.holdBytes and arena.holdSeconds are looked at with each heartbeat */
}

/* What has to be there before anything is touched: by entry of the new configuration. */
struct ready {
	size_t count;
	struct resource_spec **specs;	/* of those that become something else */
	struct cached_resource **fresh;	/* of those that are new */
};

/* All of it, or what is left of it. */
static void
undo(struct daemon *d, struct ready *ready)
{
	for (size_t k = 0; k < ready->count; k++) {
		if (ready->specs)
			resource_spec_free(ready->specs[k]);
		if (!ready->fresh || !ready->fresh[k])
			continue;
		store_unclaim(d->local.store, ready->fresh[k]->id);
		cached_resource_free(ready->fresh[k]);
	}
	free(ready->specs);
	free(ready->fresh);
	if (d->discovered)
		daemon_drop_unclaimed(d);
}

/* 0; negative errno with message: something is wrong, and nothing has changed. */
static int
make_ready(struct daemon *d, const struct reload_plan *plan, const struct kube_resource *const *resolved,
	   struct ready *ret, char **ret_error)
{
	const struct config *config = &d->reload->config;
	struct ready ready = {
		.count = plan->n_entries,
		.specs = calloc(plan->n_entries + 1, sizeof(struct resource_spec *)),
		.fresh = calloc(plan->n_entries + 1, sizeof(struct cached_resource *)),
	};
	int r = ready.specs && ready.fresh ? 0 : -ENOMEM;

	for (size_t k = 0; r == 0 && k < plan->n_entries; k++) {
		const struct reload_entry *entry = &plan->entries[k];

		if (!resolved[k])
			continue;
		if (entry->from == RELOAD_NEW || !d->cached[entry->from])
			r = daemon_add_resource(d, config, resolved, k, &ready.fresh[k], ret_error);
		else if (entry->changes & (RELOAD_LISTS | RELOAD_DROPS | RELOAD_INDEXES | RELOAD_WORDS))
			r = daemon_make_spec(d, config, resolved, k, &ready.specs[k], ret_error);
	}
	if (r < 0)
		undo(d, &ready);
	else
		*ret = ready;
	return r;
}

/* Resources that nobody asks for any more end, and leave the store. */
static void
end_resource(struct daemon *d, struct cached_resource *c)
{
	if (!c)
		return;
	log_info("%s: not cached any more", c->spec->name);
	fan_out_let_go(d->fan_out, c->id);
	store_unclaim(d->local.store, c->id);
	cached_resource_free(c);
}

/* The new configuration is in force: each entry finds its resource, or the other way round. */
static void
apply_entries(struct daemon *d, const struct reload_plan *plan, struct ready *ready)
{
	struct cached_resource **old = d->cached;
	bool absent = false;

	store_commit(d->local.store); /* what is not told yet would keep what goes */
	for (size_t i = 0; i < plan->n_gone; i++)
		end_resource(d, old[plan->gone[i]]);
	d->cached = ready->fresh;
	d->cached_count = plan->n_entries;
	for (size_t k = 0; k < plan->n_entries; k++) {
		const struct reload_entry *entry = &plan->entries[k];

		if (d->cached[k] || entry->from == RELOAD_NEW)
			continue;
		d->cached[k] = old[entry->from];
		if (ready->specs[k])
			cached_resource_change(d->cached[k], ready->specs[k], entry->changes);
	}
	free(old);
	free(ready->specs);
	daemon_drop_unclaimed(d);
	d->discovered = true;
	fan_out_rebind(d->fan_out); /* before a commit shows the positions that changed */
	for (size_t k = 0; k < plan->n_entries; k++) {
		absent |= !d->cached[k];
		if (!d->cached[k])
			continue;
		cached_resource_set_entry(d->cached[k], d->config, &d->config->resources[k]);
		daemon_start_resource(d, d->cached[k]);
	}
	applier_touch(d->applier);
	/* its questions were about other names; what is in doubt is asked about again */
	daemon_forget_redefined(d);
	daemon_discover_again(d, absent);
}

static void
go_over(struct daemon *d, struct reload_plan *plan, struct ready *ready)
{
	struct config *config = &d->reload->config;
	char *changes = reload_plan_text(plan, d->config, config), *later = reload_plan_later_text(plan);

	if (reload_plan_is_empty(plan))
		log_info("reload: nothing has changed");
	else
		log_info("reload: %s", changes ? changes : "done");
	if (plan->n_later > 0)
		log_warning("reload: %s: a restart is needed for that; until then it stays as it was",
			    later ? later : "some fields");
	reload_keep_later(d->config, config);
	config_done(d->config);
	*d->config = *config;
	memset(config, 0, sizeof(*config));
	known_names_keep(&d->known, d->config);
	apply_fields(d);
	apply_entries(d, plan, ready);
	decided(d, false, NULL, changes, later);
}

/* All names are known that can be. */
static void
consider(struct daemon *d)
{
	struct config *config = &d->reload->config;
	_cleanup_(message_freep) char *error = NULL;
	const struct kube_resource **before = known_names_of(&d->known, d->config),
				   **after = known_names_of(&d->known, config);
	struct reload_plan plan = {0};
	struct ready ready;
	int r = before && after ? config_check_resolved(config, after, &error) : -ENOMEM;

	if (r == 0)
		r = reload_plan_make(&(struct reload_side){d->config, before},
				     &(struct reload_side){config, after}, &plan);
	if (r == 0)
		r = make_ready(d, &plan, after, &ready, &error);
	if (r == 0)
		go_over(d, &plan, &ready);
	else
		refuse(d, r, error);
	reload_plan_done(&plan);
	free(before);
	free(after);
}

/* ---- names ----------------------------------------------------------------------------- */

static void ask(void *context);

static void
ask_later(struct reload *reload, const char *why)
{
	struct daemon *d = reload->daemon;
	uint64_t wait = backoff_next(&reload->backoff, &d->clock.clock, 0);

	if (!reload->waits) {
		log_warning("reload waits for what its names mean: %s; until then everything stays as it was",
			    why);
		tell_end(d);
	}
	free(reload->waits);
	reload->waits = strdup(why);
	clock_set(&d->clock.clock, &reload->retry, wait, ask, reload);
}

static void
on_discovered(void *context, struct discovery *discovery, int result, const char *message)
{
	struct reload *reload = context;
	struct daemon *d = reload->daemon;
	_cleanup_(message_freep) char *error = NULL;
	_cleanup_(message_freep) char *absent = NULL;
	int r = result < 0 ? 1 : known_names_learn(&d->known, &reload->config, discovery, &absent, &error);

	reload->discovery = NULL;
	if (r < 0)
		refuse(d, r, error);
	else if (r > 0)
		ask_later(reload, result < 0 ? message : error ? error : "some are not known yet");
	else
		consider(d);
	discovery_free(discovery);
}

static void
ask(void *context)
{
	struct reload *reload = context;
	struct daemon *d = reload->daemon;
	_cleanup_(message_freep) char *error = NULL;
	const char **names;
	int r = -ENOMEM;

	if (!cluster_guard_is_settled(&d->guard)) {
		ask_later(reload, "it is not known yet which cluster answers");
		return;
	}
	names = config_names(&reload->config);
	if (names)
		r = discovery_start(d->transport, names,
				    reload->config.n_resources + reload->config.n_indexes, on_discovered,
				    reload, &reload->discovery, &error);
	free(names);
	if (r < 0)
		refuse(d, r, error);
}

/*
 * Whether there is a name that nobody asked for yet. What the server lacked when it was asked is asked for
 * all the time.
 */
static bool
has_news(const struct daemon *d, const struct config *config)
{
	const char **names = config_names(config), **old = config_names(d->config);
	bool news = !names || !old || !d->discovered;

	for (size_t i = 0; !news && i < config->n_resources + config->n_indexes; i++) {
		size_t k = 0;

		if (known_names_find(&d->known, names[i]))
			continue;
		while (k < d->config->n_resources && strcmp(names[i], old[k]) != 0)
			k++;
		news = k == d->config->n_resources || !d->config->resources[k].optional ||
		       (i < config->n_resources && !config->resources[i].optional);
	}
	free(names);
	free(old);
	return news;
}

/* ---- the outside ------------------------------------------------------------------------- */

void
daemon_reload(struct daemon *d)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (d->options->config_path)
		log_info("reload: reading %s again", d->options->config_path);
	else
		log_info("reload: there is no configuration file (--config) to read again");
	forget(d);
	tell_begin(d);
	d->reload = calloc(1, sizeof(*d->reload));
	if (!d->reload) {
		refuse(d, -ENOMEM, NULL);
		return;
	}
	d->reload->daemon = d;
	r = config_build(d->options, &d->reload->config, &error);
	if (r < 0)
		refuse(d, r, error);
	else if (has_news(d, &d->reload->config))
		ask(d->reload);
	else
		consider(d);
}

void
daemon_reload_end(struct daemon *d)
{
	if (d->reload)
		d->reloads->interrupted = true;
	forget(d);
}

const char *
daemon_reload_waits(const struct daemon *d)
{
	if (!d->reload)
		return NULL;
	return d->reload->waits ? d->reload->waits : "the API server is being asked for its names";
}

void
reload_record_done(struct reload_record *record)
{
	free(record->error);
	free(record->changes);
	free(record->later);
	*record = (struct reload_record){0};
}
