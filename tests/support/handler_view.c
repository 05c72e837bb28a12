/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps each object's history, and what each handler was told (view), and compares each call with both. */
#include "tests/support/handler_view.h"

#include <sched.h>

#include "tests/room.h"

__attribute__((format(printf, 2, 3))) static void
wrong(struct view *v, const char *format, ...)
{
	va_list args;
	size_t n;

	if (v->error[0])
		return;
	n = (size_t)snprintf(v->error, sizeof(v->error), "%s: ", v->what);
	va_start(args, format);
	vsnprintf(v->error + n, sizeof(v->error) - n, format, args);
	va_end(args);
}

static bool
read_object(struct view *v, const struct informer_object *o, unsigned *ret_key, unsigned *ret_version)
{
	const char *name, *version;
	size_t name_length, version_length;
	char text[16];

	if (informer_object_name(o, &name, &name_length) < 0 || name_length < 2) {
		wrong(v, "an object without a name");
		return false;
	}
	snprintf(text, sizeof(text), "%.*s", (int)name_length - 1, name + 1);
	*ret_key = (unsigned)atoi(text);
	*ret_version = 0;
	if (informer_object_resource_version(o, &version, &version_length) == 0) {
		snprintf(text, sizeof(text), "%.*s", (int)version_length, version);
		*ret_version = (unsigned)atoi(text);
		if (*ret_version == 0 || *ret_version > v->history->last ||
		    v->history->key[*ret_version] != *ret_key)
			wrong(v, "k%u never had version %u", *ret_key, *ret_version);
	}
	return *ret_key < KEYS;
}

static void
stall(struct view *v)
{
	static _Atomic unsigned count;

	v->calls++;
	if (v->stall && count++ * 7919u % 1000 < v->stall)
		for (unsigned turns = count % 5 == 0 ? 300 : 20; turns > 0; turns--)
			sched_yield();
}

static void
forward(struct view *v, unsigned key, unsigned version, const char *call)
{
	if (version <= v->newest[key])
		wrong(v, "%s of k%u: version %u after %u", call, key, version, v->newest[key]);
	v->newest[key] = version;
	if (v->web_only && !v->history->web[version])
		wrong(v, "%s of k%u: version %u is not selected", call, key, version);
}

/* TRACE=1 prints every call to stderr. */
static _Atomic bool tracing;
#define TRACE(v, format, ...)                                                                                \
	do {                                                                                                 \
		if (tracing)                                                                                 \
			fprintf(stderr, "%s | " format, (v)->what, __VA_ARGS__);                             \
	} while (0)

static void
on_add(void *context, const struct informer_object *o, bool initial)
{
	struct view *v = context;
	unsigned key, version;

	if (!read_object(v, o, &key, &version))
		return;
	TRACE(v, "add k%u %u%s (told %u)\n", key, version, initial ? "*" : "", v->told[key]);
	if (v->resyncing && version <= v->newest[key])
		v->newest[key] = version - 1;	/* told again */
	forward(v, key, version, "add");
	if (v->told[key] && !v->resyncing)
		wrong(v, "add of k%u, version %u, which is there as %u", key, version, v->told[key]);
	v->told[key] = version;
	v->met[key] = true;
	v->initials += initial;
	stall(v);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *o)
{
	struct view *v = context;
	unsigned key, version, old_key = KEYS, old_version = 0;

	if (!read_object(v, o, &key, &version))
		return;
	TRACE(v, "update k%u %u%s (told %u)\n", key, version, old ? "" : " ?", v->told[key]);
	if (old == o) {
		if (v->told[key] != version)
			wrong(v, "resync of k%u as %u, though %u was told", key, version, v->told[key]);
		v->again++;
		return;
	}
	forward(v, key, version, "update");
	v->updates++;
	if (!v->told[key])
		wrong(v, "update of k%u to %u, which is not there", key, version);
	if (old) {
		read_object(v, old, &old_key, &old_version);
		if (old_key != key || old_version != v->told[key])
			wrong(v, "update of k%u from %u, though %u was told", key, old_version, v->told[key]);
		v->coalesced = false;
	} else if (!v->coalesced && !v->resyncing) {
		wrong(v, "update of k%u with unknown old state, of which nobody warned", key);
	}
	if (v->told[key] && v->history->uid[v->told[key]] != v->history->uid[version])
		wrong(v, "update of k%u over a deletion", key);
	v->told[key] = version;
	stall(v);
}

static void
on_delete(void *context, const struct informer_object *o, bool final_known)
{
	struct view *v = context;
	unsigned key, version;

	if (!read_object(v, o, &key, &version))
		return;
	TRACE(v, "delete k%u %u%s (told %u)\n", key, version, final_known ? "" : " ?", v->told[key]);
	if (!v->told[key])
		wrong(v, "delete of k%u, which is not there", key);
	if (final_known && !v->web_only && (version < v->told[key] || !v->history->was_deleted[version]))
		wrong(v, "delete of k%u with final state %u, though %u was told", key, version, v->told[key]);
	if (final_known && v->web_only && !v->history->web[version])
		wrong(v, "delete of k%u with final state %u, which is not selected", key, version);
	if (version > v->newest[key])
		v->newest[key] = version;
	v->told[key] = 0;
	stall(v);
}

static void
on_overflow(void *context, enum informer_overflow kind)
{
	struct view *v = context;

	v->overflows++;
	TRACE(v, "overflow %d\n", kind);
	v->resyncs += kind == INFORMER_RESYNC;
	v->coalesced = kind == INFORMER_COALESCED;
}

static void
on_resync_begin(void *context)
{
	struct view *v = context;

	v->resyncing = true;
	memset(v->met, 0, sizeof(v->met));
}

static void
on_resync_end(void *context)
{
	struct view *v = context;

	if (!v->resyncing)
		wrong(v, "an end without a begin");
	v->resyncing = false;
	for (unsigned i = 0; i < KEYS; i++)
		if (!v->met[i])
			v->told[i] = 0;
}

static void
on_synced(void *context)
{
	struct view *v = context;

	v->synced = true;
}

void
view_add(struct view *v, const char *what, struct history *history, struct informer *inf)
{
	tracing = getenv("TRACE") != NULL;
	v->what = what;
	v->history = history;
	v->inf = inf;
	v->options.size = sizeof(v->options);
	v->options.resource = "pods";
	v->options.label_selector = v->web_only ? "app=web" : NULL;
	v->options.queue_entries = 64;
	v->options.context = v;
	v->options.on_add = on_add;
	v->options.on_update = on_update;
	v->options.on_delete = on_delete;
	v->options.on_overflow = on_overflow;
	v->options.on_resync_begin = on_resync_begin;
	v->options.on_resync_end = on_resync_end;
	v->options.on_synced = on_synced;
	assert_int_equal(informer_add_handler(inf, &v->options, &v->handler), 0);
}

bool
view_agrees(const struct view *v)
{
	for (unsigned i = 0; i < KEYS; i++) {
		unsigned now = v->history->now[i];

		if (v->web_only && now && !v->history->web[now])
			now = 0;
		if (v->told[i] != now)
			return false;
	}
	return v->synced && !v->resyncing;
}

static void
put(const struct history *history, struct broker_fixture *fx, unsigned key, unsigned version)
{
	static const char pod[] = "{\"metadata\":{\"name\":\"k%u\",\"namespace\":\"default\","
				  "\"uid\":\"u%u-%u\",\"resourceVersion\":\"%u\","
				  "\"labels\":{\"app\":\"%s\"}}}";

	assert_int_equal(store_fixture_putf(fx->store, pod, key, key, history->uid[version], version,
					    history->web[version] ? "web" : "db"),
			 0);
}

void
history_put(struct history *history, struct broker_fixture *fx, unsigned key, bool web, bool anew)
{
	unsigned version = history->last + 1;

	assert_true(version < VERSIONS);
	if (!history->now[key] || anew) {
		history->was_deleted[history->now[key]] = true;
		history->incarnation[key]++;
	}
	history->key[version] = (unsigned char)key;
	history->web[version] = web;
	history->uid[version] = history->incarnation[key];
	history->now[key] = version;
	history->last = version;
	put(history, fx, key, version);
}

void
history_delete(struct history *history, struct broker_fixture *fx, unsigned key)
{
	char name[8];

	snprintf(name, sizeof(name), "k%u", key);
	assert_int_equal(store_fixture_delete(fx->store, "default", name), 0);
	history->was_deleted[history->now[key]] = true;
	history->now[key] = 0;
}

void
history_list(const struct history *history, struct broker_fixture *fx)
{
	for (unsigned key = 0; key < KEYS; key++)
		if (history->now[key])
			put(history, fx, key, history->now[key]);
}
