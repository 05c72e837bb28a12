/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "writer/decode/decoder_schema.h"
#include "writer/resource/descriptor.h"
#include "writer/base/message.h"

#define READERS_MAX 80u

static const uint8_t fingerprint[32] = "pods of the bench";

void
world_commit(struct world *w)
{
	w->uncommitted = 0;
	bench_need(store_commit(w->store), "commit");
}

static int
take(void *context, const char *type, size_t type_length, struct draft d)
{
	struct world *w = context;
	bool same;
	int r = store_put(w->store, w->pods, d, store_look(w->store, w->pods, d.ref, &same));

	(void)type;
	(void)type_length;
	if (r < 0) {
		draft_discard(&w->arena, store_intern(w->store), d);
		return r;
	}
	w->stored++;
	if (++w->uncommitted >= (w->mode == DECODE_LIST ? WORLD_LIST_BATCH : WORLD_BATCH))
		world_commit(w);
	return 0;
}

int
world_bad_object(void *context, const char *why)
{
	(void)context;
	fprintf(stderr, "bench: %s\n", why);
	return -EBADMSG;
}

int
world_list_end(void *context, const char *version, const char *more, int64_t remaining)
{
	(void)context;
	(void)version;
	(void)more;
	(void)remaining;
	return 0;
}

static const struct decoder_events events = {
	.on_object = take, .on_bad_object = world_bad_object, .on_list_end = world_list_end};

/* ---- the store ---- */

static void
add_pods(struct world *w)
{
	static char short_name[] = "po", *short_names[] = {short_name}, core[] = "", v1[] = "v1",
		    plural[] = "pods", kind[] = "Pod", singular[] = "pod";
	static const char *const drops[] = {"apiVersion", "kind", "metadata.managedFields"};
	struct kube_resource pods = {core, v1, plural, kind, singular, short_names, 1, true, true, true};
	struct descriptor_source source = {.resource = &pods, .drops = drops + 2, .drop_count = 1};
	_cleanup_(message_freep) char *json = NULL, *error = NULL;

	bench_need(descriptor_build(&source, &json, &error), "descriptor");
	bench_need(store_add_resource(w->store, json, fingerprint, &w->pods), "resource");
	w->schema = decoder_schema_new(drops, 3, NULL);
	if (!w->schema)
		abort();
	world_commit(w);
}

static void
open_store(struct world *w)
{
	struct intern *intern = NULL;

	if (generation_adopt(&w->place, &w->arena, &intern, &w->adoption) < 0)
		bench_fail("no store: %s", w->adoption.message);
	w->pins = pins_new(READERS_MAX);
	bench_need(w->pins ? store_new(&w->arena, intern, w->pins, &w->store) : -ENOMEM, "store");
	generation_finish(&w->place, &w->arena, &w->adoption);
	generation_give_back(&w->place, &w->adoption);
}

/* As a process that ends: no reader is told, the file stays. */
static void
drop_store(struct world *w)
{
	decoder_free(w->decoder);
	w->decoder = NULL;
	decoder_schema_free(w->schema);
	store_free(w->store);
	pins_free(w->pins);
	arena_close(&w->arena);
	w->arena = (struct arena){0};
}

struct world *
world_new(const struct bench *b)
{
	struct world *w = bench_alloc(1, sizeof(*w));

	snprintf(w->directory, sizeof(w->directory), "%s/w-XXXXXX", b->directory);
	if (!mkdtemp(w->directory))
		bench_need(-errno, w->directory);
	snprintf(w->socket, sizeof(w->socket), "%s/s", w->directory);
	w->place.directory = open(w->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(w->place.prefix, sizeof(w->place.prefix), "arena");
	w->place.max_bytes = (uint64_t)8 << 30;
	memset(w->place.master, 7, sizeof(w->place.master));
	open_store(w);
	add_pods(w);
	return w;
}

void
world_free(struct world *w)
{
	char path[512];

	world_stop_serving(w);
	snprintf(path, sizeof(path), "%s/%s", w->directory, w->arena.name);
	drop_store(w);
	unlink(path);
	close(w->place.directory);
	rmdir(w->directory);
	free(w);
}

void
world_feed(struct world *w, enum decoder_mode mode, const void *bytes, size_t length)
{
	if (!w->decoder || w->mode != mode) {
		decoder_free(w->decoder);
		w->mode = mode;
		w->decoder = decoder_new(mode, &w->arena, store_intern(w->store), w->schema, &events, w, 0);
		if (!w->decoder)
			abort();
		decoder_use_protobuf(w->decoder, w->protobuf);
	}
	bench_need(decoder_feed(w->decoder, bytes, length), "decode");
}

void
world_synced(struct world *w)
{
	bench_need(store_set_version(w->store, w->pods, "1", 1), "version");
	store_set_state(w->store, w->pods, RESOURCE_SYNCED);
	world_commit(w);
}

void
world_load(struct world *w, const struct bench *b, enum pods_naming naming, size_t total)
{
	static const char head[] =
		"{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[";
	struct bytes text = {0};

	world_feed(w, DECODE_LIST, head, sizeof(head) - 1);
	for (size_t i = 0; i < total; i++) {
		text.length = 0;
		if (i > 0)
			world_feed(w, DECODE_LIST, ",", 1);
		pods_make(b->pods, naming, i, total, 0, &text);
		world_feed(w, DECODE_LIST, text.data, text.length);
	}
	bytes_done(&text);
	world_feed(w, DECODE_LIST, "]}\n", 3);
	world_synced(w);
	/* the daemon's heartbeat does this in its first seconds */
	while (arena_gather_pages(&w->arena))
		;
}

void
world_event(const struct bench *b, enum pods_naming naming, size_t i, size_t total, unsigned version,
	    struct bytes *text)
{
	static const char head[] = "{\"type\":\"MODIFIED\",\"object\":";

	if (bytes_append(text, head, sizeof(head) - 1) < 0)
		abort();
	pods_make(b->pods, naming, i, total, version, text);
	if (bytes_append(text, "}\n", 2) < 0)
		abort();
}

double
world_adopt(struct world *w)
{
	uint64_t start;
	double ms;

	drop_store(w);
	start = now_ns();
	open_store(w);
	ms = ms_since(start);
	if (w->adoption.how != ADOPTION_ADOPTED)
		bench_fail("not adopted: %s", w->adoption.message);
	add_pods(w);
	return ms;
}

/* ---- the broker ---- */

static char *
give_report(void *context)
{
	(void)context;
	return strdup("{}");
}

static void
on_end(uv_async_t *async)
{
	struct world *w = async->data;

	broker_free(w->broker);
	w->broker = NULL;
	uv_close((uv_handle_t *)&w->end, NULL);
}

static void *
run_loop(void *context)
{
	struct world *w = context;

	uv_run(&w->loop, UV_RUN_DEFAULT);
	return NULL;
}

static void
open_broker(struct world *w)
{
	struct broker_options options = {.socket_path = w->socket,
					 .max_readers = READERS_MAX,
					 .source = {&w->arena, w->pins, w->fan_out, NULL},
					 .report = give_report,
					 .context = w};
	_cleanup_(message_freep) char *error = NULL;

	uv_loop_init(&w->loop);
	uv_async_init(&w->loop, &w->end, on_end);
	w->end.data = w;
	if (broker_new(&w->loop, &options, &w->broker, &error) < 0)
		bench_fail("no broker: %s", error ? error : "");
}

void
world_serve(struct world *w)
{
	open_broker(w);
	if (pthread_create(&w->thread, NULL, run_loop, w) != 0)
		abort();
	w->serving = true;
}

void
world_serve_events(struct world *w)
{
	bench_need(fan_out_new(w->store, FAN_OUT_LIMITS, &w->fan_out), "fan-out");
	open_broker(w);
	store_on_commit(w->store, broker_wake, w->broker);
}

void
world_turn(struct world *w)
{
	uv_run(&w->loop, UV_RUN_NOWAIT);
}

void
world_stop_serving(struct world *w)
{
	if (w->serving) {
		uv_async_send(&w->end);
		pthread_join(w->thread, NULL);
	} else if (w->broker) {
		store_on_commit(w->store, NULL, NULL);
		uv_async_send(&w->end);
		uv_run(&w->loop, UV_RUN_DEFAULT);
	} else {
		return;
	}
	uv_loop_close(&w->loop);
	fan_out_free(w->fan_out);
	w->fan_out = NULL;
	unlink(w->socket);
	w->serving = false;
}
