/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/tools/informer-gateway/arena_world.h"

#include <inttypes.h>
#include <poll.h>

static struct arena_world *clock_owner;

static uint64_t
world_clock(void)
{
	return clock_owner->now_ms;
}

/* ---- upstream ------------------------------------------------------------- */

/* "x/a101:n2=web#2" */
struct word {
	char ns[64], name[64], rv[32], node[64], app[64];
	int object;
	bool gone, lost;
};

static struct word
read_word(const char *text)
{
	struct word w = {.ns = "default", .node = "n1", .object = 1};
	const char *p = text + (*text == '-');

	w.gone = *text == '-';
	if (strchr(p, '/')) {
		snprintf(w.ns, sizeof(w.ns), "%.*s", (int)strcspn(p, "/"), p);
		p = strchr(p, '/') + 1;
	}
	snprintf(w.name, sizeof(w.name), "%.*s", (int)strcspn(p, "0123456789?:=#"), p);
	p += strlen(w.name);
	snprintf(w.app, sizeof(w.app), "%s", w.name);
	w.lost = *p == '?';
	snprintf(w.rv, sizeof(w.rv), "%.*s", (int)strspn(p, "0123456789"), p);
	if (strchr(p, ':'))
		snprintf(w.node, sizeof(w.node), "%.*s", (int)strcspn(strchr(p, ':') + 1, "=#"),
			 strchr(p, ':') + 1);
	if (strchr(p, '='))
		snprintf(w.app, sizeof(w.app), "%.*s", (int)strcspn(strchr(p, '=') + 1, "#"),
			 strchr(p, '=') + 1);
	if (strchr(p, '#'))
		w.object = atoi(strchr(p, '#') + 1);
	return w;
}

static void
apply(struct broker_fixture *fx, const char *text)
{
	struct word w = read_word(text);

	if (!strcmp(text, "@?")) {
		store_set_state(fx->store->store, fx->store->pods, RESOURCE_LISTING);
	} else if (text[0] == '@') {
		store_set_version(fx->store->store, fx->store->pods, text + 1, strlen(text + 1));
		store_set_state(fx->store->store, fx->store->pods, RESOURCE_SYNCED);
	} else if (w.lost) {
		assert_int_equal(store_fixture_lose(fx->store, w.ns, w.name), 0);
	} else {
		assert_int_equal(
			store_fixture_sayf(fx->store, w.gone ? "DELETED" : "MODIFIED",
					   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":"
					   "\"uid-%s-%d\",\"resourceVersion\":\"%s\",\"labels\":{\"app\":"
					   "\"%s\"}},\"spec\":{\"nodeName\":\"%s\"}}",
					   w.name, w.ns, w.name, w.object, w.rv, w.app, w.node),
			0);
	}
}

static void
say(struct broker_fixture *fx, void *context)
{
	char *words = strdup(context), *rest = words, *word;

	while ((word = strsep(&rest, " ")))
		if (word[0])
			apply(fx, word);
	free(words);
	assert_int_equal(store_commit(fx->store->store), 0);
}

void
arena_world_say(struct arena_world *w, const char *said)
{
	broker_fixture_do(w->fx, say, (void *)(uintptr_t)said);
}

/* ---- the gateway ---------------------------------------------------------- */

struct arena_world *
arena_world_new(const char *said, bool generations)
{
	struct arena_world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->fx = broker_fixture_new();
	if (generations)
		broker_fixture_keep_generations(w->fx);
	broker_fixture_start(w->fx);
	arena_world_say(w, said);
	w->now_ms = 1000000;
	w->history.most = w->views.most = 64u << 20;
	clock_owner = w;
	w->options = (struct gw_arena_options){
		.socket_path = w->fx->socket,
		.reader_name = "gateway",
		.history_bytes = 1u << 20,
		.history = &w->history,
		.views = &w->views,
		.held_views = 4,
		.hold_ms = 60000,
		.now_ms = world_clock,
	};
	return w;
}

static struct gw_entry *
find_pods(struct arena_world *w)
{
	const struct api_resource *pods = api_registry_find(&w->arena->registry, "", "v1", "pods");
	const struct gw_want want = {.resource = pods};
	struct gw_entry *entry = NULL;

	if (pods && gw_resources_find(w->arena, &want, &entry) < 0)
		entry = NULL;
	return entry;
}

void
arena_world_wait_some(struct arena_world *w)
{
	struct pollfd p = {.fd = gw_arena_fd(w->arena), .events = POLLIN};

	poll(&p, 1, 20);
	gw_arena_dispatch(w->arena);
}

void
arena_world_open(struct arena_world *w)
{
	assert_int_equal(gw_arena_new(&w->options, &w->arena), 0);
	gw_arena_dispatch(w->arena);
	arena_world_until(w, (w->pods = find_pods(w)) && w->pods->feed.begun);
	w->store = gw_store_new(w->pods);
	w->position = w->pods->feed.log.next;
}

struct arena_world *
arena_world_opened(const char *said, bool generations)
{
	struct arena_world *w = arena_world_new(said, generations);

	arena_world_open(w);
	return w;
}

void
arena_world_close(struct arena_world *w)
{
	w->store->close(w->store);
	gw_arena_free(w->arena);
	w->arena = NULL;
	w->pods = NULL;
}

void
arena_world_free(struct arena_world *w)
{
	if (w->arena)
		arena_world_close(w);
	broker_fixture_free(w->fx);
	free(w);
}

FIXTURE_TEAR_DOWN(arena_world_tear_down, arena_world_free)

void
arena_world_reach(struct arena_world *w, uint64_t rv)
{
	arena_world_until(w, w->store->api.rv(w->store, w->pods->resource) == rv);
	arena_world_pump(w);
}

void
arena_world_tell(struct arena_world *w, const char *said)
{
	arena_world_say(w, said);
	arena_world_reach(w, strtoull(strrchr(said, '@') + 1, NULL, 10));
}

void
arena_world_pump(struct arena_world *w)
{
	struct pollfd p = {.fd = gw_arena_fd(w->arena), .events = POLLIN};
	unsigned turns = 0;

	do
		gw_arena_dispatch(w->arena);
	while (poll(&p, 1, 0) > 0 && turns++ < 100000);
	assert_true(turns < 100000);
}

/* ---- what it tells --------------------------------------------------------- */

/* The RV of an object, which must also stand in its text. */
static size_t
write_object(char *at, size_t size, const struct api_object *object, uint64_t rv)
{
	char number[32], inside[64];
	const char *key = object->key;

	snprintf(inside, sizeof(inside), "\"resourceVersion\":\"%" PRIu64 "\"", object->rv);
	assert_non_null(memmem(object->text + object->meta_at, object->meta_len, inside, strlen(inside)));
	snprintf(number, sizeof(number), "%" PRIu64, rv);
	return (size_t)snprintf(at, size, "%s%s ", strncmp(key, "default/", 8) == 0 ? key + 8 : key, number);
}

const char *
arena_world_heard(struct arena_world *w, struct gw_store *store, uint64_t *position)
{
	struct api_event events[3];
	size_t length = 0;
	uint64_t rv = 0;
	int n;

	w->text[0] = '\0';
	while ((n = store->api.events(store, w->pods->resource, position, events, 3, &rv)) > 0) {
		for (int i = 0; i < n; i++) {
			static const char *const signs[] = {"+", "", "-"};

			length += (size_t)snprintf(w->text + length, sizeof(w->text) - length, "%s%s",
						   events[i].unknown ? "?" : "",
						   events[i].unknown && events[i].change != API_DELETED
							   ? ""
							   : signs[events[i].change]);
			length += write_object(w->text + length, sizeof(w->text) - length, events[i].object,
					       events[i].rv);
			if (events[i].change != API_DELETED)
				assert_int_equal(events[i].object->rv, events[i].rv);
		}
		api_events_done(events, (unsigned)n);
	}
	if (n < 0)
		snprintf(w->text + length, sizeof(w->text) - length, "%s", n == -ESTALE ? "410" : "error");
	else
		snprintf(w->text + length, sizeof(w->text) - length, "@%" PRIu64, rv);
	return w->text;
}

void
arena_world_expect(struct arena_world *w, const char *heard)
{
	assert_string_equal(arena_world_heard(w, w->store, &w->position), heard);
}

void
arena_world_expect_from(struct arena_world *w, uint64_t rv, const char *heard)
{
	uint64_t position, floor;

	if (w->store->api.position(w->store, w->pods->resource, rv, &position, &floor) < 0)
		assert_string_equal("410", heard);
	else
		assert_string_equal(arena_world_heard(w, w->store, &position), heard);
}

static char *
copied(const char *text)
{
	return text ? api_strndup(text, strlen(text)) : NULL;
}

int
arena_world_choose(struct api_view *view, const struct gw_hint *hint)
{
	struct gw_hint own = {.namespace_ = copied(hint->namespace_),
			      .name = copied(hint->name),
			      .value = copied(hint->value),
			      .labels = copied(hint->labels),
			      .label = copied(hint->label),
			      .field = hint->field};

	return gw_view_choose(view, &own);
}

void
arena_world_seek(struct api_view *view, const char *key)
{
	while (gw_view_ready(view) == -EAGAIN)
		;
	gw_view_seek(view, key);
}

const char *
arena_world_view(struct arena_world *w, uint64_t rv, const struct gw_hint *hint)
{
	struct api_object *object;
	uint64_t shown, position;
	struct api_view *view;
	size_t length = 0;
	int r = gw_view_open(w->pods, rv, &view, &shown, &position);

	if (r < 0)
		return r == -ESTALE ? "410" : r == -EAGAIN ? "again" : "error";
	assert_int_equal(arena_world_choose(view, hint ? hint : &(struct gw_hint){0}), 0);
	arena_world_seek(view, "");
	while ((object = gw_view_next(view))) {
		length += write_object(w->text + length, sizeof(w->text) - length, object, object->rv);
		api_object_unref(object);
	}
	if (gw_view_error(view) < 0)
		snprintf(w->text + length, sizeof(w->text) - length, "expired");
	else
		snprintf(w->text + length, sizeof(w->text) - length, "@%" PRIu64, shown);
	gw_view_close(view);
	return w->text;
}
