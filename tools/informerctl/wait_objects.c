/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for objects; see wait_objects.h.
 *
 * One snapshot determines the objects. Their UIDs are kept, so a deletion is noticed even if the name is in
 * use again. No snapshot is open during a sleep.
 */
#include "tools/informerctl/wait_objects.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/informerctl/field_informer.h"

/* Copies, except target. uid "": the object did not exist. */
struct awaited {
	const struct get_target *target;
	char *ns, *name, *uid;
};

struct wait {
	struct get *get;
	const struct wait_condition *condition;
	uint64_t end_ns;
	int timeout_ms;
	struct awaited *objects;
	size_t count;
	struct text out;
	struct text errors; /* one line for each */
	unsigned error_count;
};

/* The time left, in ms; -1: no limit. */
static int
left_ms(const struct wait *w)
{
	struct timespec now;
	uint64_t now_ns, left;

	if (w->end_ns == UINT64_MAX)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	left = now_ns < w->end_ns ? (w->end_ns - now_ns + 999999u) / 1000000u : 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}

static int
add_object(struct wait *w, const struct get_target *target, struct field_text ns, struct field_text name,
	   struct field_text uid)
{
	struct awaited *grown = reallocarray(w->objects, w->count + 1, sizeof(*grown)), *o;

	if (!grown)
		return -ENOMEM;
	w->objects = grown;
	o = &grown[w->count++];
	*o = (struct awaited){target, strndup(ns.data, ns.length), strndup(name.data, name.length),
			      strndup(uid.data, uid.length)};
	return o->ns && o->name && o->uid ? 0 : -ENOMEM;
}

static struct field_text
text_of(const char *text)
{
	return (struct field_text){text, strlen(text)};
}

/* Add objects by name without looking them up: they may not exist yet. */
static int
add_names(struct wait *w)
{
	struct get *get = w->get;
	int r = 0;

	for (size_t i = 0; i < get->target_count && r == 0; i++) {
		const struct get_target *target = &get->targets[i];

		r = add_object(w, target, text_of(target->info.namespaced ? get->namespace_ : ""),
			       text_of(target->name), text_of(""));
	}
	return r;
}

static int
add_hits(struct wait *w)
{
	struct get *get = w->get;
	struct field_text uid;
	int r = 0;

	for (size_t i = 0; i < get->hit_count && r == 0; i++) {
		const struct get_hit *hit = &get->hits[i];

		if (informer_object_uid(&hit->object, &uid.data, &uid.length) < 0)
			uid = text_of("");
		r = add_object(w, &get->targets[hit->target], hit->namespace_, hit->name, uid);
	}
	return r;
}

/* Repeat the lookup until an object matches, or the time is over. Returns -1, or the exit code. */
static int
find_any(struct wait *w)
{
	struct get *get = w->get;

	for (;;) {
		struct informer_moment seen = {0};
		int r = get_find(get), left;

		if (r >= 0 || get->hit_count > 0)
			return r;
		informer_snapshot_moment(&get->snap, &seen);
		informer_end(&get->snap);
		left = left_ms(w);
		r = informer_wait_commit(get->inf, &seen, left);
		if (r < 0 && r != -ETIMEDOUT)
			return cli_fail_code(r, "cannot wait");
		r = cli_begin(get->inf, get->args, &get->snap);
		if (r >= 0 || left == 0)
			return r;
	}
}

/* Find the objects. Returns -1, or the exit code. */
static int
find_objects(struct wait *w)
{
	struct get *get = w->get;
	bool by_name = get->targets[0].name != NULL;
	int r = cli_begin(get->inf, get->args, &get->snap);

	get->ignore_not_found = w->condition->kind == WAIT_DELETE;
	if (r < 0)
		r = get_prepare(get);
	if (r < 0 && get->uncached) /* warned already; absent there does not mean deleted */
		r = EXIT_USAGE;
	for (size_t i = 0; i < get->target_count && r < 0; i++)
		if (!get_keep_names(&get->targets[i]))
			r = cli_fail("no memory");
	if (r >= 0)
		return r;
	if (w->condition->kind != WAIT_CREATE)
		r = get_find(get);
	else if (!by_name)
		r = find_any(w);
	if (r < 0 && (w->condition->kind == WAIT_CREATE && by_name ? add_names(w) : add_hits(w)) < 0)
		r = cli_fail("no memory");
	informer_end(&get->snap);
	return r;
}

struct look {
	const struct wait *wait;
	const struct awaited *object;
	const char *why; /* why the condition does not apply to this object */
};

/* For informer_wait_object(). */
static int
is_met(void *context, const struct informer_snapshot *snap, const struct informer_object *object)
{
	struct look *look = context;
	const struct wait_condition *condition = look->wait->condition;
	struct informer_value value;
	struct field_text uid;
	int r, error;

	(void)snap;
	if (!object)
		return condition->kind == WAIT_DELETE;
	switch (condition->kind) {
	case WAIT_CREATE:
		return 1;
	case WAIT_DELETE:
		r = informer_object_uid(object, &uid.data, &uid.length);
		return r < 0 ? 0 : !field_text_is(uid, look->object->uid);
	case WAIT_CONDITION:
	case WAIT_JSON_PATH:
		break;
	}
	r = informer_object_value(object, &value);
	if (r == 0)
		r = wait_condition_met(condition, field_of_value(&value), &look->why);
	error = field_take_error();
	/* The snapshot expired, and its data is invalid: check again in the next one. */
	return r == INFORMER_E_EXPIRED || error == INFORMER_E_EXPIRED ? 0 : error < 0 ? error : r;
}

static void
add_error(struct wait *w, const char *what, const struct awaited *o)
{
	w->error_count++;
	text_adds(&w->errors, what);
	if (o)
		text_addf(&w->errors, " %.*s/%s", (int)o->target->info.resource_length,
			  o->target->info.resource, o->name);
	text_addc(&w->errors, '\n');
}

/* Wait for one object. Returns -1, or the exit code. */
static int
wait_one(struct wait *w, const struct awaited *o)
{
	struct look look = {w, o, ""};
	char key[512]; /* no object has a longer one */
	int r;

	snprintf(key, sizeof(key), "%s%s%s", o->ns ? o->ns : "", o->ns && *o->ns ? "/" : "", o->name);
	r = informer_wait_object(w->get->inf, o->target->resource_name, INFORMER_BY_KEY, key, is_met, &look,
				 left_ms(w));
	if (r == 0) {
		get_add_kind(o->target, &w->out);
		text_addf(&w->out, "%s condition met\n", o->name);
		return cli_finish(&w->out) ? EXIT_USAGE : -1;
	}
	if (r == -ETIMEDOUT)
		add_error(w,
			  w->timeout_ms == 0 ? "condition not met for"
					     : "timed out waiting for the condition on",
			  o);
	else if (*look.why)
		add_error(w, look.why, NULL);
	else
		return cli_fail_code(r, o->name);
	return -1;
}

/* Like kubectl: one error has the prefix "error: ", several have none. */
static void
say_errors(const struct wait *w)
{
	if (w->error_count > 0)
		fprintf(stderr, "%s%.*s", w->error_count == 1 && !w->get->missed ? "error: " : "",
			(int)w->errors.length, w->errors.data);
}

int
wait_objects(struct get *get, const struct wait_condition *condition, uint64_t end_ns, int timeout_ms)
{
	struct wait w = {.get = get,
			 .condition = condition,
			 .end_ns = end_ns,
			 .timeout_ms = timeout_ms,
			 .out = TEXT_INIT(1),
			 .errors = TEXT_INIT(-1)};
	int r = find_objects(&w);

	for (size_t i = 0; i < w.count && r < 0; i++)
		r = wait_one(&w, &w.objects[i]);
	if (r < 0 && w.count == 0 && !get->missed && condition->kind != WAIT_DELETE)
		add_error(&w, "no matching resources found", NULL);
	say_errors(&w);
	if (r < 0)
		r = w.error_count > 0 || get->missed ? EXIT_CONDITION : EXIT_SUCCESS;
	for (size_t i = 0; i < w.count; i++) {
		free(w.objects[i].ns);
		free(w.objects[i].name);
		free(w.objects[i].uid);
	}
	free(w.objects);
	text_done(&w.out);
	text_done(&w.errors);
	return r;
}
