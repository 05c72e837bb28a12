/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opened resources: names as people write them, bound to entries of a root.
 */
#ifndef READER_LIB_READ_RESOURCE_OPEN_H
#define READER_LIB_READ_RESOURCE_OPEN_H

#include "reader-lib/attach/snapshot.h"
#include "reader-lib/base/likely.h"
#include "reader-lib/read/definition.h"
#include "shm-layout/protocol.h"

struct part {
	uint32_t position;
	uint64_t fingerprint;
	const struct definition *definition;
};

/*
 * A binding: the entries (parts) that a name means in one arena. Immutable, except next and retired, which
 * the resources' lock guards.
 *
 * retired   when another binding replaced this one: the newest mapping's serial at that time
 * Lifetime  a thread reads a binding under a pin. A retired binding is freed when no mapping is left that
 *           existed when it was retired (resource_open.c)
 */
struct resource_binding {
	struct resource_binding *next;
	uint64_t retired;
	uint64_t mapping; /* the mapping's serial */
	uint64_t table;   /* `table` of the root */
	uint32_t count;
	struct part parts[];
};

struct informer_resource {
	_Atomic(const struct resource_binding *) binding;
	struct informer *inf;
	struct informer_resource *next;
	struct resource_binding *bindings;
	bool wanted; /* on demand, and the daemon is not told yet; under the lock */
	char canonical[sizeof(((struct message_want *)0)->resource)]; /* the daemon's name for it */
	char name[];
};

/*
 * This room's part of the handle.
 *
 * lock   guards the lists and the bindings
 * wants  a resource is `wanted`
 */
struct resources {
	pthread_mutex_t lock;
	struct informer_resource *first;
	struct definition *definitions;
	_Atomic bool wants;
};

/*
 * The binding of a resource that holds for this snapshot, existing or new. Takes the resources' lock.
 * Returns 0; INFORMER_E_NO_RESOURCE; INFORMER_E_NOT_READY: discovery has not resolved all configured names;
 *         INFORMER_E_CORRUPT; INFORMER_E_EXPIRED; -ENOMEM; -EINVAL: another handle's resource
 */
int resource_bind_slowly(const struct snapshot *s, struct informer_resource *res,
			 const struct resource_binding **ret_binding);
/* Tell the daemon which on-demand resources we use. Called often, with the handle's `lock` held. */
void resources_tell_wants(struct informer *inf);
void resources_init(struct resources *resources);
void resources_done(struct informer *inf, bool in_child);

/* The resource block of a part; NULL: damaged. */
static inline const struct resource *
part_resource(const struct snapshot *s, const struct part *part)
{
	return snapshot_resource(s, part->position);
}

static inline uint64_t
fingerprint_of(const struct resource *r)
{
	uint64_t f;

	memcpy(&f, r->fingerprint, sizeof(f));
	return f;
}

/* Whether a binding from an earlier root of this arena holds for this root. If so, the first part's block. */
static inline bool
binding_holds(const struct resource_binding *b, const struct snapshot *s, const struct resource **ret_first)
{
	if (b->mapping != s->mapping->serial || b->table != s->root->table)
		return false;
	for (uint32_t i = b->count; i-- > 0;) {
		*ret_first = part_resource(s, &b->parts[i]);
		if (unlikely(!*ret_first)) /* damaged */
			return false;
	}
	return true;
}

/* As resource_bind_slowly(), without a lock if the last binding holds. Also gives the first part's block. */
static inline __attribute__((always_inline)) int
resource_bind_first(const struct snapshot *s, struct informer_resource *res,
		    const struct resource_binding **ret_binding, const struct resource **ret_first)
{
	const struct resource_binding *b;
	int r;

	if (unlikely(!res))
		return -EINVAL;
	/* Meets the release store in bind_anew() (resource_open.c): a binding that is found is whole. */
	b = atomic_load_explicit(&res->binding, memory_order_acquire);
	if (likely(b && binding_holds(b, s, ret_first))) {
		*ret_binding = b;
		return 0;
	}
	r = resource_bind_slowly(s, res, ret_binding);
	if (r == 0)
		*ret_first = part_resource(s, &(*ret_binding)->parts[0]);
	return r;
}

static inline int
resource_bind(const struct snapshot *s, struct informer_resource *res,
	      const struct resource_binding **ret_binding)
{
	const struct resource *first;

	return resource_bind_first(s, res, ret_binding, &first);
}

#endif
