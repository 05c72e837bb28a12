/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for one object to be as the caller wants it.
 *
 * Look, then sleep until there is a newer version than the one that was looked at. So no lasting state is
 * missed; a state that comes and goes between two wake-ups is not seen. The end of an arena and the start of
 * the next count as newer versions: a wait outlives informerd.
 */
#include <stdio.h>
#include <string.h>

#include "reader-lib/events/wait.h"
#include "reader-lib/read/resource_open.h"

struct awaited_object {
	struct informer_resource *resource;
	enum informer_by by;
	const char *value;
	int (*met)(void *context, const struct informer_snapshot *snapshot,
		   const struct informer_object *object);
	void *context;
};

/* Call met for each present object that is found, until one is as wanted. As met(), or INFORMER_E_NOT_FOUND.
 */
static int
ask_each(const struct informer_snapshot *snap, const struct awaited_object *awaited)
{
	const char *equals = strchr(awaited->value, '=');
	struct informer_object object;
	struct informer_iter it;
	char index[INDEX_NAME_MAX + 1];
	bool deleted, any = false;
	int r, met = 0;

	if (awaited->by != INFORMER_BY_INDEX) {
		r = informer_find(snap, awaited->resource, awaited->by, awaited->value,
				  strlen(awaited->value), &object, &deleted);
		if (r == 0 && deleted)
			r = INFORMER_E_NOT_FOUND;
		return r < 0 ? r : awaited->met(awaited->context, snap, &object);
	}
	snprintf(index, sizeof(index), "%.*s", (int)(equals - awaited->value), awaited->value);
	r = informer_by_index_z(snap, awaited->resource, index, equals + 1, &it);
	while (r == 0 && met == 0 && (r = informer_next(&it, &object)) > 0) {
		any = true;
		met = awaited->met(awaited->context, snap, &object);
		r = 0;
	}
	return r < 0 ? r : any ? met : INFORMER_E_NOT_FOUND;
}

/* In a snapshot, 1: the object is as wanted; 0: not yet; or negative. */
static int
look_in(const struct informer_snapshot *snap, const struct awaited_object *awaited, const char **ret_why)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	int r = informer_resource_info(snap, awaited->resource, &info);

	if (r < 0)
		return wait_later(r, ret_why);
	*ret_why = "it is there, and not as it is waited for";
	r = ask_each(snap, awaited);
	if (r == INFORMER_E_NOT_FOUND) {
		*ret_why = info.synced ? "it is not there" : "the first list is not in";
		/* before the list is complete, an object may exist that is not found */
		return info.synced ? awaited->met(awaited->context, snap, NULL) : 0;
	}
	return r < 0 ? wait_later(r, ret_why) : r;
}

/* seen: the version that was looked at; epoch 0: none. */
static int
look(struct informer *inf, const struct awaited_object *awaited, struct informer_moment *seen,
     const char **ret_why)
{
	struct informer_snapshot snap;
	int r = informer_begin(inf, &snap);

	*seen = (struct informer_moment){0};
	*ret_why = "no arena is attached";
	if (r < 0)
		return r == INFORMER_E_NOT_READY ? 0 : r;
	if (informer_snapshot_moment(&snap, seen) < 0)
		*seen = (struct informer_moment){0};
	r = look_in(&snap, awaited, ret_why);
	informer_end(&snap);
	return r;
}

int
informer_wait_object(struct informer *inf, const char *resource, enum informer_by by, const char *value,
		     int (*met)(void *context, const struct informer_snapshot *snapshot,
				const struct informer_object *object),
		     void *context, int timeout_ms)
{
	struct awaited_object awaited = {.by = by, .value = value, .met = met, .context = context};
	uint64_t end_ns = wait_deadline(timeout_ms);
	struct informer_moment seen;
	const char *why = "";
	char text[1024];
	int r;

	if (!inf || !resource || !value || !met)
		return -EINVAL;
	if (by == INFORMER_BY_INDEX && (!strchr(value, '=') || strchr(value, '=') - value > INDEX_NAME_MAX))
		return error_set(-EINVAL, "'%.80s': an index and a value are expected, as in app=web", value);
	r = informer_resource_open(inf, resource, &awaited.resource);
	while (r == 0) {
		r = look(inf, &awaited, &seen, &why);
		if (r > 0)
			return 0;
		if (r == 0)
			r = informer_wait_commit(inf, seen.epoch ? &seen : NULL, wait_left_ms(end_ns));
	}
	if (r != -ETIMEDOUT || wait_left_ms(end_ns) != 0)
		return r;
	snprintf(text, sizeof(text), "%.60s %.500s: %s", resource, value, why);
	return wait_timed_out(inf, awaited.resource, timeout_ms, text);
}
