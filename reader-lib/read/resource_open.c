/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources: names as people write them, bound to entries of a root.
 *
 * A binding holds in one arena while its table of resources is the same (root.h). Each lookup checks that, in
 * a cache line that it loads anyway. If the binding does not hold, a new one replaces it under the
 * lock. Old bindings stay while snapshots of their time may be open: other threads may read them.
 */
#include "reader-lib/read/resource_open.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>

#include "reader-lib/attach/broker_message.h"

#define NAME_MAX_BYTES 512u

/*
 * A name as people write it, cut at its first dot: "resource", "resource.group", "resource.version",
 * "resource.version.group".
 */
struct wanted {
	const char *head;
	size_t head_length;
	const char *tail;	/* after the first dot; NULL: none */
};

static bool
same_text(const char *a, size_t a_length, const char *b, size_t b_length)
{
	return a_length == b_length && strncasecmp(a, b, a_length) == 0;
}

static bool
field_is(struct value descriptor, const char *field, const char *text, size_t length)
{
	size_t n;
	const char *data = descriptor_text(descriptor, field, &n);

	return same_text(data, n, text, length);
}

static bool
head_matches(struct value descriptor, const struct wanted *w)
{
	struct value_iter it;

	if (field_is(descriptor, "resource", w->head, w->head_length) ||
	    field_is(descriptor, "singular", w->head, w->head_length) ||
	    field_is(descriptor, "kind", w->head, w->head_length))
		return true;
	it = value_iterate(value_at_name(descriptor, "shortNames"));
	while (value_next(&it)) {
		const char *data;
		size_t n;

		if (value_string(it.item, &data, &n) && same_text(data, n, w->head, w->head_length))
			return true;
	}
	return false;
}

static bool
tail_matches(struct value descriptor, const struct wanted *w)
{
	const char *group, *version;
	size_t group_length, version_length, tail_length;

	if (!w->tail)
		return true;
	tail_length = strlen(w->tail);
	group = descriptor_text(descriptor, "group", &group_length);
	version = descriptor_text(descriptor, "version", &version_length);
	if (group_length > 0 && same_text(w->tail, tail_length, group, group_length))
		return true;
	if (tail_length < version_length || strncasecmp(w->tail, version, version_length) != 0)
		return false;
	if (tail_length == version_length)
		return group_length == 0;
	/* "v1." names the core group outright */
	return w->tail[version_length] == '.' &&
	       same_text(w->tail + version_length + 1, tail_length - version_length - 1, group, group_length);
}

static bool
same_resource(struct value a, struct value b)
{
	static const char *const fields[] = {"group", "version", "resource"};

	for (unsigned i = 0; i < 3; i++) {
		size_t length;
		const char *text = descriptor_text(b, fields[i], &length);

		if (!field_is(a, fields[i], text, length))
			return false;
	}
	return true;
}

/*
 * The entries that a name means, all of one resource. The core group comes before others; among them the
 * first entry wins. -EBADMSG: no entry fits, and some cannot be read. INFORMER_E_NOT_READY: no entry fits,
 * and informerd has not resolved all names yet.
 */
static int
find_parts(const struct snapshot *s, const struct wanted *w, uint32_t ret_positions[RESOURCE_MAX],
	   uint32_t *ret_count)
{
	struct value chosen = {0};
	bool damaged = false, more = false;
	uint32_t count = 0;

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < s->resource_count; i++) {
			const struct resource *r = snapshot_resource(s, i);
			struct value d = {0};
			size_t group_length;

			if (r)
				d = value_of_block(&s->view, r->descriptor);
			if (!d.at) {
				damaged |= s->root->resources[i] != 0;
				more |= s->root->resources[i] == 0;
				continue;
			}
			if (round == 1) {
				if (same_resource(d, chosen))
					ret_positions[count++] = i;
				continue;
			}
			if (!head_matches(d, w) || !tail_matches(d, w))
				continue;
			descriptor_text(d, "group", &group_length);
			if (!chosen.at || group_length == 0)
				chosen = d;
			if (group_length == 0)
				break;
		}
		if (!chosen.at)
			return damaged ? -EBADMSG : more ? INFORMER_E_NOT_READY : INFORMER_E_NO_RESOURCE;
	}
	*ret_count = count;
	return count ? 0 : -EBADMSG;
}

/* The daemon's name of a resource that is cached on demand; "": it is not. */
static void
name_on_demand(struct value descriptor, char *name, size_t size)
{
	bool on_demand;

	if (!value_bool(value_at_name(descriptor, "onDemand"), &on_demand) || !on_demand ||
	    !descriptor_canonical_name(descriptor, name, size))
		name[0] = '\0';
}

/* Remember to tell the daemon that this resource is used. */
static void
want(struct informer_resource *res, const char *name)
{
	snprintf(res->canonical, sizeof(res->canonical), "%s", name);
	res->wanted = true;
	/* Meets the exchange in resources_tell_wants(): `wanted` and the name were set before. */
	atomic_store_explicit(&res->inf->resources->wants, true, memory_order_release);
}

void
resources_tell_wants(struct informer *inf)
{
	struct message_want message = {0};
	bool left = false;

	/* Meets want(): a thread that takes the flag sees the name. `lock` below orders the rest. */
	if (!atomic_load_explicit(&inf->resources->wants, memory_order_relaxed) ||
	    inf->connection != CONNECTION_UP ||
	    !atomic_exchange_explicit(&inf->resources->wants, false, memory_order_acquire))
		return;
	message_begin(&message.head, MESSAGE_WANT, sizeof(message));
	pthread_mutex_lock(&inf->resources->lock);
	for (struct informer_resource *res = inf->resources->first; res; res = res->next) {
		if (!res->wanted)
			continue;
		memcpy(message.resource, res->canonical, sizeof(message.resource));
		res->wanted = send(inf->socket, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0;
		left |= res->wanted;
	}
	pthread_mutex_unlock(&inf->resources->lock);
	/* The socket is full for a moment, or gone: then another arena comes. Release as in want(). */
	if (left)
		atomic_store_explicit(&inf->resources->wants, true, memory_order_release);
}

/*
 * Does not wait for the handle's `lock`: a thread that binds may hold it itself. If it is taken, its holder
 * tells, or the next thread that drives the connection.
 */
static void
tell_wants_soon(struct informer *inf)
{
	if (!atomic_load_explicit(&inf->resources->wants, memory_order_relaxed))
		return;
	if (pthread_mutex_trylock(&inf->lock) == 0) {
		resources_tell_wants(inf);
		pthread_mutex_unlock(&inf->lock);
	} else {
		atomic_store_explicit(&inf->next_step_ns, 0, memory_order_relaxed);
		eventfd_write(inf->untold, 1);
	}
}

/*
 * b is no longer the first binding. Another thread may still have it: it found b under a pin in a mapping
 * that existed already. The fence meets R1's (snapshot.c): a thread that pins a newer mapping finds the new
 * binding. So b may be freed when all mappings that exist now have gone. Bindings after b in the list were
 * retired before b.
 */
static void
retire(struct informer *inf, struct resource_binding *b)
{
	/* Meets the release store in mapping_reap(): all reads under those pins are over. */
	uint64_t oldest = atomic_load_explicit(&inf->oldest_serial, memory_order_acquire);

	slot_fence();
	b->retired = atomic_load_explicit(&inf->newest_serial, memory_order_relaxed);
	while (b->next && b->next->retired >= oldest)
		b = b->next;
	while (b->next) {
		struct resource_binding *gone = b->next;

		b->next = gone->next;
		memory_put(inf, gone);
	}
}

static int
bind_anew(const struct snapshot *s, struct informer_resource *res,
	  const struct resource_binding **ret_binding)
{
	struct wanted w = {.head = res->name, .head_length = strcspn(res->name, ".")};
	uint32_t positions[RESOURCE_MAX], count = 0;
	char on_demand[sizeof(res->canonical)] = "";
	struct informer *inf = s->inf;
	struct resource_binding *b;
	struct value descriptor;
	int r;

	w.tail = res->name[w.head_length] ? res->name + w.head_length + 1 : NULL;
	r = find_parts(s, &w, positions, &count);
	if (r < 0)
		return r;
	b = memory_get(inf, sizeof(*b) + count * sizeof(b->parts[0]));
	if (!b)
		return -ENOMEM;
	b->mapping = s->mapping->serial;
	b->table = s->root->table;
	b->count = count;
	for (uint32_t i = 0; i < count && r == 0; i++) {
		const struct resource *entry = snapshot_resource(s, positions[i]);

		if (!entry) {
			r = -EBADMSG;
			break;
		}
		b->parts[i] = (struct part){positions[i], fingerprint_of(entry), NULL};
		descriptor = value_of_block(&s->view, LOAD_ONCE(&entry->descriptor));
		if (i == 0)
			name_on_demand(descriptor, on_demand, sizeof(on_demand));
		r = definition_get(inf, &inf->resources->definitions, descriptor, &b->parts[i].definition);
	}
	/* What was read of an arena that was taken back is neither kept nor told to the daemon. */
	r = snapshot_validate(s, r);
	if (r < 0) {
		memory_put(inf, b);
		return r;
	}
	if (on_demand[0])
		want(res, on_demand);
	b->next = res->bindings;
	res->bindings = b;
	/*
	 * Meets the acquire load in resource_bind_first(): the binding is whole before it is found. Without
	 * release a lookup could use a part whose position is not set yet.
	 */
	atomic_store_explicit(&res->binding, b, memory_order_release);
	if (b->next)
		retire(inf, b->next);
	*ret_binding = b;
	return 0;
}

int
resource_bind_slowly(const struct snapshot *s, struct informer_resource *res,
		     const struct resource_binding **ret_binding)
{
	const struct resource *first;
	int r = -EBADMSG;

	if (res->inf != s->inf)
		return -EINVAL;
	pthread_mutex_lock(&s->inf->resources->lock);
	/* Another thread may have made it, or a snapshot of an older arena may use an older one. */
	for (struct resource_binding *b = res->bindings; b && r != 0; b = b->next) {
		if (binding_holds(b, s, &first)) {
			*ret_binding = b;
			r = 0;
		}
	}
	if (r != 0)
		r = bind_anew(s, res, ret_binding);
	pthread_mutex_unlock(&s->inf->resources->lock);
	tell_wants_soon(s->inf);
	return snapshot_validate(s, r);
}

int
informer_resource_open(struct informer *inf, const char *name, struct informer_resource **ret_resource)
{
	struct informer_resource *res;
	size_t length;
	int r = 0;

	if (!inf || !name || !ret_resource)
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	length = strlen(name);
	if (length == 0 || length > NAME_MAX_BYTES || name[0] == '.')
		return error_set(-EINVAL,
				 "'%.40s' is no resource name: write it as kubectl takes it (pods, "
				 "deployments.apps)",
				 name);
	pthread_mutex_lock(&inf->resources->lock);
	for (res = inf->resources->first; res && strcmp(res->name, name) != 0; res = res->next)
		;
	if (!res) {
		res = memory_get(inf, sizeof(*res) + length + 1);
		if (res) {
			memcpy(res->name, name, length + 1);
			res->inf = inf;
			res->next = inf->resources->first;
			inf->resources->first = res;
		} else {
			r = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&inf->resources->lock);
	if (r == 0)
		*ret_resource = res;
	return r;
}

void
resources_init(struct resources *resources)
{
	pthread_mutex_init(&resources->lock, NULL);
}

void
resources_done(struct informer *inf, bool in_child)
{
	struct resources *resources = inf->resources;

	while (resources->first) {
		struct informer_resource *res = resources->first;

		resources->first = res->next;
		while (res->bindings) {
			struct resource_binding *b = res->bindings;

			res->bindings = b->next;
			memory_put(inf, b);
		}
		memory_put(inf, res);
	}
	definitions_free(inf, &resources->definitions);
	if (!in_child)
		pthread_mutex_destroy(&resources->lock);
}
