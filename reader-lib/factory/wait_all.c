/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits until several things of any kind are synced.
 *
 * Waits for one after another under one deadline. A thing that was synced once is not asked again. After the
 * deadline the rest are still asked, so that the message names everything that is missing.
 */
#include <stdio.h>
#include <string.h>

#include "reader-lib/base/name_list.h"
#include "reader-lib/events/wait.h"
#include "reader-lib/factory/factory.h"

static void
add_name(struct name_list *names, const char *what, const char *name)
{
	name_list_add(names, what, name, strlen(name));
}

static void
add_missing(void *context, const char *resource, bool synced)
{
	if (!synced)
		add_name(context, "", resource);
}

/* "NAME of RESOURCE", without NAME if the handler has none. */
static void
add_handler(struct name_list *names, struct informer_handler *h)
{
	char name[160] = "that was removed";

	pthread_mutex_lock(&h->inf->lock);
	if (h->work)
		snprintf(name, sizeof(name), "%s%sof %s", h->work->sub.name, h->work->sub.name[0] ? " " : "",
			 h->work->sub.resource->name);
	pthread_mutex_unlock(&h->inf->lock);
	add_name(names, "handler ", name);
}

static bool
is_one_of_ours(const struct informer *inf, const struct informer_sync *sync)
{
	int kinds = (sync->resource != NULL) + (sync->handler != NULL) + (sync->shared != NULL) +
		    (sync->factory != NULL);

	return kinds == 1 && (!sync->handler || sync->handler->inf == inf) &&
	       (!sync->shared || sync->shared->factory->inf == inf) &&
	       (!sync->factory || sync->factory->inf == inf);
}

/* Wait for one thing. If it times out, `missing` gets its name. */
static int
wait_one(struct informer *inf, const struct informer_sync *sync, uint64_t end_ns, struct name_list *missing)
{
	int left = wait_left_ms(end_ns), r;

	if (sync->factory)
		return informer_factory_wait_synced(sync->factory, left, add_missing, missing);
	if (sync->resource) {
		r = informer_wait_synced(inf, sync->resource, left);
		if (r == -ETIMEDOUT)
			add_name(missing, "", sync->resource);
	} else if (sync->handler) {
		r = informer_wait_handler_synced(inf, sync->handler, left);
		if (r == -ETIMEDOUT)
			add_handler(missing, sync->handler);
	} else {
		r = shared_wait_synced(sync->shared, end_ns);
		if (r == -ETIMEDOUT)
			add_name(missing,
				 shared_is_started(sync->shared) ? "" : "not started: ", sync->shared->asked);
	}
	return r;
}

int
informer_wait_all_synced(struct informer *inf, struct informer_sync *syncs, size_t count, int timeout_ms)
{
	uint64_t end_ns = wait_deadline(timeout_ms);
	struct name_list missing = {0};
	char why[sizeof(missing.text) + 40];
	int r = 0;

	if (!inf || (!syncs && count > 0))
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	for (size_t i = 0; i < count; i++) {
		syncs[i].synced = false;
		if (!is_one_of_ours(inf, &syncs[i]))
			return error_set(-EINVAL,
					 "number %zu of what to wait for is not one thing, of this handle: a "
					 "resource, handler, informer or factory",
					 i);
	}
	for (size_t i = 0; i < count; i++) {
		int one = wait_one(inf, &syncs[i], end_ns, &missing);

		if (one < 0 && one != -ETIMEDOUT)
			return one;
		syncs[i].synced = one == 0;
		r = one < 0 ? one : r;
	}
	if (r == 0)
		return 0;
	snprintf(why, sizeof(why), "not synced: %s", missing.text);
	return wait_timed_out(inf, NULL, timeout_ms, why);
}
