/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fan-out. Each position in the root has an audience: the subscribers that get its events, and which of their
 * queues have unread entries.
 *
 *	audience[3] ─┬─ hearers  {hash of namespace, subscriber} …   looked through for each event
 *	             └─ unread   place …                             looked through for the lowest unread seq
 *
 * A place is a subscriber at one position. Several entries of one resource have a position each.
 */
#include "writer/serve/fan_out.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm-layout/fnv.h"
#include "shm-layout/object.h"
#include "shm-layout/time_ns.h"
#include "writer/serve/unread.h"

/* ns_hash 0: all namespaces. */
struct hearer {
	uint64_t ns_hash;
	struct subscriber *subscriber;
};

struct audience {
	struct hearer *hearers;
	size_t count, capacity;
	struct unread unread;		/* same capacity as hearers */
	bool any_namespace;		/* some hearer wants one namespace only */
	/* a bit for each wanted namespace, by its hash; all bits: a hearer wants all namespaces */
	uint64_t wanted;
	uint64_t overflows; /* of all queues of the resource; counted at its first position */
};

struct subscriber {
	struct fan_out *fan_out;
	struct subscriber *next, *previous;
	struct unread_queue queue;
	char *resource, *ns;
	size_t ns_length;
	uint64_t ns_hash;
	bool touched;			/* by the commit being told */
	bool muted;
	bool unbound;			/* no memory to bind it: it gets no entries until it is bound */
	bool closed;			/* in fan_out.closed */
	struct subscriber *next_touched, *next_closed;
	void (*on_due)(void *context);
	void (*on_overflow)(void *context, const struct subscriber *s);
	void *context;
};

struct fan_out {
	struct store *store;
	struct fan_out_limits limits;
	struct subscriber *subscribers;
	struct audience audiences[RESOURCE_MAX];
	unsigned bound;			/* resources of the store when subscriptions were bound */
	/* lists: touched by the commit being told; overflowed, waiting to be reopened */
	struct subscriber *touched;
	struct subscriber *closed;
	uint64_t base;			/* of the commit being told */
};

/* Returns a hash, never 0. Equal hashes are confirmed by comparing the text. */
static uint64_t
hash_of(const char *text, size_t length)
{
	uint64_t hash = fnv64(FNV64_BEGIN, text, length);

	return hash ? hash : 1;
}

/* The upper bits: FNV-1a mixes them best. */
static uint64_t
wanted_bit(uint64_t ns_hash)
{
	return ns_hash ? 1ull << (ns_hash >> 58) : UINT64_MAX;
}

/* ---- positions ---- */

static bool
is_at(const struct store *store, unsigned position, const char *resource)
{
	return strcmp(store_resource_name(store, position), resource) == 0;
}

/* The first position of a resource; RESOURCE_MAX: it has none. */
static unsigned
first_of(const struct store *store, const char *resource)
{
	for (unsigned i = 0; i < store_resource_count(store); i++)
		if (is_at(store, i, resource))
			return i;
	return RESOURCE_MAX;
}

/* ---- overflow ---- */

/* The queue overflowed: each commit tries to reopen it. */
static void
note_closed(struct subscriber *s)
{
	struct fan_out *f = s->fan_out;
	unsigned first = first_of(f->store, s->resource);

	if (s->closed)
		return;
	s->closed = true;
	s->next_closed = f->closed;
	f->closed = s;
	if (first < RESOURCE_MAX)
		f->audiences[first].overflows++;
	if (s->on_overflow)
		s->on_overflow(s->context, s);
}

static void
overflow(struct subscriber *s)
{
	ring_out_overflow(s->queue.ring);
	note_closed(s);
}

/* For store_hold_for(). While the queue with the lowest unread seq holds too many bytes, it overflows. */
static uint64_t
lowest_unread(void *context, unsigned resource)
{
	struct fan_out *f = context;
	struct unread_queue *q;
	uint64_t lowest;

	while ((q = unread_lowest(&f->audiences[resource].unread, &lowest))) {
		if (unread_held_bytes(q, f->store) <= f->limits.bytes)
			return lowest;
		overflow(q->subscriber);
	}
	return UINT64_MAX;
}

/* ---- a commit ---- */

/*
 * Reopen each overflowed queue at the first commit that finds it empty, whatever the commit is about: the gap
 * is then smallest.
 */
static void
reopen(struct fan_out *f)
{
	struct subscriber **at = &f->closed;

	while (*at) {
		struct subscriber *s = *at;

		if (!s->unbound)
			ring_out_begin(s->queue.ring, f->base);
		s->closed = !ring_out_is_open(s->queue.ring);
		if (s->closed)
			at = &s->next_closed;
		else
			*at = s->next_closed;
	}
}

static void
push(struct subscriber *s, const struct queue_entry *entry, uint64_t now_ns)
{
	if (s->muted)
		return;
	if (!s->touched) {
		if (!s->closed)
			ring_out_begin(s->queue.ring, s->fan_out->base);
		s->touched = true;
		s->next_touched = s->fan_out->touched;
		s->fan_out->touched = s;
	}
	ring_out_push(s->queue.ring, entry, now_ns);
	if (ring_out_is_open(s->queue.ring))
		unread_note(&s->queue);
	else
		note_closed(s);
}

/* The namespace of the event's object. False: there is none, so the event concerns all subscribers. */
static bool
namespace_of(const struct fan_out *f, const struct store_event *event, const char **ret_ns,
	     size_t *ret_length)
{
	const struct object *o;

	if (event->kind != QUEUE_ADDED && event->kind != QUEUE_UPDATED && event->kind != QUEUE_DELETED)
		return false;
	o = object_at(&store_arena(f->store)->view, event->new_ref ? event->new_ref : event->old_ref);
	if (!o)
		return false;
	*ret_ns = object_namespace(o);
	*ret_length = o->namespace_length;
	return o->namespace_length > 0;
}

static void
tell(struct fan_out *f, const struct audience *a, const struct store_event *event, uint64_t *now_ns)
{
	struct queue_entry entry = {
		.seq = event->seq,
		.kind = event->kind,
		.resource = event->resource,
		.old_ref = event->old_ref,
		.new_ref = event->new_ref,
	};
	const char *ns = "";
	size_t length = 0;
	uint64_t hash = 0;
	bool all = !a->any_namespace || !namespace_of(f, event, &ns, &length);

	if (!all) {
		hash = hash_of(ns, length);
		if ((a->wanted & wanted_bit(hash)) == 0)
			return;
	}
	if (!*now_ns)
		*now_ns = time_ns(CLOCK_BOOTTIME);
	for (size_t i = 0; i < a->count; i++) {
		const struct hearer *l = &a->hearers[i];
		struct subscriber *s;

		if (!all && l->ns_hash != 0 && l->ns_hash != hash)
			continue;
		s = l->subscriber;
		if (all || l->ns_hash == 0 || (s->ns_length == length && memcmp(s->ns, ns, length) == 0))
			push(s, &entry, *now_ns);
	}
}

static void rebind(struct fan_out *f);

static void
on_events(void *context, const struct store_event *events, size_t count, uint64_t base)
{
	struct fan_out *f = context;
	uint64_t now_ns = 0;

	if (!f->subscribers)
		return;
	if (f->bound != store_resource_count(f->store))
		rebind(f);
	f->base = base;
	reopen(f);
	for (size_t i = 0; i < count; i++) {
		const struct audience *a = &f->audiences[events[i].resource];

		if (a->count > 0)
			tell(f, a, &events[i], &now_ns);
	}
	while (f->touched) {
		struct subscriber *s = f->touched;

		f->touched = s->next_touched;
		s->touched = false;
		if (ring_out_publish(s->queue.ring))
			s->on_due(s->context);
	}
}

/* For store_heard_by(). Until subscriptions are bound anew, any of them may want the resource. */
static bool
is_heard(void *context, unsigned resource)
{
	const struct fan_out *f = context;

	return f->bound != store_resource_count(f->store) ? f->subscribers != NULL
							  : f->audiences[resource].count > 0;
}

/* ---- subscribers at positions ---- */

/* Room for one more hearer. 0, -ENOMEM. */
static int
audience_grow(struct audience *a)
{
	size_t capacity = a->capacity ? a->capacity * 2 : 8;
	struct hearer *hearers;

	if (a->count < a->capacity)
		return 0;
	hearers = reallocarray(a->hearers, capacity, sizeof(*hearers));
	if (hearers)
		a->hearers = hearers;
	if (!hearers || unread_reserve(&a->unread, capacity) < 0)
		return -ENOMEM;
	a->capacity = capacity;
	return 0;
}

static void
unbind(struct subscriber *s)
{
	for (size_t i = 0; i < s->queue.place_count; i++) {
		struct audience *a = &s->fan_out->audiences[s->queue.places[i].resource];

		for (size_t k = 0; k < a->count; k++) {
			if (a->hearers[k].subscriber != s)
				continue;
			a->hearers[k] = a->hearers[--a->count];
			break;
		}
		a->wanted = 0;
		for (size_t k = 0; k < a->count; k++)
			a->wanted |= wanted_bit(a->hearers[k].ns_hash);
	}
	unread_forget(&s->queue);
}

static int
bind(struct subscriber *s)
{
	unsigned count = store_resource_count(s->fan_out->store);
	struct unread_queue *q = &s->queue;
	size_t wanted = 0;

	for (unsigned i = 0; i < count; i++) {
		if (!is_at(s->fan_out->store, i, s->resource))
			continue;
		if (audience_grow(&s->fan_out->audiences[i]) < 0)
			return -ENOMEM;
		wanted++;
	}
	if (wanted == 0)
		return 0;
	q->places = calloc(wanted, sizeof(q->places[0]));
	if (!q->places)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		struct audience *a = &s->fan_out->audiences[i];

		if (!is_at(s->fan_out->store, i, s->resource))
			continue;
		q->places[q->place_count++] = (struct unread_place){
			.queue = q, .list = &a->unread, .resource = i};
		a->hearers[a->count++] = (struct hearer){s->ns_hash, s};
		a->any_namespace |= s->ns_hash != 0;
		a->wanted |= wanted_bit(s->ns_hash);
	}
	return 0;
}

static void
rebind(struct fan_out *f)
{
	f->bound = store_resource_count(f->store);
	for (struct subscriber *s = f->subscribers; s; s = s->next) {
		unbind(s);
		s->unbound = bind(s) < 0;
		if (s->unbound) {
			overflow(s);
			f->bound = UINT_MAX; /* bind again before the next events are told */
		} else if (ring_out_lowest(s->queue.ring) != UINT64_MAX) {
			unread_note(&s->queue);
		}
	}
	store_release_held(f->store);
}

/* ---- subscriptions ---- */

static void
subscriber_destroy(struct subscriber *s, bool take_back)
{
	unbind(s);
	ring_out_free(s->queue.ring, take_back);
	free(s->resource);
	free(s->ns);
	free(s);
}

uint32_t
fan_out_entries(const struct fan_out *f, uint32_t wanted)
{
	uint32_t entries = ring_out_capacity(wanted ? wanted : f->limits.entries),
		 most = ring_out_capacity(f->limits.max_entries);

	return entries < most ? entries : most;
}

int
fan_out_subscribe(struct fan_out *f, const struct subscriber_options *options,
		  struct subscriber **ret_subscriber, uint64_t *ret_base, int *ret_fd)
{
	struct subscriber *s = calloc(1, sizeof(*s));
	int fd = -1, r = -ENOMEM;

	if (!s)
		return -ENOMEM;
	if (f->bound != store_resource_count(f->store))
		rebind(f);
	s->fan_out = f;
	s->queue.subscriber = s;
	s->on_due = options->on_due;
	s->on_overflow = options->on_overflow;
	s->context = options->context;
	s->ns_length = options->ns_length;
	s->resource = strndup(options->resource, options->resource_length);
	s->ns = strndup(options->ns, options->ns_length);
	s->ns_hash = s->ns_length ? hash_of(options->ns, s->ns_length) : 0;
	*ret_base = arena_published_seq(store_arena(f->store));
	if (s->resource && s->ns)
		r = ring_out_new(fan_out_entries(f, options->entries), options->cursor, *ret_base,
				 &s->queue.ring, &fd);
	if (r == 0)
		r = bind(s);
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		subscriber_destroy(s, true);
		return r;
	}
	s->next = f->subscribers;
	if (s->next)
		s->next->previous = s;
	f->subscribers = s;
	*ret_subscriber = s;
	*ret_fd = fd;
	return 0;
}

void
fan_out_unsubscribe(struct subscriber *s, bool take_back)
{
	struct subscriber **at;
	struct fan_out *f;

	if (!s)
		return;
	f = s->fan_out;
	assert(!s->touched);
	for (at = &f->closed; s->closed && *at != s; at = &(*at)->next_closed)
		;
	if (s->closed)
		*at = s->next_closed;
	if (s->previous)
		s->previous->next = s->next;
	else
		f->subscribers = s->next;
	if (s->next)
		s->next->previous = s->previous;
	subscriber_destroy(s, take_back);
	store_release_held(f->store);
}

void
fan_out_mute(struct subscriber *s)
{
	s->muted = true;
}

const char *
subscriber_resource_name(const struct subscriber *s)
{
	return s->resource;
}

void
subscriber_stats(struct subscriber *s, struct subscriber_stats *ret)
{
	*ret = (struct subscriber_stats){
		.unread = ring_out_unread(s->queue.ring),
		.held_bytes = unread_held_bytes(&s->queue, s->fan_out->store),
		.overflows = ring_out_overflows(s->queue.ring),
		.open = ring_out_is_open(s->queue.ring),
		.ns = s->ns,
	};
}

/* ---- the whole fan-out ---- */

void
fan_out_tick(struct fan_out *f, uint64_t now_boot_ns)
{
	for (struct subscriber *s = f->subscribers; s; s = s->next)
		if (s->queue.noted &&
		    (ring_out_age_ms(s->queue.ring, now_boot_ns) * 1000000u > f->limits.age_ns ||
		     unread_held_bytes(&s->queue, f->store) > f->limits.bytes))
			overflow(s);
	store_release_held(f->store);
}

int
fan_out_new(struct store *store, struct fan_out_limits limits, struct fan_out **ret_fan_out)
{
	struct fan_out *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->store = store;
	f->limits = limits;
	f->bound = store_resource_count(store);
	store_on_events(store, on_events, f);
	store_hold_for(store, lowest_unread, f);
	store_heard_by(store, is_heard, f);
	*ret_fan_out = f;
	return 0;
}

void
fan_out_set_limits(struct fan_out *f, struct fan_out_limits limits)
{
	f->limits = limits;
}

void
fan_out_free(struct fan_out *f)
{
	if (!f)
		return;
	assert(!f->subscribers);
	store_on_events(f->store, NULL, NULL);
	store_hold_for(f->store, NULL, NULL);
	store_heard_by(f->store, NULL, NULL);
	for (unsigned i = 0; i < RESOURCE_MAX; i++) {
		free(f->audiences[i].hearers);
		free(f->audiences[i].unread.places);
	}
	free(f);
}

uint64_t
fan_out_overflows(const struct fan_out *f, const char *resource)
{
	unsigned first = first_of(f->store, resource);

	return first < RESOURCE_MAX ? f->audiences[first].overflows : 0;
}
