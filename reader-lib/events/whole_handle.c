/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole handle: the parts of all rooms, in one piece of memory. The highest room makes and frees it, so
 * no lower room depends on this one.
 */
#include <string.h>

#include <sodium.h>

#include "reader-lib/attach/connection.h"
#include "reader-lib/events/run.h"

/* `inf` comes first: to free it frees the whole. */
struct whole_handle {
	struct informer inf;
	struct resources resources;
	struct run run;
	struct subscriptions subscriptions;
};

static void
step(struct informer *inf)
{
	resources_tell_wants(inf);
	subscriptions_step(inf);
}

static const struct connection_hooks hooks = {
	.step = step,
	.attached = subscriptions_begin_anew,
	.lost = subscriptions_lost,
	.receive = subscriptions_receive,
};

int
informer_attach(const struct informer_options *given, struct informer **ret_informer)
{
	struct informer_options options;
	struct whole_handle *whole;
	struct allocator memory;
	struct informer *inf;
	int r, run;

	if (!ret_informer)
		return -EINVAL;
	r = handle_options_read(&options, given);
	if (r < 0)
		return r;
	if (sodium_init() < 0)
		return -ENOSYS;
	r = allocator_init(&memory, options.allocate, options.release, options.allocator_context);
	if (r < 0)
		return r;
	whole = allocator_get(&memory, sizeof(*whole));
	if (!whole)
		return -ENOMEM;
	inf = &whole->inf;
	inf->memory = memory;
	inf->hooks = &hooks;
	inf->resources = &whole->resources;
	inf->run = &whole->run;
	inf->subscriptions = &whole->subscriptions;
	r = handle_init(inf, &options);
	resources_init(inf->resources);
	run = run_init(inf);
	if (r == 0 && run < 0)
		r = handle_fail(inf, -run, "the descriptors that a handle's waiters need");
	if (r < 0) {
		informer_detach(inf);
		return r;
	}
	connection_first_attempt(inf);
	*ret_informer = inf;
	return 0;
}

void
informer_detach(struct informer *inf)
{
	bool in_child;

	if (!inf)
		return;
	in_child = inf->alive && forked(inf);
	if (!in_child)
		run_stop(inf);
	run_done(inf, in_child);
	handle_done(inf, in_child);
	resources_done(inf, in_child);
	memory_put(inf, inf);
}
