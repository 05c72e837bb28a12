/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Daemon: resources that are another one now (redefinition.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/daemon/daemon_internal.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/config/config_check.h"

/* The entry of d->cached that is doubted and has this meaning, or NULL. */
static struct cached_resource *
doubted(const struct daemon *d, const struct kube_resource *is)
{
	for (size_t i = 0; i < d->cached_count; i++) {
		struct cached_resource *c = d->cached[i];

		if (c && c->doubted && redefinition_between(&c->spec->kube, is) == REDEFINITION_NONE)
			return c;
	}
	return NULL;
}

static void
ask_again(void *context)
{
	struct daemon *d = context;

	d->redefinition.waits = false;
	daemon_ask_about_redefined(d);
}

static void
ask_later(struct daemon *d)
{
	struct redefinition_question *q = &d->redefinition;

	q->waits = true;
	clock_set(&d->clock.clock, &q->timer, backoff_next(&q->backoff, &d->clock.clock, 0), ask_again, d);
}

/*
 * What each name means by now; NULL where that is not known, or as it was. The array is the caller's to
 * free().
 */
static const struct kube_resource **
other_meanings(struct daemon *d, const struct discovery *discovery, const char *const *names, size_t count)
{
	const struct kube_resource **meanings = calloc(count + 1, sizeof(const struct kube_resource *));

	for (size_t i = 0; meanings && i < count; i++) {
		const struct kube_resource *was = known_names_find(&d->known, names[i]), *now;
		_cleanup_(message_freep) char *error = NULL;

		if (was && doubted(d, was) && discovery_resolve(discovery, names[i], &now, &error) == 0 &&
		    redefinition_between(was, now) == REDEFINITION_OTHER)
			meanings[i] = now;
	}
	return meanings;
}

/* Would the configuration accept it? Said once if not. */
static bool
is_acceptable(struct daemon *d, const struct kube_resource *const *others, size_t count)
{
	const struct kube_resource **resolved = known_names_of(&d->known, d->config);
	_cleanup_(message_freep) char *error = NULL;
	int r = -ENOMEM;

	for (size_t i = 0; resolved && i < count; i++)
		if (others[i])
			resolved[i] = others[i];
	if (resolved)
		r = config_check_resolved(d->config, resolved, &error);
	free(resolved);
	if (r < 0 && (!d->redefinition_refused || strcmp(d->redefinition_refused, error ? error : "") != 0)) {
		log_error("the definition of a resource is another one now, and cannot be cached: %s",
			  error ? error : strerror(-r));
		free(d->redefinition_refused);
		d->redefinition_refused = strdup(error ? error : "");
	}
	return r == 0;
}

static void
tell_others(const struct daemon *d, const struct kube_resource *const *others)
{
	for (size_t i = 0; i < d->cached_count; i++) {
		const struct cached_resource *c = d->cached[i];

		if (c && others[i])
			log_warning("%s: defined anew: %s, %s, %s now (was %s, %s, %s)", c->spec->name,
				    others[i]->version, others[i]->kind,
				    others[i]->namespaced ? "namespaced" : "cluster-wide",
				    c->spec->kube.version, c->spec->kube.kind,
				    c->spec->kube.namespaced ? "namespaced" : "cluster-wide");
	}
}

/* Those that are what they were are believed again; the others stay in doubt until they are back. */
static bool
settle(struct daemon *d, const struct discovery *discovery)
{
	bool all = true;

	for (size_t i = 0; i < d->cached_count; i++) {
		struct cached_resource *c = d->cached[i];
		_cleanup_(message_freep) char *error = NULL;
		const struct kube_resource *now;

		if (!c || !c->doubted)
			continue;
		if (discovery_resolve(discovery, d->config->resources[i].resource, &now, &error) == 0 &&
		    redefinition_between(&c->spec->kube, now) == REDEFINITION_NONE)
			c->doubted = false;
		else
			all = false;
	}
	return all;
}

static void
on_asked(void *context, struct discovery *discovery, int result, const char *message)
{
	struct daemon *d = context;
	size_t count = d->config->n_resources + d->config->n_indexes, changed = 0;
	const char **names = config_names(d->config);
	const struct kube_resource **others = NULL;

	(void)message; /* whoever lists hears the same */
	if (result == 0 && names)
		others = other_meanings(d, discovery, names, count);
	for (size_t i = 0; others && i < count; i++)
		changed += others[i] != NULL;
	if (changed > 0 && is_acceptable(d, others, count)) {
		tell_others(d, others);
		d->again = true; /* it is listed as what its name means then, and that one alone */
		daemon_stop(d, DAEMON_OK);
	} else if (!others || !settle(d, discovery)) {
		ask_later(d);
	}
	free(others);
	free(names);
	discovery_free(discovery);
	d->redefinition.discovery = NULL;
}

void
daemon_ask_about_redefined(struct daemon *d)
{
	struct redefinition_question *q = &d->redefinition;
	_cleanup_(message_freep) char *error = NULL;
	bool any = false;
	const char **names;

	for (size_t i = 0; i < d->cached_count; i++)
		any |= d->cached[i] && d->cached[i]->doubted;
	if (!any || q->discovery || q->waits)
		return;
	names = config_names(d->config);
	if (!names || discovery_start(d->transport, names, d->config->n_resources + d->config->n_indexes,
				      on_asked, d, &q->discovery, &error) < 0)
		ask_later(d);
	free(names);
}

void
daemon_forget_redefined(struct daemon *d)
{
	clock_clear(&d->clock.clock, &d->redefinition.timer);
	discovery_free(d->redefinition.discovery);
	d->redefinition.discovery = NULL;
	d->redefinition.waits = false;
	free(d->redefinition_refused);
	d->redefinition_refused = NULL;
}
