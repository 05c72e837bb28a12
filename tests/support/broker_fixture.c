/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs store and broker on a loop of their own for tests of readers. Starts, stops and replaces the writer,
 * and runs a test's tasks on the loop's thread.
 */
#include "tests/support/broker_fixture.h"
#include "tests/room.h"
#include "writer/serve/broker_internal.h"

#include <poll.h>

#define SETTLED_TURNS 4

static void
need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "broker_fixture: %s\n", what);
	abort();
}

static char *
give_report(void *context)
{
	struct broker_fixture *fx = context;
	cJSON *readers = broker_readers_json(fx->broker);
	char *text = cJSON_PrintUnformatted(readers);

	cJSON_Delete(readers);
	return text;
}

static struct store_fixture *
live_store(void)
{
	struct store_fixture *store = store_fixture_new(0);

	arena_set_state(store->arena, HEADER_LIVE);
	/* as arena_create() does; a memfd has mode 0777 otherwise */
	need(fchmod(store->arena->fd, 0600) == 0, "no mode");
	return store;
}

static void
new_store(struct broker_fixture *fx)
{
	fx->store = fx->in_generations ? generations_store(&fx->generations, NULL) : live_store();
	need(fan_out_new(fx->store->store, FAN_OUT_LIMITS, &fx->fan_out) == 0, "no fan-out");
	need(consumers_new(fx->store->store, CONSUMERS_LIMITS, &fx->consumers) == 0, "no consumers");
	fx->options.source = (struct broker_source){fx->store->arena, fx->store->pins, fx->fan_out,
						    fx->consumers};
}

static void
note_wanted(void *context, const char *resource, size_t length)
{
	struct broker_fixture *fx = context;
	size_t at;

	pthread_mutex_lock(&fx->wanted_lock);
	at = strlen(fx->wanted);
	snprintf(fx->wanted + at, sizeof(fx->wanted) - at, "%.*s ", (int)length, resource);
	pthread_mutex_unlock(&fx->wanted_lock);
}

const char *
broker_fixture_wanted(struct broker_fixture *fx, char text[WANTED_MAX])
{
	pthread_mutex_lock(&fx->wanted_lock);
	memcpy(text, fx->wanted, sizeof(fx->wanted));
	fx->wanted[0] = '\0';
	pthread_mutex_unlock(&fx->wanted_lock);
	return text;
}

void
broker_fixture_on_demand(struct broker_fixture *fx)
{
	static const char descriptor[] =
		"{\"group\":\"example.com\",\"version\":\"v1\",\"resource\":\"widgets\",\"kind\":\"Widget\","
		"\"singular\":\"widget\","
		"\"shortNames\":[\"wi\"],\"namespaced\":true,\"namespace\":\"\",\"labelSelector\":\"\","
		"\"fieldSelector\":\"\","
		"\"metadataOnly\":false,\"onDemand\":true,\"drops\":[],\"indexes\":[]}";
	static const uint8_t fingerprint[32] = {7};

	need(store_add_resource(fx->store->store, descriptor, fingerprint, &fx->widgets) == 0, "no widgets");
	need(store_commit(fx->store->store) >= 0, "no commit");
}

struct version_task {
	unsigned resource;
	const char *version;
};

static void
show_version(struct broker_fixture *fx, void *context)
{
	const struct version_task *task = context;

	need(store_set_version(fx->store->store, task->resource, task->version, strlen(task->version)) == 0,
	     "no version");
	store_set_state(fx->store->store, task->resource, RESOURCE_SYNCED);
	need(store_commit(fx->store->store) >= 0, "no commit");
}

void
broker_fixture_version(struct broker_fixture *fx, unsigned resource, const char *version)
{
	struct version_task task = {resource, version};

	broker_fixture_do(fx, show_version, &task);
}

struct broker_fixture *
broker_fixture_new(void)
{
	struct broker_fixture *fx = calloc(1, sizeof(*fx));

	need(fx != NULL, "no memory");
	snprintf(fx->directory, sizeof(fx->directory), "/tmp/informer-test-XXXXXX");
	need(mkdtemp(fx->directory) != NULL, "no directory");
	snprintf(fx->socket, sizeof(fx->socket), "%s/informer.sock", fx->directory);
	fx->options = (struct broker_options){.socket_path = fx->socket,
					      .max_readers = 6,
					      .report = give_report,
					      .wanted = note_wanted,
					      .context = fx};
	new_store(fx);
	pthread_mutex_init(&fx->lock, NULL);
	pthread_mutex_init(&fx->wanted_lock, NULL);
	pthread_cond_init(&fx->done, NULL);
	return fx;
}

static void
run_task(uv_async_t *async)
{
	struct broker_fixture *fx = async->data;

	pthread_mutex_lock(&fx->lock);
	if (fx->task) {
		fx->task(fx, fx->task_context);
		fx->task = NULL;
		pthread_cond_signal(&fx->done);
	}
	pthread_mutex_unlock(&fx->lock);
}

static void *
run_loop(void *context)
{
	struct broker_fixture *fx = context;

	uv_run(&fx->loop, UV_RUN_DEFAULT);
	return NULL;
}

static void
open_broker(struct broker_fixture *fx, void *context)
{
	char *error = NULL;

	(void)context;
	if (broker_new(&fx->loop, &fx->options, &fx->broker, &error) < 0)
		need(false, error ? error : "no broker");
	store_on_commit(fx->store->store, broker_wake, fx->broker);
	if (!fx->judges_wakes) {
		fx->broker->wake.bound_ns = UINT64_MAX;
		wake_guard_close(&fx->broker->wake.guard);
	}
}

void
broker_fixture_start(struct broker_fixture *fx)
{
	uv_loop_init(&fx->loop);
	uv_async_init(&fx->loop, &fx->async, run_task);
	fx->async.data = fx;
	need(pthread_create(&fx->thread, NULL, run_loop, fx) == 0, "no thread");
	fx->running = true;
	broker_fixture_do(fx, open_broker, NULL);
}

void
broker_fixture_do(struct broker_fixture *fx, void (*task)(struct broker_fixture *fx, void *context),
		  void *context)
{
	if (!fx->running) {
		task(fx, context);
		return;
	}
	pthread_mutex_lock(&fx->lock);
	fx->task = task;
	fx->task_context = context;
	uv_async_send(&fx->async);
	while (fx->task)
		pthread_cond_wait(&fx->done, &fx->lock);
	pthread_mutex_unlock(&fx->lock);
}

static void
look_for_io(struct broker_fixture *fx, void *context)
{
	struct pollfd io = {.fd = uv_backend_fd(&fx->loop), .events = POLLIN};

	*(bool *)context = poll(&io, 1, 0) > 0;
}

/* Turn the loop until it is idle for several turns: uv_run() registers new watchers late. */
static void
settle(struct broker_fixture *fx)
{
	bool any;

	for (int idle = 0; idle < SETTLED_TURNS;) {
		broker_fixture_do(fx, look_for_io, &any);
		idle = any ? 0 : idle + 1;
	}
}

/* On the loop's thread: move the clocks to the loop's next timer. */
static void
move_clock(struct broker_fixture *fx, void *context)
{
	uint64_t *left_ms = context;
	int next = uv_backend_timeout(&fx->loop);
	uint64_t step = next < 0 || (uint64_t)next > *left_ms ? *left_ms : next > 0 ? (uint64_t)next : 1;

	test_clock_move(step);
	*left_ms -= step;
}

static void
do_nothing(struct broker_fixture *fx, void *context)
{
	(void)fx;
	(void)context;
}

void
broker_fixture_turn(struct broker_fixture *fx)
{
	broker_fixture_do(fx, do_nothing, NULL);
}

void
broker_fixture_pass(struct broker_fixture *fx, uint64_t ms)
{
	settle(fx);
	while (ms > 0) {
		broker_fixture_do(fx, move_clock, &ms);
		settle(fx);
	}
}

static void
close_broker(struct broker_fixture *fx, void *context)
{
	(void)context;
	store_on_commit(fx->store->store, NULL, NULL);
	broker_free(fx->broker);
	fx->broker = NULL;
	uv_close((uv_handle_t *)&fx->async, NULL);
}

void
broker_fixture_stop(struct broker_fixture *fx)
{
	if (!fx->running)
		return;
	broker_fixture_do(fx, close_broker, NULL);
	pthread_join(fx->thread, NULL);
	fx->running = false;
	need(uv_loop_close(&fx->loop) == 0, "the broker left handles in the loop");
}

void
broker_fixture_free(struct broker_fixture *fx)
{
	char lock[128];

	if (!fx)
		return;
	broker_fixture_stop(fx);
	consumers_free(fx->consumers);
	fan_out_free(fx->fan_out);
	store_fixture_free(fx->store);
	for (unsigned i = 0; i < fx->old_count; i++) {
		consumers_free(fx->old_consumers[i]);
		fan_out_free(fx->old_fan_out[i]);
		store_fixture_free(fx->old[i]);
	}
	snprintf(lock, sizeof(lock), "%s.lock", fx->socket);
	unlink(lock);
	unlink(fx->socket);
	rmdir(fx->directory);
	if (fx->in_generations)
		generations_end(&fx->generations);
	pthread_mutex_destroy(&fx->lock);
	pthread_cond_destroy(&fx->done);
	free(fx);
}

FIXTURE_SET_UP(broker_fixture_set_up, broker_fixture_new())

int
broker_fixture_set_up_running(void **state)
{
	broker_fixture_set_up(state);
	broker_fixture_start(*state);
	return 0;
}

FIXTURE_TEAR_DOWN(broker_fixture_tear_down, broker_fixture_free)

static void
put_all(struct broker_fixture *fx, void *context)
{
	const char *const *objects = context;

	for (; *objects; objects++)
		need(store_fixture_put(fx->store, *objects) == 0, *objects);
	store_set_version(fx->store->store, fx->store->pods, "100", 3);
	store_set_state(fx->store->store, fx->store->pods, RESOURCE_SYNCED);
	need(store_commit(fx->store->store) == 0, "no commit");
}

void
broker_fixture_put(struct broker_fixture *fx, const char *const *objects)
{
	broker_fixture_do(fx, put_all, (void *)(uintptr_t)objects);
}

void
broker_fixture_commit(struct broker_fixture *fx)
{
	broker_fixture_put(fx, (const char *const[]){NULL});
}

void
broker_fixture_pod(struct broker_fixture *fx, const char *name)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"uid-%s\","
		 "\"labels\":{\"app\":\"%s\"}},\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":"
		 "\"Running\"}}",
		 name, name, name);
	broker_fixture_put(fx, (const char *const[]){text, NULL});
}

static void
delete_pod(struct broker_fixture *fx, void *context)
{
	const char *const *key = context;

	need(store_fixture_delete(fx->store, key[0], key[1]) == 0, "nothing deleted");
	need(store_commit(fx->store->store) == 0, "no commit");
}

void
broker_fixture_delete(struct broker_fixture *fx, const char *ns, const char *name)
{
	broker_fixture_do(fx, delete_pod, (const char *[]){ns, name});
}

static void
set_status(struct broker_fixture *fx, void *context)
{
	need(store_set_status(fx->store->store, fx->store->pods, context) == 0, "no status");
	need(store_commit(fx->store->store) == 0, "no commit");
}

void
broker_fixture_status(struct broker_fixture *fx, const char *json)
{
	broker_fixture_do(fx, set_status, (void *)(uintptr_t)json);
}

static void
remember(struct broker_fixture *fx, void *context)
{
	struct tombstone_limits limits = STORE_TOMBSTONES;

	limits.count = *(uint64_t *)context;
	store_set_tombstone_limits(fx->store->store, fx->store->pods, limits);
}

void
broker_fixture_remember(struct broker_fixture *fx, uint64_t deletions)
{
	broker_fixture_do(fx, remember, &deletions);
}

static void
free_store(struct store_fixture *store, struct fan_out *fan_out, struct consumers *consumers)
{
	consumers_free(consumers);
	fan_out_free(fan_out);
	store_fixture_free(store);
}

void
broker_fixture_keep_generations(struct broker_fixture *fx)
{
	free_store(fx->store, fx->fan_out, fx->consumers);
	generations_begin(&fx->generations);
	fx->in_generations = true;
	new_store(fx);
}

void
broker_fixture_adopt(struct broker_fixture *fx)
{
	struct store_fixture *old = fx->store;
	struct fan_out *old_fan_out = fx->fan_out;
	struct consumers *old_consumers = fx->consumers;
	bool running = fx->running;

	broker_fixture_stop(fx);
	new_store(fx);
	free_store(old, old_fan_out, old_consumers);
	if (running)
		broker_fixture_start(fx);
}

void
broker_fixture_replace(struct broker_fixture *fx, bool mark)
{
	bool running = fx->running;

	need(fx->old_count < sizeof(fx->old) / sizeof(fx->old[0]), "too many generations");
	broker_fixture_stop(fx);
	if (mark)
		atomic_store(&fx->store->arena->header->superseded_by, 2);
	fx->old_fan_out[fx->old_count] = fx->fan_out;
	fx->old_consumers[fx->old_count] = fx->consumers;
	fx->old[fx->old_count++] = fx->store;
	new_store(fx);
	if (running)
		broker_fixture_start(fx);
}

static void
take_stats(struct broker_fixture *fx, void *context)
{
	broker_stats(fx->broker, context);
}

struct broker_stats
broker_fixture_stats(struct broker_fixture *fx)
{
	struct broker_stats stats = {0};

	broker_fixture_do(fx, take_stats, &stats);
	return stats;
}

void
broker_fixture_wait_readers(struct broker_fixture *fx, unsigned readers)
{
	broker_fixture_until(fx, broker_fixture_stats(fx).readers == readers);
}

void
broker_fixture_wait_answer(struct informer *inf)
{
	struct informer_status status = {.size = sizeof(status)};

	for (int i = 0; i < 1000; i++) {
		informer_status(inf, &status);
		if (status.attached || !strstr(status.reason, "has not answered yet"))
			return;
		informer_wait_attached(inf, 100);
	}
}

struct informer *
broker_fixture_attach(struct broker_fixture *fx, uint32_t flags)
{
	struct informer_options options = {
		.size = sizeof(options), .flags = flags, .socket_path = fx->socket, .reader_name = "test"};
	struct informer *inf;

	assert_int_equal(informer_attach(&options, &inf), 0);
	broker_fixture_wait_answer(inf);
	return inf;
}

struct informer *
broker_fixture_serve(struct broker_fixture *fx, uint32_t flags)
{
	broker_fixture_start(fx);
	broker_fixture_pod(fx, "a");
	return broker_fixture_attach(fx, flags);
}

static void
revoke_oldest(struct broker_fixture *fx, void *context)
{
	struct slot_stat stat;
	int slot;

	(void)context;
	pins_horizon(fx->store->pins, store_epoch(fx->store->store));
	slot = pins_oldest(fx->store->pins, &stat);
	assert_true(slot >= 0);
	store_revoke(fx->store->store, (unsigned)slot);
	broker_revoke(fx->broker, (unsigned)slot, "it held a snapshot for 61 s");
}

void
broker_fixture_revoke_oldest(struct broker_fixture *fx)
{
	broker_fixture_do(fx, revoke_oldest, NULL);
}
