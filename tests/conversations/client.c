/* SPDX-License-Identifier: Apache-2.0 */
/* Runs what informerd runs for one resource. A tap around the ListerWatcher counts requests and bytes. */
#include "tests/conversations/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/object.h"
#include "shm-layout/queue.h"
#include "shm-layout/trie.h"
#include "tests/support/arena_fixture.h"
#include "writer/resource/cached_resource.h"
#include "writer/base/message.h"
#include "writer/arena/pins.h"
#include "writer/config/config_entry.h"

#define ARENA_BYTES (64u << 20)
#define OBJECTS_MAX 256

/* A request on its way through the tap. */
struct tap {
	struct tap *next, **link;
	const struct transport_callbacks *callbacks;
	void *ctx, *request;
	bool watch, opened;
	uint64_t bytes;
};

struct talk_client {
	struct virtual_clock clock;
	struct config config;
	struct kube_client_config kube;
	struct arena arena;
	struct pins *pins;
	struct store *store;
	struct applier *applier;
	struct transport *transport;
	struct cached_resource *cached;
	struct lister_watcher real;	/* the ListerWatcher behind the tap */
	struct tap *taps;
	uint64_t begun;
	FILE *told;
	char *told_text;
	size_t told_length;
};

/* ---- the tap ------------------------------------------------------------------ */

static void
tap_free(struct tap *tap)
{
	*tap->link = tap->next;
	if (tap->next)
		tap->next->link = tap->link;
	free(tap);
}

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct tap *tap = ctx;

	tap->opened = response->status == 200;
	if (tap->callbacks->on_response)
		tap->callbacks->on_response(tap->ctx, response);
}

static int
on_data(void *ctx, const void *data, size_t length)
{
	struct tap *tap = ctx;

	tap->bytes += length;
	return tap->callbacks->on_data(tap->ctx, data, length);
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct tap *tap = ctx;
	const struct transport_callbacks *callbacks = tap->callbacks;
	void *inner = tap->ctx;

	tap_free(tap);
	callbacks->on_done(inner, result, message);
}

static const struct transport_callbacks tapped = { on_response, on_data, on_done };

static struct tap *
tap_new(struct talk_client *c, bool watch, const struct transport_callbacks *callbacks, void *ctx)
{
	struct tap *tap = calloc(1, sizeof(*tap));

	if (!tap)
		abort();
	*tap = (struct tap){
		.next = c->taps, .link = &c->taps, .callbacks = callbacks, .ctx = ctx, .watch = watch};
	if (tap->next)
		tap->next->link = &tap->next;
	c->taps = tap;
	c->begun++;
	return tap;
}

static int
tap_ask(void *context, const struct request_params *params, const struct transport_callbacks *callbacks,
	void *ctx, void **ret_request)
{
	struct talk_client *c = context;
	struct tap *tap = tap_new(c, params->watch, callbacks, ctx);
	int r = c->real.ask(c->real.context, params, &tapped, tap, &tap->request);

	if (r < 0)
		tap_free(tap);
	else
		*ret_request = tap;
	return r;
}

static void
tap_cancel(void *context, void *request)
{
	struct talk_client *c = context;
	struct tap *tap = request;
	void *inner = tap->request;

	tap_free(tap);
	c->real.cancel(c->real.context, inner);
}

static void
tap_pause(void *context, void *request)
{
	struct talk_client *c = context;

	c->real.pause(c->real.context, ((struct tap *)request)->request);
}

static void
tap_resume(void *context, void *request)
{
	struct talk_client *c = context;

	c->real.resume(c->real.context, ((struct tap *)request)->request);
}

void
talk_client_wire(const struct talk_client *c, struct talk_client_wire *ret)
{
	*ret = (struct talk_client_wire){ .begun = c->begun, .due = virtual_clock_next(&c->clock) == 0 };
	for (const struct tap *tap = c->taps; tap; tap = tap->next) {
		ret->under_way++;
		ret->taken += tap->watch && tap->opened ? tap->bytes : 0;
	}
}

/* ---- the events ------------------------------------------------------------------ */

/* "a@5", "ns/a@5" */
static void
put_object(const struct talk_client *c, uint32_t ref, FILE *out)
{
	const struct object *o = object_at(&c->arena.view, ref);

	if (!o)
		abort();
	if (o->namespace_length != 7 || memcmp(object_namespace(o), "default", 7) != 0)
		fprintf(out, "%.*s/", o->namespace_length, object_namespace(o));
	fprintf(out, "%.*s@%.*s", o->name_length, object_name(o), o->version_length, object_version(o));
}

static void
on_events(void *context, const struct store_event *events, size_t count, uint64_t base)
{
	struct talk_client *c = context;

	(void)base;
	for (size_t i = 0; i < count; i++) {
		const struct store_event *e = &events[i];

		if (e->kind == QUEUE_STATUS)
			continue;
		if (ftell(c->told) > 0)
			fputc(' ', c->told);
		switch ((enum queue_kind)e->kind) {
		case QUEUE_ADDED:
			fputc('+', c->told);
			put_object(c, e->new_ref, c->told);
			break;
		case QUEUE_UPDATED:
			put_object(c, e->old_ref, c->told);
			fputc('>', c->told);
			put_object(c, e->new_ref, c->told);
			break;
		case QUEUE_DELETED:
			fputc('-', c->told);
			put_object(c, e->new_ref ? e->new_ref : e->old_ref, c->told);
			fputs(e->new_ref ? "" : "?", c->told);
			break;
		case QUEUE_SYNCED:
			fputs("synced", c->told);
			break;
		default:
			fputs("reset", c->told);
			break;
		}
	}
}

static void
open_told(struct talk_client *c)
{
	c->told = open_memstream(&c->told_text, &c->told_length);
	if (!c->told)
		abort();
}

char *
talk_client_told(struct talk_client *c)
{
	char *text;

	fclose(c->told);
	text = c->told_text;
	open_told(c);
	return text;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *
talk_client_store(const struct talk_client *c)
{
	const struct arena_view *view = &c->arena.view;
	const struct resource *resource = root_resource(view, root_at(view, c->arena.header->root),
							c->cached->id);
	char *words[OBJECTS_MAX] = { 0 }, *text = NULL;
	size_t count = 0, length;
	struct trie_iter it;
	FILE *out;

	for (int r = trie_first(&it, view, resource->ordinals); r > 0 && count < OBJECTS_MAX;
	     r = trie_next(&it)) {
		out = open_memstream(&words[count++], &length);
		put_object(c, it.leaf, out);
		fclose(out);
	}
	qsort(words, count, sizeof(words[0]), compare);
	out = open_memstream(&text, &length);
	fputs(count == 0 ? "none" : "", out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%s%s", i > 0 ? " " : "", words[i]);
		free(words[i]);
	}
	if (resource->state == RESOURCE_SYNCED)
		fprintf(out, " at %.*s", resource->version_length, resource->version);
	else
		fputs(" listing", out);
	fclose(out);
	return text;
}

bool
talk_client_kept_to_protobuf(const struct talk_client *c)
{
	const struct wire *wire = &c->cached->wire;

	return wire_wants_protobuf(wire) && wire->syntax != WIRE_IS_JSON && wire->fallbacks == 0;
}

void
talk_client_status(const struct talk_client *c, struct reflector_status *ret)
{
	reflector_get_status(c->cached->reflector, ret);
}

/* ---- the client ----------------------------------------------------------------------- */

static int
make_store(struct talk_client *c)
{
	if (arena_fixture_make(&c->arena, ARENA_BYTES) < 0)
		abort();
	c->pins = pins_new(8);
	if (!c->pins || store_new(&c->arena, NULL, c->pins, &c->store) < 0)
		abort();
	open_told(c);
	store_on_events(c->store, on_events, c);
	c->applier = applier_new(c->store, &c->clock.clock);
	return c->applier ? 0 : -ENOMEM;
}

int
talk_client_new(const struct talk_client_options *options, struct talk_client **ret, char **ret_error)
{
	static char group[] = "", version[] = "v1", plural[] = "pods", kind[] = "Pod", singular[] = "pod";
	static const struct kube_resource pods = {.group = group,
						  .version = version,
						  .resource = plural,
						  .kind = kind,
						  .singular = singular,
						  .namespaced = true,
						  .can_list = true,
						  .can_watch = true};
	struct talk_client *c = calloc(1, sizeof(*c));
	int r;

	if (!c || asprintf(&c->kube.server, "http://127.0.0.1:%u", options->port) < 0)
		abort();
	virtual_clock_init(&c->clock);
	c->clock.chance = options->dice == TALK_HIGHEST ? UINT32_MAX : 0;
	c->clock.seed = options->dice == TALK_DRAWN ? options->seed : 0;
	r = config_add_resource(&c->config, options->resource, ret_error);
	if (r == 0)
		r = transport_new(options->loop, &c->kube, &c->transport, ret_error);
	if (r == 0)
		r = make_store(c);
	if (r == 0) {
		struct resource_spec_world of_spec = {.config = &c->config,
						      .transport = c->transport,
						      .server = c->kube.server,
						      .as = &c->kube.as};
		struct cached_resource_world world = {
			.config = &c->config,
			.store = c->store,
			.applier = c->applier,
			.clock = &c->clock.clock,
			.schema = options->wire == TALK_PROTOBUF ? proto_schema_builtin() : NULL,
			.cluster = ""};
		struct resource_spec *spec;

		r = resource_spec_new(&of_spec, &pods, &c->config.resources[0], NULL, 0, &spec, ret_error);
		if (r == 0)
			r = cached_resource_new(&world, spec, &c->config.resources[0], &c->cached);
	}
	if (r < 0) {
		talk_client_free(c);
		return r;
	}
	c->real = c->cached->spec->lister_watcher.base;
	c->cached->spec->lister_watcher.base = (struct lister_watcher){c, tap_ask, tap_cancel, tap_pause,
								       tap_resume};
	if (store_commit(c->store) < 0)
		abort();
	*ret = c;
	return 0;
}

void
talk_client_free(struct talk_client *c)
{
	if (!c)
		return;
	cached_resource_free(c->cached);
	applier_free(c->applier);
	transport_free(c->transport);
	if (c->store) {
		store_free(c->store);
		pins_free(c->pins);
		arena_close(&c->arena);
		fclose(c->told);
		free(c->told_text);
	}
	kube_client_config_done(&c->kube);
	config_done(&c->config);
	free(c);
}

void
talk_client_start(struct talk_client *c)
{
	cached_resource_start(c->cached);
}

struct virtual_clock *
talk_client_clock(struct talk_client *c)
{
	return &c->clock;
}

void
talk_client_turn(struct talk_client *c)
{
	virtual_clock_advance(&c->clock, 0);
	while (applier_run(c->applier))
		;
}
