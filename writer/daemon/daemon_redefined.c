/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restarts the daemon when a resource's name means another resource (redefinition.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/daemon/daemon_internal.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/config/config_check.h"

/* True if a resource with this meaning is to be checked again. means NULL: any resource. */
static bool
needs_recheck(const struct daemon *d, const struct kube_resource *means)
{
	for (size_t i = 0; i < d->cached_count; i++) {
		const struct cached_resource *c = d->cached[i];

		if (c && c->recheck &&
		    (!means || redefinition_between(&c->spec->kube, means) == REDEFINITION_NONE))
			return true;
	}
	return false;
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
 * In resolved, replace the meanings of the names to recheck by their present ones. A name with its old
 * meaning needs no further recheck; a name without a meaning does. True if a name means another resource.
 */
static bool
look_anew(struct daemon *d, const struct discovery *discovery, const char *const *names,
	  const struct kube_resource **resolved)
{
	bool any = false;

	for (size_t i = 0; i < d->config->n_resources + d->config->n_indexes; i++) {
		_cleanup_(message_freep) char *error = NULL;
		const struct kube_resource *now;
		enum redefinition became;

		if (!resolved[i] || !needs_recheck(d, resolved[i]) ||
		    discovery_resolve(discovery, names[i], &now, &error) < 0)
			continue;
		became = redefinition_between(resolved[i], now);
		if (became == REDEFINITION_NONE && i < d->cached_count && d->cached[i])
			d->cached[i]->recheck = false;
		if (became == REDEFINITION_OTHER) {
			resolved[i] = now;
			any = true;
		}
	}
	return any;
}

/* Check the present meanings against the configuration. Log a refusal once. */
static bool
is_acceptable(struct daemon *d, const struct kube_resource *const *resolved)
{
	_cleanup_(message_freep) char *error = NULL;
	int r = config_check_resolved(d->config, resolved, &error);

	if (r < 0 && (!d->redefinition_refused || strcmp(d->redefinition_refused, error ? error : "") != 0)) {
		log_error("the definition of a resource is another one now, and cannot be cached: %s",
			  error ? error : strerror(-r));
		free(d->redefinition_refused);
		d->redefinition_refused = strdup(error ? error : "");
	}
	return r == 0;
}

static void
tell_others(const struct daemon *d, const struct kube_resource *const *resolved)
{
	for (size_t i = 0; i < d->cached_count; i++) {
		const struct kube_resource *was = d->cached[i] ? &d->cached[i]->spec->kube : NULL,
					   *now = resolved[i];

		if (was && redefinition_between(was, now) == REDEFINITION_OTHER)
			log_warning("%s: defined anew: %s, %s, %s now (was %s, %s, %s)",
				    d->cached[i]->spec->name, now->version, now->kind,
				    now->namespaced ? "namespaced" : "cluster-wide", was->version, was->kind,
				    was->namespaced ? "namespaced" : "cluster-wide");
	}
}

static void
on_asked(void *context, struct discovery *discovery, int result, const char *message)
{
	struct daemon *d = context;
	const char **names = config_names(d->config);
	const struct kube_resource **resolved = known_names_of(&d->known, d->config);

	(void)message; /* the Reflector reports the same */
	if (result == 0 && names && resolved && look_anew(d, discovery, names, resolved) &&
	    is_acceptable(d, resolved)) {
		tell_others(d, resolved);
		d->again = true; /* the next run lists this resource, and no other */
		daemon_stop(d, DAEMON_OK);
	} else if (needs_recheck(d, NULL)) {
		ask_later(d);
	}
	free(resolved);
	free(names);
	discovery_free(discovery);
	d->redefinition.discovery = NULL;
}

void
daemon_ask_about_redefined(struct daemon *d)
{
	struct redefinition_question *q = &d->redefinition;
	_cleanup_(message_freep) char *error = NULL;
	const char **names;

	if (!needs_recheck(d, NULL) || q->discovery || q->waits)
		return;
	names = config_names(d->config);
	if (!names || discovery_start(d->transport, names, d->config->n_resources + d->config->n_indexes,
				      NULL, on_asked, d, &q->discovery, &error) < 0)
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
