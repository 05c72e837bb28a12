/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler that answers parked keys: each with its object as soon as a version has it, or at its deadline.
 *
 * A turn opens the newest version, compares what changed since the last turn with the parked keys, and looks
 * up the keys that are new or were in a change. It has no queue: it follows the versions themselves, as
 * private indexes do, and is woken at commits.
 *
 * Invariant: each key that is not `fresh` was looked up in a version not older than `walked`, so every change
 * that may bring its object is still to be compared with it.
 */
#include <errno.h>
#include <string.h>

#include "reader-lib/events/parked_keys.h"
#include "reader-lib/events/run.h"
#include "reader-lib/events/wait.h"
#include "reader-lib/read/by_seq.h"
#include "reader-lib/read/find.h"
#include "reader-lib/read/found_object.h"
#include "shm-layout/time_ns.h"

/* What a turn does at most, so that a snapshot is soon given back. */
#define CHANGES_A_TURN 1024u
#define LOOKS_A_TURN 256u
#define DEADLINES_A_TURN 256u

/*
 * lock             guards keys and unlooked
 * unlooked         a key was parked after the last turn began, or that turn left some
 *
 * Of the thread that runs the handler:
 * serial, epoch    the mapping at the last turn, and its newest version then; 0: none
 * lineage, table, walked  changes up to this seq were compared with the keys
 */
struct parking {
	struct informer *inf;
	struct informer_resource *resource;
	enum informer_by by;
	void *context;
	informer_answer *on_answer;
	pthread_mutex_t lock;
	struct parked_keys keys;
	bool unlooked;
	uint64_t serial, epoch;
	uint8_t lineage[16];
	uint64_t table, walked;
};

/* ---- adding ---- */

static const struct handler_kind parking_kind;

static int
parking_new(struct informer *inf, const struct informer_parking_options *o, struct parking **ret_parking)
{
	struct parking *p;
	int r;

	if (!o->resource || !o->on_answer || (unsigned)o->by > INFORMER_BY_CONTAINER_ID)
		return -EINVAL;
	p = memory_get(inf, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->inf = inf;
	p->by = o->by;
	p->context = o->context;
	p->on_answer = o->on_answer;
	*ret_parking = p;
	r = informer_resource_open(inf, o->resource, &p->resource);
	if (r == 0)
		r = parked_keys_init(&p->keys, &inf->memory);
	pthread_mutex_init(&p->lock, NULL);
	return r;
}

static void
release(struct informer *inf, struct handler_work *w, bool in_child)
{
	struct parking *p = w->parking;

	if (!p)
		return;
	parked_keys_done(&p->keys);
	if (!in_child)
		pthread_mutex_destroy(&p->lock);
	memory_put(inf, p);
}

int
informer_add_parking(struct informer *inf, const struct informer_parking_options *options,
		     struct informer_handler **ret_handler)
{
	struct informer_parking_options o = {0};
	struct informer_handler *h;
	int r;

	if (!inf || !options || !ret_handler || options->size < sizeof(options->size))
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	h = memory_get(inf, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->inf = inf;
	h->work = memory_get(inf, sizeof(*h->work));
	r = h->work ? 0 : -ENOMEM;
	if (r == 0) {
		h->work->kind = &parking_kind;
		h->work->o.context = o.context;
		h->work->o.on_done = o.on_done;
		r = parking_new(inf, &o, &h->work->parking);
	}
	if (r == 0) {
		h->work->sub.resource = h->work->parking->resource;
		/* It has no initial objects to tell. */
		atomic_store_explicit(&h->synced, true, memory_order_relaxed);
		pthread_mutex_lock(&inf->run->wait_lock);
		if (inf->run->stopped)
			r = error_set(INFORMER_E_STOPPED,
				      "informer_stop() was called: no handler can be added");
		else
			run_add(h);
		pthread_mutex_unlock(&inf->run->wait_lock);
	}
	if (r < 0) {
		handler_work_free(inf, h->work, false);
		memory_put(inf, h);
		return r;
	}
	*ret_handler = h;
	return 0;
}

/* p->lock is held. The handle and the handler's stats show how many keys there are. */
static void
count(struct informer_handler *h, int more)
{
	atomic_fetch_add_explicit(&h->inf->run->parked, (unsigned)more, memory_order_relaxed);
	atomic_store_explicit(&h->keys, h->work->parking->keys.count, memory_order_relaxed);
}

/* wait_lock is held. */
static int
add_key(struct informer_handler *h, const char *text, size_t length, int timeout_ms, void *context)
{
	struct parking *p = h->work->parking;
	bool told;
	int r;

	if (p->by == INFORMER_BY_CONTAINER_ID)
		container_id_strip(&text, &length);
	if (length > INDEX_VALUE_MAX)
		return error_set(-EINVAL, "a key of %zu bytes: at most %u can be found", length,
				 INDEX_VALUE_MAX);
	pthread_mutex_lock(&p->lock);
	r = parked_keys_add(&p->keys, text, length, wait_deadline(timeout_ms), context);
	count(h, r == 0);
	told = p->unlooked;
	p->unlooked = true;
	pthread_mutex_unlock(&p->lock);
	if (!told)
		run_look_again(h->inf);
	return r;
}

int
informer_park(struct informer_handler *h, const char *text, size_t length, int timeout_ms, void *context)
{
	struct run *run;
	int r;

	if (!h || !text || length == 0)
		return -EINVAL;
	if (forked(h->inf))
		return INFORMER_E_FORKED;
	run = h->inf->run;
	pthread_mutex_lock(&run->wait_lock);
	if (!h->work || h->removed || run->stopped)
		r = error_set(INFORMER_E_STOPPED, "the handler was removed: no key can be parked");
	else if (!h->work->parking)
		r = error_set(-EINVAL, "keys are parked with a handler of informer_add_parking()");
	else
		r = add_key(h, text, length, timeout_ms, context);
	pthread_mutex_unlock(&run->wait_lock);
	return r;
}

/* ---- when ---- */

/* The current mapping's serial and newest version; false: they are as at the last turn. take: remember them.
 */
static bool
has_news(struct parking *p, bool take)
{
	struct mapping *m;
	uint64_t serial, epoch;
	bool has;

	pthread_mutex_lock(&p->inf->lock);
	m = atomic_load_explicit(&p->inf->current, memory_order_relaxed); /* set under this lock */
	serial = m ? m->serial : 0;
	epoch = m ? slot_load_newest(m->header) : 0;
	pthread_mutex_unlock(&p->inf->lock);
	has = m && (serial != p->serial || epoch > p->epoch);
	if (take) {
		p->serial = serial;
		p->epoch = epoch;
	}
	return has;
}

static bool
due(const struct handler_work *w, uint64_t now_ns)
{
	struct parking *p = w->parking;
	bool due, any;

	pthread_mutex_lock(&p->lock);
	due = p->unlooked || parked_keys_deadline(&p->keys) <= now_ns;
	any = p->keys.count > 0;
	pthread_mutex_unlock(&p->lock);
	return due || (any && has_news(p, false));
}

static uint64_t
due_at(const struct handler_work *w)
{
	struct parking *p = w->parking;
	uint64_t at;

	pthread_mutex_lock(&p->lock);
	at = parked_keys_deadline(&p->keys);
	pthread_mutex_unlock(&p->lock);
	return at;
}

/* ---- answering ---- */

/* Call on_answer for a caller that was taken. */
static void
answer(struct informer_handler *h, struct parked *one, int result, const struct informer_object *object)
{
	struct parking *p = h->work->parking;

	atomic_fetch_add_explicit(&h->events, 1, memory_order_relaxed);
	p->on_answer(p->context, one->context, result, object);
	memory_put(p->inf, one);
}

/* Call for each caller of a key. Returns 1; 0: the handler left off; negative: the snapshot expired. */
static int
answer_all(struct informer_handler *h, const struct informer_snapshot *snapshot, struct parked_key *key,
	   int result, const struct informer_object *object)
{
	struct parking *p = h->work->parking;
	struct parked *one;
	bool last = false;
	int r = 1;

	while (!last && r > 0) {
		pthread_mutex_lock(&p->lock);
		one = parked_keys_take(&p->keys, key, &last);
		count(h, -1);
		pthread_mutex_unlock(&p->lock);
		answer(h, one, result, object);
		r = snapshot_validate(snapshot_of(snapshot), handler_leaves(h) ? 0 : 1);
	}
	return r;
}

/* Returns 1: some deadline had come; 0 */
static int
answer_expired(struct informer_handler *h)
{
	struct parking *p = h->work->parking;
	uint64_t now = time_ns(CLOCK_MONOTONIC);
	int did = 0;

	for (unsigned i = 0; i < DEADLINES_A_TURN && !handler_leaves(h); i++) {
		struct parked *one;

		pthread_mutex_lock(&p->lock);
		one = parked_keys_take_expired(&p->keys, now);
		if (one)
			count(h, -1);
		pthread_mutex_unlock(&p->lock);
		if (!one)
			break;
		answer(h, one, -ETIMEDOUT, NULL);
		did = 1;
	}
	return did;
}

static void
cancel_all(struct informer_handler *h)
{
	struct parking *p = h->work->parking;
	struct parked_key *key;

	/* No lock: the handler is removed, so no key is added, and this thread runs it. */
	while ((key = p->keys.fresh.first) || (key = p->keys.looked.first)) {
		struct parked *one = parked_keys_take(&p->keys, key, NULL);

		count(h, -1);
		answer(h, one, -ECANCELED, NULL);
	}
}

/* ---- looking ---- */

static int
touch(const char *data, size_t length, void *context)
{
	struct parking *p = context;

	parked_keys_touch(&p->keys, data, length);
	return 0;
}

static int
touch_values(struct parking *p, const struct snapshot *s, const struct part *part, uint32_t ref,
	     enum index_role role)
{
	int number = part->definition->roles[role];

	return number < 0 ? 0
			  : index_def_each(&part->definition->indexes[number], value_of_object(&s->view, ref),
					   touch, p);
}

/* p->lock is held. Touch the keys that a changed object has. To be validated. */
static int
touch_keys_of(struct parking *p, const struct snapshot *s, const struct part *part, const struct found *found)
{
	char key[OBJECT_KEY_MAX + 1];
	struct informer_object object;
	size_t length;
	int r;

	object_set(&object, s, found->object, found->ref, part->position);
	switch (p->by) {
	case INFORMER_BY_UID: /* of pods also an annotation */
		return touch_values(p, s, part, found->ref, INDEX_ROLE_UID);
	case INFORMER_BY_IP:
		return touch_values(p, s, part, found->ref, INDEX_ROLE_ADDRESS);
	case INFORMER_BY_CONTAINER_ID:
		return touch_values(p, s, part, found->ref, INDEX_ROLE_CONTAINER);
	case INFORMER_BY_KEY:
	default:
		r = informer_object_key(&object, key, sizeof(key), &length);
		return r == 0 ? touch(key, length, p) : r;
	}
}

/*
 * Whether some object could be found by a new value after `walked`. Mostly none could: a change of a status
 * brings no UID, name, address or container ID.
 */
static bool
is_any_new(const struct parking *p, const struct snapshot *s, const struct resource_binding *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct resource *r = part_resource(s, &b->parts[i]);

		if (!r || r->valued_seq > p->walked)
			return true;
	}
	return false;
}

/* p->lock is held. Returns 1: there are more changes; 0; negative: not now. */
static int
follow_changes(struct parking *p, const struct snapshot *s, const struct resource_binding *b)
{
	uint64_t walked = p->walked;
	struct by_seq walk = {0};
	struct found found;
	unsigned passed = 0;
	int r = by_seq_start(&walk, s, b, walked);

	while (r == 0 && passed++ < CHANGES_A_TURN && (r = by_seq_next(&walk, &found)) > 0) {
		walked = found.seq;
		r = touch_keys_of(p, s, &b->parts[found.part], &found);
	}
	by_seq_done(p->inf, &walk);
	r = snapshot_validate(s, r);
	if (r == 0)
		p->walked = passed > CHANGES_A_TURN ? walked : s->root->seq;
	return r < 0 ? r : passed > CHANGES_A_TURN;
}

/* The same for any snapshot. More changes than keys, and changes of the store itself: look up all keys. */
static int
follow(struct parking *p, const struct snapshot *s)
{
	const struct resource_binding *b;
	uint64_t seq = s->root->seq;
	int r = resource_bind(s, p->resource, &b);

	if (r < 0)
		return r;
	pthread_mutex_lock(&p->lock);
	if (p->table != s->root->table || memcmp(p->lineage, s->root->lineage, sizeof(p->lineage)) != 0 ||
	    seq < p->walked) {
		memcpy(p->lineage, s->root->lineage, sizeof(p->lineage));
		p->table = s->root->table;
		p->walked = seq;
		parked_keys_touch_all(&p->keys);
	} else if (seq > p->walked && !is_any_new(p, s, b)) {
		r = snapshot_validate(s, 0);
		p->walked = r == 0 ? seq : p->walked;
	} else if (seq - p->walked > p->keys.count) {
		p->walked = seq;
		parked_keys_touch_all(&p->keys);
	} else if (seq > p->walked) {
		r = follow_changes(p, s, b);
	}
	pthread_mutex_unlock(&p->lock);
	return r;
}

/* Look up a key. Returns 1: answered, or not found; 0: leave off; negative: not now. */
static int
look_at(struct informer_handler *h, const struct informer_snapshot *snapshot, struct parked_key *key)
{
	struct parking *p = h->work->parking;
	struct informer_object object;
	int r = informer_find(snapshot, p->resource, p->by, key->text, key->node.length, &object, NULL);

	if (r == 0 || r == INFORMER_E_NO_INDEX)
		return answer_all(h, snapshot, key, r, r == 0 ? &object : NULL);
	if (r != INFORMER_E_NOT_FOUND)
		return r;
	pthread_mutex_lock(&p->lock);
	parked_keys_looked(&p->keys, key);
	pthread_mutex_unlock(&p->lock);
	return 1;
}

static struct parked_key *
fresh_key(struct parking *p)
{
	struct parked_key *key;

	pthread_mutex_lock(&p->lock);
	key = p->keys.fresh.first;
	pthread_mutex_unlock(&p->lock);
	return key;
}

/* Returns 1: there is more to do in this version; 0: all keys were looked up; negative: not now. */
static int
look(struct informer_handler *h, const struct informer_snapshot *snapshot)
{
	struct parking *p = h->work->parking;
	int more = follow(p, snapshot_of(snapshot)), r = more < 0 ? more : 1;
	struct parked_key *key;

	for (unsigned i = 0; r > 0; i++) {
		key = fresh_key(p);
		if (!key || i == LOOKS_A_TURN)
			return more > 0 || key;
		r = look_at(h, snapshot, key);
	}
	return r;
}

static int
turn(struct informer_handler *h)
{
	struct parking *p = h->work->parking;
	struct informer_snapshot snapshot;
	int r;

	pthread_mutex_lock(&p->lock);
	p->unlooked = false;
	pthread_mutex_unlock(&p->lock);
	has_news(p, true);
	r = informer_begin(p->inf, &snapshot);
	if (r == 0) {
		r = look(h, &snapshot);
		informer_end(&snapshot);
	}
	/* The daemon may come, or cache the resource yet; then there is a newer version. */
	if (r == INFORMER_E_NO_RESOURCE || r == INFORMER_E_NOT_READY)
		r = 0;
	if (r != 0 || handler_leaves(h)) {
		pthread_mutex_lock(&p->lock);
		p->unlooked = true;
		pthread_mutex_unlock(&p->lock);
	}
	if (r > 0 || handler_leaves(h))
		return r > 0;
	return answer_expired(h) ? 1 : r;
}

static const struct handler_kind parking_kind = {
	.turn = turn, .due = due, .due_at = due_at, .end = cancel_all, .release = release};
