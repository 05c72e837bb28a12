/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources: names as people write them, bound to entries of a root.
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
 * Where a name stands in one arena. Immutable, but for what the lock guards: next and retired.
 *
 * Lifetime: who found it reads it under a pin. It is freed when it has been retired, and no mapping is left
 * that was there then (resource_open.c).
 * retired  when another took its place: the newest mapping's number
 */
struct resource_binding {
	struct resource_binding *next;
	uint64_t retired;
	uint64_t mapping;		/* its serial */
	uint64_t table;			/* the root's */
	uint32_t count;
	struct part parts[];
};

struct informer_resource {
	_Atomic(const struct resource_binding *) binding;
	struct informer *inf;
	struct informer_resource *next;
	struct resource_binding *bindings;
	bool wanted;			/* the daemon is to be told that we look at it; with the lock */
	char canonical[sizeof(((struct message_want *)0)->resource)]; /* what the daemon calls it */
	char name[];
};

/*
 * What this room has of the handle.
 *
 * lock   guards the lists, and the bindings
 * wants  some of them are wanted
 */
struct resources {
	pthread_mutex_t lock;
	struct informer_resource *first;
	struct definition *definitions;
	_Atomic bool wants;
};

/*
 * The binding of a resource that holds for this snapshot.
 * Returns 0, INFORMER_E_NO_RESOURCE, INFORMER_E_NOT_READY (informerd does not know yet what all that it is to
 *         cache is), INFORMER_E_CORRUPT, -ENOMEM, -EINVAL for another handle's resource
 */
int resource_bind_slowly(const struct snapshot *s, struct informer_resource *res,
			 const struct resource_binding **ret_binding);
/* Tell the daemon which resources on demand we look at. Called with the handle's `lock` held, and often. */
void resources_tell_wants(struct informer *inf);
void resources_init(struct resources *resources);
void resources_done(struct informer *inf, bool in_child);

/* The resource block of a part; NULL when damaged. */
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

/* Whether a binding, made from an earlier root of this arena, holds for this one. */
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

/* The same, and the resource block of its first part. */
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
