/*
 * Daemon: going over to a configuration that was read again.
 */
#include "writer/reload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/daemon_internal.h"
#include "writer/log.h"
#include "writer/message.h"
#include "writer/notify.h"
#include "writer/options.h"
#include "writer/reload_plan.h"
#include "writer/time_ns.h"

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
		notify_format("RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)(time_ns(CLOCK_MONOTONIC) / 1000));
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
	if (broker_set_access(d->broker, config->allow_uids, config->n_allow_uids, config->allow_gids, config->n_allow_gids) < 0)
		log_error("reload: no memory for access.uids and access.gids, which stay as they were");
	fan_out_set_limits(d->fan_out, daemon_queue_limits(config));
	if (consumers_set_limits(d->consumers, daemon_consumer_limits(config)) < 0)
		log_error("reload: no memory for consumers.total, which stays as it was");
	/* arena.holdBytes and arena.holdSeconds are looked at with each heartbeat */
}

/* Where each entry stands now, and what is said about it. 0, -ENOMEM: nothing has changed. */
static int
apply_entries(struct daemon *d, const struct reload_plan *plan)
{
	struct cached_resource **cached = calloc(plan->n_entries + 1, sizeof(struct cached_resource *));

	if (!cached)
		return -ENOMEM;
	for (size_t k = 0; k < plan->n_entries; k++) {
		cached[k] = d->cached[plan->entries[k].from];
		if (cached[k])
			cached_resource_set_entry(cached[k], d->config, &d->config->resources[k]);
	}
	free(d->cached);
	d->cached = cached;
	return 0;
}

static void
go_over(struct daemon *d, struct reload_plan *plan)
{
	struct config *config = &d->reload->config;
	char *changes = reload_plan_text(plan, d->config, config), *later = reload_plan_later_text(plan);

	if (reload_plan_is_empty(plan))
		log_info("reload: nothing has changed");
	else
		log_info("reload: %s", changes ? changes : "done");
	if (plan->n_later > 0)
		log_warning("reload: %s: a restart is needed for that; until then it stays as it was", later ? later : "some fields");
	if (reload_plan_is_empty(plan)) {
		decided(d, false, NULL, changes, later);
		return;
	}
	reload_keep_later(d->config, config);
	config_done(d->config);
	*d->config = *config;
	memset(config, 0, sizeof(*config));
	apply_fields(d);
	if (apply_entries(d, plan) < 0)
		abort();
	decided(d, false, NULL, changes, later);
}

/* Whether resources come, go, or become something else. */
static bool
changes_resources(const struct reload_plan *plan)
{
	unsigned changes = plan->n_gone > 0 ? RELOAD_SELECTION : 0;

	for (size_t k = 0; k < plan->n_entries; k++)
		changes |= plan->entries[k].from == RELOAD_NEW ? RELOAD_SELECTION : plan->entries[k].changes;
	return (changes & (RELOAD_LISTS | RELOAD_DROPS | RELOAD_INDEXES | RELOAD_WORDS)) != 0;
}

/* All names are known that can be. */
static void
consider(struct daemon *d)
{
	struct config *config = &d->reload->config;
	_cleanup_(message_freep) char *error = NULL;
	const struct kube_resource **before = known_names_of(&d->known, d->config), **after = known_names_of(&d->known, config);
	struct reload_plan plan;
	int r = before && after ? config_check_resolved(config, after, &error) : -ENOMEM;

	if (r == 0)
		r = reload_plan_make(&(struct reload_side){d->config, before}, &(struct reload_side){config, after}, &plan);
	if (r < 0) {
		refuse(d, r, error);
	} else if (changes_resources(&plan)) {
		refuse(d, -ENOTSUP, "other resources, selections, drops or indexes need a restart");
		reload_plan_done(&plan);
	} else {
		go_over(d, &plan);
		reload_plan_done(&plan);
	}
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
		log_warning("reload waits for what its names mean: %s; until then everything stays as it was", why);
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
	const char **names = config_names(&reload->config);
	_cleanup_(message_freep) char *error = NULL;
	int r = -ENOMEM;

	if (names)
		r = discovery_start(d->transport, names, reload->config.n_resources + reload->config.n_indexes, on_discovered, reload,
				    &reload->discovery, &error);
	free(names);
	if (r < 0)
		refuse(d, r, error);
}

/* Whether there is a name that nobody asked for yet. What the server lacked when it was asked is asked for all the time. */
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
