/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redefinition: a resource that the server no longer finds (404), or whose history it does not have (410),
 * may be gone, or may be another one now: its CustomResourceDefinition came back under another version, scope
 * or kind, or serves other versions than before. What names mean is asked once (known_names.h); here it is
 * asked again, for as long as somebody doubts it.
 *
 *	doubt ─▶ discovery ─┬─▶ as it was: believed again
 *	                    ├─▶ gone: ask later, with backoff
 *	                    └─▶ another one: informerd restarts (daemon/restart.h), and lists it
 *
 * Another group's resource that answers to the same name is not the one that was cached: then that one is
 * gone.
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
 * What became of a resource.
 * now   what its name means by now; NULL: nothing
 */
enum redefinition redefinition_between(const struct kube_resource *was, const struct kube_resource *now);

/*
 * Whether an answer of this status may mean that the definition is another one. A group without a dot (core,
 * apps, batch) is built in, and always the same.
 */
bool redefinition_may_be(const struct kube_resource *resource, int status);

/* The questions about all that is doubted. Zeroed at first. */
struct redefinition_question {
	struct discovery *discovery;	/* under way, or NULL */
	struct backoff backoff;
	struct clock_timer timer;
	bool waits;			/* for the timer */
};

#endif
