/* SPDX-License-Identifier: Apache-2.0 */
/* Records what a handler is told, in recorder.h's words, and waits for the expected record. */
#include "tests/support/recorder.h"

#include <time.h>

#include "shm-layout/time_ns.h"
#include "tests/room.h"

__attribute__((format(printf, 2, 3))) static void
write_down(struct recorder *r, const char *format, ...)
{
	va_list args;
	char *word, *log;
	int n;

	va_start(args, format);
	n = vasprintf(&word, format, args);
	va_end(args);
	if (n < 0)
		abort();
	pthread_mutex_lock(&r->lock);
	log = realloc(r->log, r->length + (size_t)n + 2);
	if (!log)
		abort();
	r->log = log;
	memcpy(r->log + r->length, word, (size_t)n);
	r->length += (size_t)n;
	r->log[r->length++] = ' ';
	r->log[r->length] = '\0';
	r->calls++;
	pthread_cond_broadcast(&r->written);
	pthread_mutex_unlock(&r->lock);
	free(word);
}

static const char *
name_of(const struct informer_object *o, char *buffer, size_t size)
{
	const char *ns, *name, *version;
	size_t ns_length, name_length, version_length;

	if (informer_object_namespace(o, &ns, &ns_length) < 0 ||
	    informer_object_name(o, &name, &name_length) < 0)
		return "(unreadable)";
	if (informer_object_resource_version(o, &version, &version_length) < 0) {
		version = "!";
		version_length = 1;
	}
	snprintf(buffer, size, "%.*s%s%.*s%.*s",
		 ns_length == 7 && memcmp(ns, "default", 7) == 0 ? 0 : (int)ns_length, ns,
		 ns_length == 7 && memcmp(ns, "default", 7) == 0 ? "" : "/", (int)name_length, name,
		 (int)version_length, version);
	return buffer;
}

static void
each(struct recorder *r)
{
	if (r->each)
		r->each(r);
}

static void
on_add(void *context, const struct informer_object *o, bool initial)
{
	struct recorder *r = context;
	char name[300];

	write_down(r, "+%s%s", name_of(o, name, sizeof(name)), initial ? "*" : "");
	each(r);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *o)
{
	struct recorder *r = context;
	char name[300], old_name[300];

	write_down(r, "%s%s%s", old ? name_of(old, old_name, sizeof(old_name)) : "?", old == o ? "=" : ">",
		   name_of(o, name, sizeof(name)));
	each(r);
}

static void
on_delete(void *context, const struct informer_object *o, bool final_known)
{
	struct recorder *r = context;
	char name[300];
	bool only_key;

	name_of(o, name, sizeof(name));
	only_key = strchr(name, '!') != NULL;
	write_down(r, "-%s%s", name, final_known || only_key ? "" : "?");
	each(r);
}

static void
on_overflow(void *context, enum informer_overflow kind)
{
	write_down(context, "%s", kind == INFORMER_COALESCED ? "COALESCED" : "RESYNC");
}

static void
on_resync_begin(void *context)
{
	write_down(context, "BEGIN");
}

static void
on_resync_end(void *context)
{
	write_down(context, "END");
}

static void
on_synced(void *context)
{
	write_down(context, "SYNCED");
}

static void
on_error(void *context, const struct informer_watch_status *status)
{
	if (status->recovered)
		write_down(context, "RECOVERED");
	else
		write_down(context, "ERROR(%s %d %s)", status->resource, status->http_code, status->reason);
}

static void
on_done(void *context)
{
	write_down(context, "DONE");
}

struct recorder *
recorder_new(struct informer *inf)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	r->inf = inf;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->written, NULL);
	r->options = (struct informer_handler_options){.size = sizeof(r->options),
						       .resource = "pods",
						       .context = r,
						       .on_add = on_add,
						       .on_update = on_update,
						       .on_delete = on_delete,
						       .on_overflow = on_overflow,
						       .on_resync_begin = on_resync_begin,
						       .on_resync_end = on_resync_end,
						       .on_synced = on_synced,
						       .on_error = on_error,
						       .on_done = on_done};
	return r;
}

void
recorder_add(struct recorder *r)
{
	struct informer_handler_options o = r->options;

	if (o.pull) {
		o.on_add = NULL;
		o.on_update = NULL;
		o.on_delete = NULL;
		o.on_overflow = NULL;
		o.on_resync_begin = o.on_resync_end = o.on_synced = o.on_done = NULL;
		o.on_error = NULL;
	}
	assert_int_equal(informer_add_handler(r->inf, &o, &r->handler), 0);
}

int
recorder_pull(struct recorder *r, int timeout_ms)
{
	const struct informer_change *c;
	int result = informer_changes_next(r->handler, timeout_ms, &c);

	if (result <= 0) {
		assert_null(c);
		return result;
	}
	switch (c->kind) {
	case INFORMER_CHANGE_ADDED:
		on_add(r, c->object, c->is_initial);
		break;
	case INFORMER_CHANGE_UPDATED:
		on_update(r, c->old, c->object);
		break;
	case INFORMER_CHANGE_DELETED:
		on_delete(r, c->object, c->final_state_known);
		break;
	case INFORMER_CHANGE_SYNCED:
		on_synced(r);
		break;
	case INFORMER_CHANGE_COALESCED:
		on_overflow(r, INFORMER_COALESCED);
		break;
	case INFORMER_CHANGE_RESYNC_BEGIN:
		on_resync_begin(r);
		break;
	case INFORMER_CHANGE_RESYNC_END:
		on_resync_end(r);
		break;
	case INFORMER_CHANGE_ERROR:
		on_error(r, c->status);
		break;
	}
	return result;
}

void
recorder_free(struct recorder *r)
{
	free(r->log);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->written);
	free(r);
}

char *
recorder_text(struct recorder *r, bool take)
{
	char *text;

	pthread_mutex_lock(&r->lock);
	text = strndup(r->log ? r->log : "", r->length ? r->length - 1 : 0);
	if (take)
		r->length = 0;
	pthread_mutex_unlock(&r->lock);
	return text;
}

/* r->lock is held */
static bool
is_written(const struct recorder *r, const char *expected)
{
	size_t length = strlen(expected);

	return r->length == (length ? length + 1 : 0) && memcmp(r->log ? r->log : "", expected, length) == 0;
}

static bool
was_written(struct recorder *r, const char *expected)
{
	bool is;

	pthread_mutex_lock(&r->lock);
	is = is_written(r, expected);
	pthread_mutex_unlock(&r->lock);
	return is;
}

static void
take(struct recorder *r, const char *expected)
{
	char *text = recorder_text(r, true);

	assert_string_equal(text, expected);
	free(text);
}

void
recorder_expect(struct recorder *r, const char *expected)
{
	for (unsigned idle = 0; r->options.pull && !was_written(r, expected) && idle < DISPATCH_IDLE_MAX;)
		idle += recorder_pull(r, 1) == 0;
	if (!r->options.pull)
		dispatch_all(r->inf);
	for (unsigned idle = 0; !r->options.pull && !was_written(r, expected) && idle < DISPATCH_IDLE_MAX;)
		idle += !dispatch_turn(r->inf);
	take(r, expected);
}

void
recorder_await(struct recorder *r, const char *expected)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += 10;
	pthread_mutex_lock(&r->lock);
	while (!is_written(r, expected) &&
	       pthread_cond_clockwait(&r->written, &r->lock, CLOCK_MONOTONIC, &end) == 0)
		;
	pthread_mutex_unlock(&r->lock);
	take(r, expected);
}

void
recorder_await_calls(struct recorder *r, unsigned calls)
{
	pthread_mutex_lock(&r->lock);
	while (r->calls < calls)
		pthread_cond_wait(&r->written, &r->lock);
	pthread_mutex_unlock(&r->lock);
	assert_int_equal(r->calls, calls);
}

struct changes {
	const char *text;
	bool synced;
};

static void
change(struct broker_fixture *fx, void *context)
{
	const struct changes *c = context;
	static unsigned version;
	char number[16];

	for (const char *at = c->text; *at;) {
		char ns[64] = "default", name[64], rv[32] = "", label[64] = "none";
		size_t length = strcspn(at, " ");
		char word[200];
		const char *p = word;

		snprintf(word, sizeof(word), "%.*s", (int)length, at);
		at += length + (at[length] == ' ');
		if (*p == '-')
			p++;
		if (strchr(p, '/')) {
			snprintf(ns, sizeof(ns), "%.*s", (int)strcspn(p, "/"), p);
			p = strchr(p, '/') + 1;
		}
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, "0123456789:"), p);
		p += strlen(name);
		snprintf(rv, sizeof(rv), "%.*s", (int)strspn(p, "0123456789"), p);
		if (strchr(p, ':'))
			snprintf(label, sizeof(label), "%s", strchr(p, ':') + 1);
		if (word[0] == '-' && rv[0] == '\0') {
			if (strchr(word, '?'))
				assert_int_equal(store_fixture_lose(fx->store, ns, strtok(name, "?")), 0);
			else
				assert_int_equal(store_fixture_delete(fx->store, ns, name), 0);
			continue;
		}
		assert_int_equal(
			store_fixture_sayf(fx->store, word[0] == '-' ? "DELETED" : "MODIFIED",
					   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":"
					   "\"uid-%s-%s\",\"resourceVersion\":\"%s\","
					   "\"labels\":{\"app\":\"%s\"}},\"spec\":{\"nodeName\":\"n1\"}}",
					   name, ns, name, strstr(label, "new") ? "2" : "1", rv, label),
			0);
	}
	if (c->synced) {
		snprintf(number, sizeof(number), "%u", ++version);
		store_set_version(fx->store->store, fx->store->pods, number, strlen(number));
		store_set_state(fx->store->store, fx->store->pods, RESOURCE_SYNCED);
	}
	/* as the daemon does before a commit */
	consumers_poll(fx->consumers, time_ns(CLOCK_REALTIME), time_ns(CLOCK_MONOTONIC));
	assert_int_equal(store_commit(fx->store->store), 0);
}

void
recorder_change(struct broker_fixture *fx, const char *changes)
{
	broker_fixture_do(fx, change, &(struct changes){changes, true});
}

void
recorder_change_unsynced(struct broker_fixture *fx, const char *changes)
{
	broker_fixture_do(fx, change, &(struct changes){changes, false});
}

void
recorder_follow(struct broker_fixture *fx, struct recorder *r, unsigned last)
{
	char text[16], expected[32];

	for (unsigned i = 2; i <= last; i++) {
		snprintf(text, sizeof(text), "a%u", i);
		snprintf(expected, sizeof(expected), "a%u>a%u", i - 1, i);
		recorder_change(fx, text);
		recorder_await(r, expected);
	}
}

void
gate_wait(struct recorder *r)
{
	struct gate *g = r->context;

	pthread_mutex_lock(&g->lock);
	g->waiting = true;
	pthread_cond_broadcast(&g->changed);
	while (!g->open)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

void
gate_await_waiting(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	while (!g->waiting)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

void
gate_open(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->open = true;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}
