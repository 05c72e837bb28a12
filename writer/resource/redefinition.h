/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redefinition finds out whether a resource still means the same after the server answered 404 (not found)
 * or 410 (history lost). The resource may be gone. Or its CustomResourceDefinition has come back with
 * another version, scope or kind, or serves other versions. informerd asks what its name means until
 * the answer is certain; known_names.h asks only once.
 *
 *	404, 410 ─▶ discovery ─┬─▶ unchanged: the question ends
 *	                       ├─▶ gone: ask later, with backoff
 *	                       └─▶ changed: informerd restarts (daemon/restart.h), and lists it
 *
 * If a resource of another group answers to the name, the cached one is gone.
 *
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_RESOURCE_REDEFINITION_H
#define WRITER_RESOURCE_REDEFINITION_H

#include <stdbool.h>

#include "writer/base/backoff.h"
#include "writer/kube/discovery.h"

enum redefinition { REDEFINITION_NONE, REDEFINITION_GONE, REDEFINITION_OTHER };

/*
 * Compare a resource's definition with the present one.
 * now   what its name means now; NULL: nothing
 */
enum redefinition redefinition_between(const struct kube_resource *was, const struct kube_resource *now);

/*
 * True if an answer with this status may mean another definition. Groups without a dot (core, apps, batch)
 * are built in and never change.
 */
bool redefinition_may_be(const struct kube_resource *resource, int status);

/* The question about all resources that need a recheck. Zeroed at first. */
struct redefinition_question {
	struct discovery *discovery; /* the one that runs, or NULL */
	struct backoff backoff;
	struct clock_timer timer;
	bool waits;			/* for the timer */
};

#endif
