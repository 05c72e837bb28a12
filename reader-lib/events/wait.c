/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatch, and waiting.
 *
 * Several threads may wait while others dispatch. There is one descriptor, and its news can be read once. So
 * one waiter, the leader, sleeps in poll(). The others sleep on a condition that the leader signals when it
 * wakes. A thread that dispatches may take the news before the leader's poll() returns, so it kicks the
 * leader.
 *
 * A commit cannot be missed: arm, then look, then sleep. The writer publishes, then looks at the armed word.
 * With the full fence between both steps on either side, one of the two sees the other (PROTOCOLS.md, Armed).
 */
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "reader-lib/attach/connection.h"
#include "reader-lib/base/name_list.h"
#include "reader-lib/events/run.h"
#include "reader-lib/events/wait.h"
#include "reader-lib/events/watch_error.h"
#include "shm-layout/resource_version.h"
#include "shm-layout/time_ns.h"

/* Wake all waiters: another thread read the news. here: this thread runs the handlers that no other runs. */
static void
tell_waiters(struct informer *inf, bool here)
{
	pthread_mutex_lock(&inf->run->wait_lock);
	if (inf->run->leader)
		eventfd_write(inf->run->kick, 1);
	if (inf->run->waiters)
		pthread_cond_broadcast(&inf->run->wait_cond);
	if (!here || inf->run->running)
		run_wake(inf);
	pthread_mutex_unlock(&inf->run->wait_lock);
}

void
wait_step(struct informer *inf)
{
	if (connection_dispatch(inf))
		tell_waiters(inf, false);
}

int
informer_dispatch(struct informer *inf)
{
	int saved = errno;
	bool changed;

	if (!inf)
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	changed = connection_dispatch(inf);
	if (changed)
		tell_waiters(inf, true);
	changed |= run_dispatch(inf);
	errno = saved;
	return changed;
}

/*
 * Ask to be signalled at the next commit. A look after this sees the commit, or the signal comes. The full
 * fence meets the one in broker_wake() (writer/serve/broker_wake.c), between a commit and its look at
 * `armed`. Without it our look could be done before `armed` is set: we see no commit, the writer sees nobody
 * armed, and we sleep over the commit. The acquire meets mapping_make_current().
 */
static void
arm(struct informer *inf)
{
	struct mapping *m = atomic_load_explicit(&inf->current, memory_order_acquire);

	if (m)
		atomic_fetch_or_explicit(&mapping_place(m)->armed, ARMED_COMMIT, memory_order_seq_cst);
	slot_fence();
}

/*
 * What a thread waits for.
 *
 * met       in a snapshot, 1: it is met; 0: not yet, and *ret_why is what is missing; or negative
 * resource  that the condition is about; NULL: none, or all
 * must_be_cached  a running informerd that does not cache the resource ends the wait
 */
struct condition {
	int (*met)(const struct informer_snapshot *snap, const void *what, const char **ret_why);
	const void *what;
	struct informer_resource *resource;
	bool must_be_cached;
};

static int
attached(const struct informer_snapshot *snap, const void *what, const char **ret_why)
{
	(void)snap;
	(void)what;
	(void)ret_why;
	return 1;
}

static int
newer(const struct informer_snapshot *snap, const void *what, const char **ret_why)
{
	const struct informer_moment *seen = what;
	struct informer_moment now;
	int r = informer_snapshot_moment(snap, &now);

	*ret_why = "nothing was committed";
	return r < 0 ? r : !seen || now.generation != seen->generation || now.epoch > seen->epoch;
}

int
wait_later(int r, const char **ret_why)
{
	if (r == INFORMER_E_NO_RESOURCE) /* the daemon may add it yet */
		*ret_why = "informerd does not cache it";
	else if (r == INFORMER_E_NOT_READY)
		*ret_why = "informerd still asks the API server what it serves";
	else if (r != INFORMER_E_EXPIRED) /* an arena that was taken back is followed by another */
		return r;
	return 0;
}

static int
all_synced(const struct informer_snapshot *snap)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	uint32_t seen = 0;

	for (uint32_t i = 0; i < informer_resource_count(snap); i++) {
		int r = informer_resource_info_at(snap, i, &info);

		if (r == INFORMER_E_NOT_READY)
			return 0;
		if (r < 0)
			return r;
		/* A resource that is cached on demand counts only for a caller that names it. */
		if (!info.synced && !info.on_demand)
			return 0;
		seen++;
	}
	return seen > 0;
}

static int
synced(const struct informer_snapshot *snap, const void *what, const char **ret_why)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_resource *res = (struct informer_resource *)(uintptr_t)what;
	int r;

	*ret_why = "the first list is not in";
	if (!res)
		return all_synced(snap);
	r = informer_resource_info(snap, res, &info);
	return r < 0 ? r : info.synced;
}

struct awaited_version {
	struct informer_resource *resource;
	const char *version;
	size_t length;
};

/* Each entry of the resource must have reached the version. */
static int
all_reached(const struct snapshot *s, const struct resource_binding *b, const struct awaited_version *awaited)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct resource *r = part_resource(s, &b->parts[i]);
		const char *version;
		size_t length;

		if (!r)
			return -EBADMSG;
		version = resource_version(r, &length);
		if (r->state != RESOURCE_SYNCED || !resource_version_is_comparable(version, length) ||
		    resource_version_is_less(version, length, awaited->version, awaited->length))
			return 0;
	}
	return 1;
}

static int
reached(const struct informer_snapshot *snap, const void *what, const char **ret_why)
{
	const struct awaited_version *awaited = what;
	const struct resource_binding *b;
	int r = resource_bind(snapshot_of(snap), awaited->resource, &b);

	*ret_why = "the resource has not got to that version";
	return r < 0 ? r : snapshot_validate(snapshot_of(snap), all_reached(snapshot_of(snap), b, awaited));
}

/* Store a sentence for INFORMER_E_NO_RESOURCE. It names what is cached, so it is true of each resource. */
static int
not_cached(const struct informer_snapshot *snap)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct name_list names = {0};
	struct informer_text before = {"", 0};

	for (uint32_t i = 0; i < informer_resource_count(snap); i++) {
		if (informer_resource_info_at(snap, i, &info) != 0)
			continue;
		/* entries for several namespaces or selectors stand side by side */
		if (info.resource_length != before.length ||
		    memcmp(info.resource, before.data, before.length) != 0)
			name_list_add(&names, "", info.resource, info.resource_length);
		before = (struct informer_text){info.resource, info.resource_length};
	}
	return error_set(INFORMER_E_NO_RESOURCE, "informerd does not cache this resource; it caches: %s",
			 names.length ? names.text : "nothing");
}

/* Whether informerd runs, as far as this handle knows: another one may cache other resources. */
static bool
is_served(const struct informer_snapshot *snap)
{
	return !atomic_load_explicit(&snapshot_of(snap)->mapping->lost, memory_order_relaxed);
}

/* Whether the condition is met now: as met(). */
static int
look(struct informer *inf, const struct condition *condition, const char **ret_why)
{
	struct informer_snapshot snap;
	int r = informer_begin(inf, &snap);

	*ret_why = "no arena is attached";
	if (r < 0)
		return r == INFORMER_E_NOT_READY ? 0 : r;
	r = condition->met(&snap, condition->what, ret_why);
	if (r == INFORMER_E_NO_RESOURCE && condition->must_be_cached && is_served(&snap)) {
		r = not_cached(&snap);
		informer_end(&snap);
		return r;
	}
	informer_end(&snap);
	return wait_later(r, ret_why);
}

int
wait_on(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t end_ns)
{
	struct timespec until = {.tv_sec = (time_t)(end_ns / 1000000000u),
				 .tv_nsec = (long)(end_ns % 1000000000u)};

	return end_ns == UINT64_MAX ? pthread_cond_wait(condition, lock)
				    : pthread_cond_timedwait(condition, lock, &until);
}

/*
 * What keeps a resource from syncing, if its Reflector met an error: "; LIST failed: forbidden: ... (403
 * Forbidden)".
 */
static void
add_watch_error(struct informer *inf, struct informer_resource *resource, char *text, size_t size)
{
	struct watch_error trouble = {.recovered = true};
	struct informer_snapshot snap;
	const struct resource_binding *b;
	const struct resource *r;

	if (!resource || informer_begin(inf, &snap) < 0)
		return;
	if (resource_bind(snapshot_of(&snap), resource, &b) == 0)
		for (uint32_t i = 0; i < b->count && trouble.recovered; i++) {
			r = part_resource(snapshot_of(&snap), &b->parts[i]);
			if (!r || !r->status || watch_error_read(snapshot_of(&snap), r->status, &trouble) < 0)
				trouble.recovered = true;
		}
	informer_end(&snap);
	if (trouble.recovered)
		return;
	for (char *c = trouble.message; *c; c++)
		*c = (unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c;
	snprintf(text, size, "; %.390s", trouble.message);
}

uint64_t
wait_deadline(int timeout_ms)
{
	return timeout_ms < 0 ? UINT64_MAX : time_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000u;
}

int
wait_left_ms(uint64_t end_ns)
{
	uint64_t now = time_ns(CLOCK_MONOTONIC), left;

	if (end_ns == UINT64_MAX)
		return -1;
	left = end_ns > now ? (end_ns - now + 999999u) / 1000000u : 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}

int
wait_timed_out(struct informer *inf, struct informer_resource *resource, int timeout_ms, const char *why)
{
	char reason[256], trouble[400] = "";

	pthread_mutex_lock(&inf->lock);
	memcpy(reason, inf->reason, sizeof(reason));
	pthread_mutex_unlock(&inf->lock);
	add_watch_error(inf, resource, trouble, sizeof(trouble));
	return error_set(-ETIMEDOUT, "after %d ms still: %s%s%s%s", timeout_ms, why, trouble,
			 reason[0] ? "; " : "", reason);
}

static int
wait_for(struct informer *inf, struct condition condition, int timeout_ms)
{
	uint64_t end = wait_deadline(timeout_ms);
	const char *why = "";
	int r;

	if (forked(inf))
		return INFORMER_E_FORKED;
	wait_step(inf);
	pthread_mutex_lock(&inf->run->wait_lock);
	inf->run->waiters++;
	for (;;) {
		/* wait_lock is held, so news after this wakes this thread. */
		arm(inf);
		r = look(inf, &condition, &why);
		if (r != 0 || (end != UINT64_MAX && time_ns(CLOCK_MONOTONIC) >= end))
			break;
		if (inf->run->leader)
			wait_on(&inf->run->wait_cond, &inf->run->wait_lock, end);
		else
			run_lead(inf, wait_left_ms(end), false);
	}
	inf->run->waiters--;
	pthread_mutex_unlock(&inf->run->wait_lock);
	if (r != 0)
		return r < 0 ? r : 0;
	return wait_timed_out(inf, condition.resource, timeout_ms, why);
}

int
informer_wait_attached(struct informer *inf, int timeout_ms)
{
	return inf ? wait_for(inf, (struct condition){.met = attached}, timeout_ms) : -EINVAL;
}

int
informer_wait_synced(struct informer *inf, const char *resource, int timeout_ms)
{
	struct informer_resource *res = NULL;
	int r;

	if (!inf)
		return -EINVAL;
	if (resource) {
		r = informer_resource_open(inf, resource, &res);
		if (r < 0)
			return r;
	}
	return wait_for(inf, (struct condition){synced, res, res, true}, timeout_ms);
}

int
informer_wait_version(struct informer *inf, const char *resource, const char *version, int timeout_ms)
{
	struct awaited_version awaited = {.version = version};
	int r;

	if (!inf || !resource || !version)
		return -EINVAL;
	awaited.length = strlen(version);
	if (!resource_version_is_comparable(version, awaited.length))
		return error_set(-EINVAL,
				 "'%.40s' is no resourceVersion that could be compared: those are digits "
				 "without leading zeros, above 0",
				 version);
	r = informer_resource_open(inf, resource, &awaited.resource);
	return r < 0 ? r
		     : wait_for(inf, (struct condition){reached, &awaited, awaited.resource, true},
				timeout_ms);
}

int
informer_wait_commit(struct informer *inf, const struct informer_moment *seen, int timeout_ms)
{
	return inf ? wait_for(inf, (struct condition){.met = newer, .what = seen}, timeout_ms) : -EINVAL;
}

int
informer_arm(struct informer *inf, const struct informer_moment *seen)
{
	const char *why;

	if (!inf)
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	arm(inf);
	return look(inf, &(struct condition){.met = newer, .what = seen}, &why);
}
