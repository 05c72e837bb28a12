/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library's files share: the handle, its mappings, and what an open snapshot holds.
 *
 * The handle begins with what informer_begin() reads; everything else stands behind it and is protected by
 * `lock` (connection, list of mappings), `bind_lock` (names and definitions) or `error_lock`. No lock is
 * taken by a lookup, except bind_lock by the first one that meets a new definition. Order: wait_lock, lock,
 * bind_lock, error_lock.
 */
#ifndef READER_LIB_BASE_INTERNAL_H
#define READER_LIB_BASE_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/un.h>

#include "reader-lib/base/allocator.h"
#include "reader-lib/informer.h"
#include "shm-layout/index_def.h"
#include "shm-layout/posting.h"
#include "shm-layout/protocol.h"
#include "shm-layout/root.h"
#include "shm-layout/shortcut.h"
#include "shm-layout/slot.h"
#include "shm-layout/tag.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- mapping.c: one arena, as it was handed to us ---- */

/*
 * Lifetime: listed in the handle until detach. The arena itself is unmapped once another mapping is current
 * and all cells are FREE; the slot page stays, since a thread may be on its way into it (snapshot.c).
 */
struct mapping {
	const struct header *header;	/* the arena's base */
	_Atomic uint32_t *state;	/* the header's */
	struct slot *slot;
	/* NULL unless INFORMER_VERIFY; keys then holds the block keys */
	struct block_verifier *verifier;
	_Atomic uint64_t checked;	/* bytes known to lie within the file */
	_Atomic bool expired;		/* the same arena was attached again: our old slot protects nothing */
	/* the connection that it came over is gone: does the slot still protect? */
	_Atomic bool lost;
	_Atomic unsigned holds;		/* rings whose entries refer to it */
	uint8_t hash_key[16];
	uint64_t generation;
	uint64_t max_bytes;
	uint8_t incarnation[16];
	struct tag_keys keys;
	int arena_fd;
	int event_fd;
	bool unmapped;
	struct mapping *next;
};

/*
 * Take over three received descriptors (also on failure) and map them.
 * Returns 0, or a code with a message in the handle. -EAGAIN: the arena is not complete yet.
 */
int mapping_new(struct informer *inf, const int fds[PROTOCOL_DESCRIPTORS],
		const struct message_welcome *welcome, struct mapping **ret_mapping);
void mapping_free(struct informer *inf, struct mapping *m, bool forked);
/* Unmap arenas that nobody reads any more. Called with `lock` held. */
void mapping_reap(struct informer *inf);
/* The arena grew: look whether the file did too. Returns how many bytes may be touched. */
uint64_t mapping_grown(struct mapping *m, uint64_t committed);
static inline bool
mapping_superseded(const struct mapping *m)
{
	struct header *h = (struct header *)(uintptr_t)m->header;

	return atomic_load_explicit(&h->superseded_by, memory_order_relaxed) != 0 ||
	       atomic_load_explicit(&h->state, memory_order_relaxed) == HEADER_REVOKED ||
	       atomic_load_explicit(&m->expired, memory_order_relaxed);
}
unsigned mapping_pins(const struct mapping *m);

/* ---- the handle ---- */

enum link_state { LINK_DOWN, LINK_GREETING, LINK_UP };

struct informer {
	_Atomic(struct mapping *) current;
	_Atomic uint32_t *alive;	/* a word that reads 0 in a forked child */

	pthread_mutex_t lock;
	struct mapping *mappings;
	/* informer_begin() drives the connection from then on (CLOCK_MONOTONIC) */
	_Atomic uint64_t next_step_ns;
	enum link_state link;
	int socket;
	int epoll;			/* of all that the leader polls */
	int timer;
	uint64_t attempt_ns;		/* DOWN: when to try; GREETING: when to give up */
	uint64_t delay_ns;
	uint64_t attaches;
	char reason[256];
	struct subscription *subscriptions;
	uint8_t unanswered[SLOT_QUEUES];	/* SUBSCRIBEs of each number that no answer came to yet */
	_Atomic bool subscription_waits;	/* for its resource to appear: to be woken at commits */

	pthread_mutex_t wait_lock;
	pthread_cond_t wait_cond;
	bool leader;			/* one waiter sleeps in poll(); the others on wait_cond */
	bool step_waits;		/* the leader has put the descriptors off, behind a handler */
	int kick;			/* wakes the leader when another thread's dispatch took the news */
	int told;			/* in epoll: informer_begin() took news that dispatch has to tell */
	unsigned waiters;		/* in wait_for() */

	/* run.c, with wait_lock */
	struct informer_handler *handlers;
	unsigned handler_count;		/* that are not gone */
	pthread_cond_t handler_cond;	/* a handler was let go, or is gone */
	_Atomic unsigned watchers;	/* of handler_cond */
	pthread_cond_t run_idle;
	unsigned idle;			/* threads in run_idle */
	pthread_t threads[SLOT_QUEUES];
	unsigned thread_count;
	bool running, stopping, stopped;
	int outer;			/* informer_fd(): epoll, and due */
	int due;			/* handlers have something to do that nobody does */
	bool due_set;
	int alarm;			/* in epoll: a handler becomes due by the time */
	uint64_t alarm_at;

	pthread_mutex_t bind_lock;
	struct informer_resource *resources;
	_Atomic bool wants;		/* some of them are wanted */
	struct definition *definitions;

	pthread_mutex_t error_lock;
	char error[512];

	struct sockaddr_un addresses[2];
	unsigned address_count;
	uint32_t flags;
	char reader_name[64];
	void (*log)(void *context, enum informer_log_level level, const char *message);
	void *log_context;
	struct allocator memory;
};

static inline bool
forked(const struct informer *inf)
{
	return unlikely(atomic_load_explicit(inf->alive, memory_order_relaxed) == 0);
}

static inline void *
memory_get(const struct informer *inf, size_t size)
{
	return allocator_get(&inf->memory, size);
}

static inline void
memory_put(const struct informer *inf, void *memory)
{
	allocator_put(&inf->memory, memory);
}

/* ---- error.c ---- */

/* Keep a sentence for informer_last_error(), and hand the code through. */
int error_set(struct informer *inf, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
void log_say(struct informer *inf, enum informer_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- connection.c: all with `lock` held ---- */

/* Do what can be done without waiting. Returns whether something changed. */
bool connection_step(struct informer *inf);
void connection_close(struct informer *inf, bool forked);
/* While the link is up: look again at this time (CLOCK_MONOTONIC), or earlier. */
void connection_timer(struct informer *inf, uint64_t at_ns);
/* A connected socket, or negative errno. For informer_stat_json() as well. */
int connection_open(struct informer *inf, bool nonblocking);
/* Check the head of a packet. Returns whether it is one of ours with its true length. */
bool message_ok(const void *packet, size_t length, size_t min_length);
void message_begin(struct message_head *head, uint16_t type, uint32_t length);
/* The sentence of a REFUSED packet as this handle's error. */
int message_refusal(struct informer *inf, const void *packet, size_t length);

/* dispatch with the lock held by nobody; wakes waiters. */
bool informer_step(struct informer *inf);
/* The same, and the caller wakes them. */
bool informer_step_quietly(struct informer *inf);

/* ---- snapshot.c ---- */

struct copy;

/*
 * What struct informer_snapshot holds. The view comes first: values point at it, and so find their snapshot.
 *
 * copies  objects that were copied for it and go with it (copy.h); NULL: none
 */
struct snapshot {
	struct arena_view view;
	struct informer *inf;
	struct mapping *mapping;
	struct pin_cell *cell;
	const struct root *root;
	uint64_t epoch;
	struct copy *copies;
	/* the handle's; NULL: the snapshot is not open. Every accessor looks at it */
	_Atomic uint32_t *alive;
};
_Static_assert(sizeof(struct snapshot) <= sizeof(struct informer_snapshot),
	       "snapshot: private_ is too small");

/*
 * informer_begin() on a mapping that the caller holds mapped (it holds a ring of it, or `lock` while it is
 * current): also on one that was superseded. Without the part of informer_begin() that drives the connection.
 */
int snapshot_begin_on(struct informer *inf, struct mapping *m, struct informer_snapshot *ret_snapshot);
/* The arena may have grown since: see to it that what is published now can be followed. */
void snapshot_stretch(struct informer_snapshot *snapshot);

static inline const struct snapshot *
snapshot_of(const struct informer_snapshot *s)
{
	return (const struct snapshot *)(const void *)s;
}

static inline const struct snapshot *
snapshot_of_view(const struct arena_view *view)
{
	return (const struct snapshot *)(const void *)view;
}

/* 0, or why nothing may be read through this snapshot. */
static inline int
snapshot_usable(const struct snapshot *s)
{
	if (unlikely(!s || !s->alive))
		return -EINVAL;
	return unlikely(atomic_load_explicit(s->alive, memory_order_relaxed) == 0) ? INFORMER_E_FORKED : 0;
}

/*
 * After reading: r, unless the arena was revoked meanwhile, whose pages then read as zeros.
 * Order: what was read is read before the state word, which the writer sets before it takes the first page.
 */
static inline int
snapshot_settle(const struct snapshot *s, int r)
{
#ifdef __SANITIZE_THREAD__
	atomic_signal_fence(memory_order_seq_cst);
#else
	atomic_thread_fence(memory_order_acquire);
#endif
	if (unlikely(atomic_load_explicit(s->mapping->state, memory_order_relaxed) == HEADER_REVOKED ||
		     atomic_load_explicit(&s->mapping->expired, memory_order_relaxed)))
		return INFORMER_E_EXPIRED;
	return r == -EBADMSG ? INFORMER_E_CORRUPT : r;
}

/* ---- definition.c: descriptors, read ---- */

/*
 * How a resource is indexed. Owned by the handle until detach; equal descriptors share one.
 *
 * namespace_, labels, uid, address, container   number of the index that serves this, or -1
 */
struct definition {
	struct definition *next;
	uint8_t digest[16];	/* of the descriptor's JSON text */
	uint32_t index_count;
	int namespace_, labels, uid, address, container;
	struct index_def indexes[];
};

/* Read a descriptor, or find the definition that was read from an equal one. bind_lock held. */
int definition_get(struct informer *inf, struct value descriptor, const struct definition **ret_definition);
void definitions_free(struct informer *inf);
/* The number of the index of this name, or -1. */
int definition_index(const struct definition *d, const char *name);

/* The text of a descriptor's field; "" when absent. */
const char *descriptor_text(struct value descriptor, const char *field, size_t *ret_length);

/* ---- resource.c: names, bound to positions in a root ---- */

struct part {
	uint32_t position;
	uint64_t fingerprint;
	const struct definition *definition;
};

/* Where a name stands in one arena. Immutable; freed at detach. */
struct resource_binding {
	struct resource_binding *next;
	const struct mapping *mapping;
	uint64_t table;			/* the root's */
	uint32_t count;
	struct part parts[];
};

struct informer_resource {
	_Atomic(const struct resource_binding *) binding;
	struct informer *inf;
	struct informer_resource *next;
	struct resource_binding *bindings;
	bool wanted;			/* the daemon is to be told that we look at it; with bind_lock */
	char canonical[sizeof(((struct message_want *)0)->resource)]; /* what the daemon calls it */
	char name[];
};

/*
 * The binding of a resource that holds for this snapshot.
 * Returns 0, INFORMER_E_NO_RESOURCE, INFORMER_E_CORRUPT, -ENOMEM, -EINVAL for another handle's resource
 */
int resource_bind_slowly(const struct snapshot *s, struct informer_resource *res,
			 const struct resource_binding **ret_binding);
void resources_free(struct informer *inf);
/* Tell the daemon which resources on demand we look at. Called with `lock` held, and often. */
void resources_tell_wants(struct informer *inf);
/* The resource block of a part; NULL when damaged. */
static inline const struct resource *
part_resource(const struct snapshot *s, const struct part *part)
{
	return root_resource(&s->view, s->root, part->position);
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
	if (b->mapping != s->mapping || b->table != s->root->table)
		return false;
	for (uint32_t i = b->count; i-- > 0;) {
		*ret_first = part_resource(s, &b->parts[i]);
		if (unlikely(!*ret_first)) /* damaged */
			return false;
	}
	return true;
}

/* The same, and the resource block of its first part. */
static inline int
resource_bind_first(const struct snapshot *s, struct informer_resource *res,
		    const struct resource_binding **ret_binding, const struct resource **ret_first)
{
	const struct resource_binding *b;
	int r;

	if (unlikely(!res))
		return -EINVAL;
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

/* ---- lookup.c ---- */

/* The object of an ordinal, checked: 1, 0 none, -EBADMSG. */
int object_of_ordinal(const struct snapshot *s, const struct resource *r, uint32_t ordinal, uint32_t *ret_ref,
		      const struct object **ret_object);
/*
 * The leaf (for ordinal_first()) of an index value: 1, 0 none, or negative.
 * number  of the index; negative: INFORMER_E_NO_INDEX
 */
int index_leaf(const struct snapshot *s, const struct part *part, const struct resource *r, int number,
	       const char *value, size_t value_length, uint32_t *ret_leaf);
/* How many ordinals a leaf stands for; 0 when damaged. */
uint64_t leaf_count(const struct snapshot *s, uint32_t leaf);

/*
 * An object's entry_: the position of its resource, and what is known of this very state. A position is below
 * RESOURCE_MAX.
 *
 * OBJECT_DELETED  it was found as a deleted one, or was told as such: see object_mark_deleted()
 * OBJECT_COPIED   informer_object_free() has something to free
 */
#define OBJECT_POSITION 0xffffu
#define OBJECT_DELETED	(1u << 30)
#define OBJECT_COPIED	(1u << 31)
_Static_assert(RESOURCE_MAX <= OBJECT_POSITION, "object: a position needs more bits");

static inline void
object_set(struct informer_object *ret, const struct snapshot *s, const struct object *o, uint32_t ref,
	   uint32_t position)
{
	ret->snapshot_ = (const struct informer_snapshot *)(const void *)s;
	ret->object_ = o;
	ret->ref_ = ref;
	ret->entry_ = position;
}

/* Of one that is given to on_delete. */
static inline void
object_mark_deleted(struct informer_object *object)
{
	object->entry_ |= OBJECT_DELETED;
}

/* An object of which only the key is known: see key_object.h. */
static inline bool
object_is_key_only(const struct informer_object *object)
{
	return object->ref_ == 0;
}

/* 0, or why the object may not be read. */
static inline int
object_usable(const struct informer_object *object)
{
	return unlikely(!object || !object->object_) ? -EINVAL
						     : snapshot_usable(snapshot_of(object->snapshot_));
}

/* ---- selector.c ---- */

/* A requirement by which the label index can narrow the search: its "key=value". False: there is none. */
bool selector_equality(const struct informer_selector *selector, const char **ret_value, size_t *ret_length);
/* 1, 0, or -EBADMSG. */
int selector_match(const struct informer_selector *selector, struct value body);

/* ---- object.c ---- */

/* A field by its terminated name. */
struct value value_at_name(struct value object, const char *name);

struct informer_path {
	struct path path;
	struct allocator memory;
};

#endif
