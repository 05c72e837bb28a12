/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private homes. Instead of a handle, a mapping and a root, all of them point to the same constants.
 */
#include "reader-lib/read/private_home.h"

static _Atomic uint32_t never_forked = 1; /* never written */
static _Atomic uint32_t never_revoked = HEADER_LIVE;
static const struct informer nobody = {.alive = &never_forked};
static struct slot never_closed; /* never written */
static const struct mapping nowhere = {.state = &never_revoked, .slot = &never_closed};
static const struct root nothing;

void
private_home_set(struct private_home *home, const void *base, uint64_t bytes)
{
	home->snapshot = (struct snapshot){
		.view = {base, bytes, NULL},
		.inf = (struct informer *)(uintptr_t)&nobody,
		.mapping = (struct mapping *)(uintptr_t)&nowhere,
		.root = &nothing,
		.alive = &never_forked,
	};
	home->deleted_wall_ns = 0;
}

bool
is_private_home(const struct snapshot *s)
{
	return s->mapping == &nowhere;
}
