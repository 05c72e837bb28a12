/* SPDX-License-Identifier: Apache-2.0 */
/* Plays the API server of one resource: records requests, answers, and shows the resulting store. */
#include "tests/support/source_fixture.h"

#include "shm-layout/object.h"
#include "shm-layout/trie.h"
#include "tests/room.h"

/* ---- the server -------------------------------------------------------------- */

static void __attribute__((format(printf, 2, 3)))
note(struct source_fixture *fx, const char *format, ...)
{
	size_t at = strlen(fx->diary);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(fx->diary + at, sizeof(fx->diary) - at, format, arguments);
	va_end(arguments);
}

static int
scripted_ask(void *context, const struct request_params *params, const struct transport_callbacks *callbacks,
	     void *ctx, void **ret_request)
{
	struct source_fixture *fx = context;
	struct scripted_request *request = &fx->requests[fx->request_count % SCRIPTED_REQUESTS];

	if (fx->refuse < 0)
		return fx->refuse;
	note(fx, "%s%s",
	     !params->watch           ? "LIST"
	     : params->initial_events ? "WATCHLIST"
				      : "WATCH",
	     params->protobuf ? " protobuf" : "");
	if (params->resource_version)
		note(fx, " rv=%s", params->resource_version[0] ? params->resource_version : "\"\"");
	if (params->resource_version_match && !params->watch)
		note(fx, " match=%s", params->resource_version_match);
	if (params->continue_token)
		note(fx, " continue=%s", params->continue_token);
	if (params->limit)
		note(fx, " limit=%u", params->limit);
	note(fx, "; ");
	fx->request_count++;
	*request = (struct scripted_request){
		.fixture = fx,
		.watch = params->watch,
		.open = true,
		.fresh = params->fresh_connection,
		.timeout_s = params->timeout_s,
		.callbacks = callbacks,
		.ctx = ctx,
	};
	*ret_request = request;
	return 0;
}

static void
scripted_cancel(void *context, void *request)
{
	struct scripted_request *r = request;

	(void)context;
	assert_true(r->open);
	r->open = false;
	r->cancelled = true;
	note(r->fixture, "CANCEL; ");
}

static void
scripted_pause(void *context, void *request)
{
	(void)context;
	assert_true(((struct scripted_request *)request)->open);
	((struct scripted_request *)request)->paused = true;
}

static void
scripted_resume(void *context, void *request)
{
	(void)context;
	assert_true(((struct scripted_request *)request)->open);
	((struct scripted_request *)request)->paused = false;
}

static struct scripted_request *
find_open(struct source_fixture *fx)
{
	for (size_t i = fx->request_count; i > 0 && i + SCRIPTED_REQUESTS > fx->request_count; i--)
		if (fx->requests[(i - 1) % SCRIPTED_REQUESTS].open)
			return &fx->requests[(i - 1) % SCRIPTED_REQUESTS];
	return NULL;
}

bool
server_has_request(struct source_fixture *fx)
{
	return find_open(fx) != NULL;
}

struct scripted_request *
server_request(struct source_fixture *fx)
{
	struct scripted_request *open = find_open(fx);

	if (!open)
		fail_msg("no request is under way; so far: %s", fx->diary);
	return open;
}

static void
respond(struct scripted_request *request, int status, const char *content_type)
{
	struct transport_response response = {.status = status, .content_type = content_type, .etag = ""};

	request->callbacks->on_response(request->ctx, &response);
}

static void
end(struct scripted_request *request, int result)
{
	request->open = false;
	request->callbacks->on_done(request->ctx, result, result ? "the connection broke" : "");
}

/* False when the receiver refused the bytes, which ends the stream. */
static bool
deliver(struct scripted_request *request, const char *bytes, size_t length)
{
	int r = request->callbacks->on_data(request->ctx, bytes, length);

	if (r < 0 && request->open)
		end(request, r);
	return r == 0 && request->open;
}

void
server_answer(struct source_fixture *fx, int status, const char *body)
{
	struct scripted_request *request = server_request(fx);

	respond(request, status, "application/json");
	if (deliver(request, body, strlen(body)))
		end(request, 0);
}

void
server_open_with(struct source_fixture *fx, int status, const char *content_type)
{
	respond(server_request(fx), status, content_type);
}

bool
server_send_bytes(struct source_fixture *fx, const void *data, size_t length)
{
	return deliver(server_request(fx), data, length);
}

void
server_open(struct source_fixture *fx)
{
	server_open_with(fx, 200, "application/json");
}

void
server_send(struct source_fixture *fx, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	assert_true(length >= 0);
	deliver(server_request(fx), text, (size_t)length);
	free(text);
}

void
server_end(struct source_fixture *fx, int result)
{
	end(server_request(fx), result);
}

const char *
diary(struct source_fixture *fx)
{
	static char page[sizeof(fx->diary)];

	strcpy(page, fx->diary);
	fx->diary[0] = '\0';
	return page;
}

/* ---- what it serves ------------------------------------------------------------ */

const char *
pod(const char *key, unsigned version)
{
	static char buffers[8][512];
	static unsigned next;
	char *text = buffers[next++ % 8];
	const char *slash = strchr(key, '/');

	snprintf(text, sizeof(buffers[0]),
		 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%.*s\",\"uid\":\"uid-%s\","
		 "\"resourceVersion\":\"%u\"},"
		 "\"spec\":{\"nodeName\":\"node-1\"}}",
		 slash + 1, (int)(slash - key), key, key, version);
	return text;
}

const char *
pod_list(const char *version, const char *continue_token, ...)
{
	static char text[65536];
	const char *item;
	va_list items;
	size_t at;
	bool first = true;

	at = (size_t)snprintf(
		text, sizeof(text),
		"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"%s\"",
		version);
	if (continue_token)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       ",\"continue\":\"%s\",\"remainingItemCount\":1", continue_token);
	at += (size_t)snprintf(text + at, sizeof(text) - at, "},\"items\":[");
	va_start(items, continue_token);
	while ((item = va_arg(items, const char *)) != NULL) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", first ? "" : ",", item);
		first = false;
	}
	va_end(items);
	snprintf(text + at, sizeof(text) - at, "]}\n");
	return text;
}

/* ---- what arrives ---------------------------------------------------------------- */

static int
compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

const char *
published(struct source_fixture *fx)
{
	static char text[16384];
	static char lines[128][128];
	const struct arena_view *view = &fx->store->arena->view;
	const struct root *root = root_at(view, fx->store->arena->header->root);
	const struct resource *resource = root_resource(view, root, fx->store->pods);
	struct trie_iter it;
	size_t count = 0, at;

	assert_non_null(resource);
	for (int r = trie_first(&it, view, resource->ordinals); r > 0; r = trie_next(&it)) {
		const struct object *o = object_at(view, it.leaf);

		assert_non_null(o);
		assert_true(count < 128);
		snprintf(lines[count++], sizeof(lines[0]), "%.*s/%.*s@%.*s ", o->namespace_length,
			 object_namespace(o), o->name_length, object_name(o), o->version_length,
			 object_version(o));
	}
	qsort(lines, count, sizeof(lines[0]), compare);
	if (resource->state == RESOURCE_SYNCED)
		at = (size_t)snprintf(text, sizeof(text), "[%.*s] ", resource->version_length,
				      resource->version);
	else
		at = (size_t)snprintf(text, sizeof(text), "[-] ");
	for (size_t i = 0; i < count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s", lines[i]);
	return text;
}

static void
count_contact(void *context)
{
	((struct source_fixture *)context)->contacts++;
}

struct source_fixture *
source_fixture_new(uint64_t max_bytes)
{
	struct source_fixture *fx = calloc(1, sizeof(*fx));

	if (!fx)
		abort();
	fx->store = store_fixture_new(max_bytes);
	virtual_clock_init(&fx->clock);
	fx->fifo = delta_fifo_new(fx->store->store, fx->store->pods);
	fx->applier = applier_new(fx->store->store, &fx->clock.clock);
	if (!fx->fifo || !fx->applier || applier_add(fx->applier, fx->store->pods, fx->fifo, NULL, NULL) < 0)
		abort();
	fx->lister_watcher = (struct lister_watcher){fx, scripted_ask, scripted_cancel, scripted_pause,
						     scripted_resume};
	fx->source = (struct source){
		.name = "pods",
		.lister_watcher = &fx->lister_watcher,
		.fifo = fx->fifo,
		.arena = fx->store->arena,
		.intern = store_intern(fx->store->store),
		.schema = fx->store->schema,
		.clock = &fx->clock.clock,
		.on_contact = count_contact,
		.context = fx,
	};
	return fx;
}

void
source_fixture_free(struct source_fixture *fx)
{
	applier_free(fx->applier);
	delta_fifo_free(fx->fifo);
	store_fixture_free(fx->store);
	free(fx);
}
