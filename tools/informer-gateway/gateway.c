/* SPDX-License-Identifier: Apache-2.0 */
/* Building and running the parts; see gateway.h. */
#include "tools/informer-gateway/gateway.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/arena/lacking_fields.h"
#include "tools/informer-gateway/http/inherited.h"
#include "tools/informer-gateway/http/listener.h"
#include "tools/informer-gateway/http/request_form.h"
#include "tools/informer-gateway/views/arena_store.h"
#include "tools/informer-gateway/views/arena_view.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/base/notify.h"
#include "writer/base/watchdog.h"

#define HELD_VIEWS 16u
#define HOLD_MS 60000u
#define SAME_LINE_MS 60000u

/* ---- the arena in the loop ---- */

/* The handles say the same within a second or so; one line is enough. */
static void
log_of_library(void *ctx, enum informer_log_level level, const char *message)
{
	static const enum log_level levels[] = {
		[INFORMER_LOG_ERROR] = LOG_LEVEL_ERROR,
		[INFORMER_LOG_WARNING] = LOG_LEVEL_WARNING,
		[INFORMER_LOG_INFO] = LOG_LEVEL_INFO,
		[INFORMER_LOG_DEBUG] = LOG_LEVEL_DEBUG,
	};
	static char last[512];
	static uint64_t last_ms;
	uint64_t now = uv_now(&((struct gateway *)ctx)->loop);

	if (strcmp(last, message) == 0 && now < last_ms + SAME_LINE_MS)
		return;
	snprintf(last, sizeof(last), "%s", message);
	last_ms = now;
	log_write(levels[level], "libinformer: %s", message);
}

static void
on_told(void *ctx, const struct api_resource *resource, uint64_t rv)
{
	struct gateway *g = ctx;

	if (g->router)
		gw_router_told(g->router, resource, rv);
}

static void
on_arena(uv_poll_t *poll, int status, int events)
{
	struct gateway *g = poll->data;

	(void)status;
	(void)events;
	gw_arena_dispatch(g->arena);
}

static void
on_arena_time(uv_timer_t *timer)
{
	struct gateway *g = timer->data;

	gw_arena_dispatch(g->arena);
}

static void
before_waiting(uv_prepare_t *prepare)
{
	struct gateway *g = prepare->data;
	uint64_t until = gw_moments_wait_until(g->arena), now = gw_arena_now_ms(g->arena);

	if (until == UINT64_MAX)
		uv_timer_stop(&g->arena_timer);
	else
		uv_timer_start(&g->arena_timer, on_arena_time, until > now ? until - now : 0, 0);
}

static int
open_arena(struct gateway *g, char **ret_error)
{
	const struct gw_arena_options options = {
		.socket_path = g->config->socket,
		.reader_name = "informer-gateway",
		.history_bytes = g->config->history_bytes,
		.history = &g->memory.history,
		.views = &g->memory.views,
		.held_views = HELD_VIEWS,
		.hold_ms = HOLD_MS,
		.on_told = on_told,
		.log = log_of_library,
		.context = g,
	};
	int r = gw_arena_new(&options, &g->arena);

	if (r < 0)
		return message_set(ret_error, r, "libinformer: %s", informer_strerror(r));
	uv_poll_init(&g->loop, &g->arena_poll, gw_arena_fd(g->arena));
	uv_timer_init(&g->loop, &g->arena_timer);
	uv_prepare_init(&g->loop, &g->arena_prepare);
	g->arena_poll.data = g->arena_timer.data = g->arena_prepare.data = g;
	uv_poll_start(&g->arena_poll, UV_READABLE, on_arena);
	uv_prepare_start(&g->arena_prepare, before_waiting);
	gw_arena_dispatch(g->arena);
	return 0;
}

/* ---- hooks of the router ---- */

/* The API server's URL. NULL on insecure listeners, whose clients have no identity. */
static const char *
server_for(const struct gateway *g, const struct gw_listener_config *listener)
{
	if (listener->profile == GW_PROFILE_INSECURE)
		return NULL;
	return g->upstream ? gw_upstream_server(g->upstream) : g->config->server.server;
}

static bool
elsewhere_hook(void *ctx, struct gw_exchange *x)
{
	const struct gateway *g = ctx;
	const struct gw_listener_config *listener = gw_listener_profile(x->listener);

	if (gw_request_upgrades(x->api.connection)) {
		gw_reply_upgrade(x, server_for(g, listener));
		return true;
	}
	if (!g->pass_through || !listener->pass_through)
		return false;
	gw_pass_through(g->pass_through, x, NULL);
	return true;
}

/*
 * With pass-through, a request with an Authorization header gets the API server's discovery. All other
 * requests get the gateway's own, and so do all while the API server cannot be reached.
 */
static void
discovery_hook(void *ctx, struct gw_exchange *x, gw_next *next)
{
	const struct gateway *g = ctx;
	const struct gw_listener_config *listener = gw_listener_profile(x->listener);

	gw_arena_fit_release(g->arena);
	if (g->pass_through && listener->pass_through && api_request_header(&x->api, "Authorization"))
		gw_pass_through(g->pass_through, x, next);
	else
		next(x);
}

/*
 * Answer 429 while a resource may be missing only because informerd's table is incomplete. Clients would
 * cache a 404.
 */
static bool
is_too_early(const struct gateway *g, struct gw_exchange *x)
{
	const struct gw_listener_config *listener = gw_listener_profile(x->listener);

	if (g->arena->known || x->api.resource ||
	    (x->api.path->place != API_DISCOVERY &&
	     (x->api.path->place != API_RESOURCE || (listener->pass_through && !x->node))))
		return false;
	api_status_not_ready(&x->api.status);
	gw_reply_status(x);
	return true;
}

static bool
page_hook(void *ctx, struct gw_exchange *x)
{
	const struct gateway *g = ctx;

	return gw_page(g, x) || is_too_early(g, x);
}

static void
check_hook(void *ctx, struct gw_exchange *x, gw_next *next)
{
	const struct gateway *g = ctx;
	const struct gw_listener_config *listener = gw_listener_profile(x->listener);

	x->reads.newest_elsewhere = listener->strict && !x->node;
	x->reads.narrow = listener->narrow;
	gw_gatekeeper_check(g->keeper, x, next);
}

/* ---- the parts ---- */

static int
open_upstream(struct gateway *g, char **ret_error)
{
	const struct gw_pass_through_options passing = {.lacks = gw_arena_lacks, .ctx = g->arena};
	struct kube_client_config server = {0};
	bool passes = false, reviews = false;
	int r;

	for (size_t i = 0; i < g->config->listener_count; i++) {
		passes |= g->config->listeners[i].pass_through;
		reviews |= gw_access_is_reviewed(&g->config->listeners[i]);
	}
	if (!passes && !reviews)
		return 0;
	r = kubeconfig_load(&g->config->server, &server, ret_error);
	if (r == 0)
		r = gw_upstream_new(&g->loop, &server, &g->upstream, ret_error);
	kube_client_config_done(&server);
	if (r < 0)
		return r;
	if (passes) {
		g->pass_through = gw_pass_through_new(g->upstream, &passing, ret_error);
		if (!g->pass_through)
			return -EINVAL;
	}
	return 0;
}

static int
open_access(struct gateway *g, char **ret_error)
{
	const struct gw_config *config = g->config;
	const struct gw_access_options access = {
		.config = &config->access,
		.way = gw_upstream_reviews(g->upstream),
		.clock = &g->clock.clock,
	};
	struct gw_gatekeeper_options keeping = {.limits = &config->limits};
	int r = config->audit_file ? gw_audit_log_open(config->audit_file, &g->audit, ret_error) : 0;

	if (r < 0)
		return r;
	keeping.access = g->access = gw_access_new(&access);
	keeping.audit = g->audit;
	g->keeper = gw_gatekeeper_new(&keeping);
	return 0;
}

static void
open_front(struct gateway *g)
{
	const struct gw_front_options front = {
		.connections = g->config->limits.connections,
		.connections_of_one = g->config->limits.connections_by_client,
		.over = gw_gatekeeper_over,
		.ctx = g->keeper,
		.bodies = &g->memory.bodies,
		.goaway_chance = g->config->goaway_chance,
	};
	const struct gw_router_options router = {
		.source = gw_arena_source(g->arena),
		.node = g->config->node_name,
		.hooks = {.ctx = g,
			  .check = check_hook,
			  .elsewhere = elsewhere_hook,
			  .discovery = discovery_hook,
			  .missing = gw_missing_object,
			  .page = page_hook},
		.lists = &g->memory.lists,
	};

	g->front = gw_front_new(&g->loop, &front);
	g->router = gw_router_new(g->front, &router);
}

/* The inherited descriptor for the listener, or -1. */
static int
inherited(const struct gw_listener_config *l, char **ret_error)
{
	int fd;

	if (l->inherit_fd < 0) {
		fd = gw_inherited_systemd(l->name);
		return fd >= 0 ? fd : -1;
	}
	fd = gw_inherited_number(l->inherit_fd);
	if (fd < 0)
		message_set(ret_error, fd, "%s: descriptor %d: %s", l->origin, l->inherit_fd,
			    fd == -ENOTSOCK ? "it does not listen" : strerror(-fd));
	return fd;
}

static int
open_listener(struct gateway *g, struct gw_listener_config *l, char **ret_error)
{
	_cleanup_(message_freep) char *warning = gw_config_warning(l);
	int fd = inherited(l, ret_error), r;
	const struct gw_listener_options options = {
		.name = l->name ? l->name : l->listen,
		.address = fd < 0 ? l->listen : NULL,
		.fd = fd,
		.mode = l->mode,
		.loopback = l->profile == GW_PROFILE_INSECURE,
		.tls_cert = l->certificate,
		.tls_key = l->key,
		.client_ca = l->client_ca,
		.client_required = l->profile == GW_PROFILE_CERTIFICATES,
		.header_seconds = (unsigned)((g->config->limits.header_timeout_ms + 999) / 1000),
		.body_bytes = g->config->limits.body_bytes,
		.profile = l,
	};

	if (fd < -1)
		return fd;
	r = gw_listener_open(g->front, &options, gw_router_handle, g->router,
			     &g->listeners[g->listener_count], ret_error);
	if (r < 0)
		return r;
	if (warning)
		log_warning("%s", warning);
	log_info("listening at %s (%s)", gw_listener_url(g->listeners[g->listener_count]),
		 gw_profile_name(l->profile));
	g->listener_count++;
	return 0;
}

/* ---- running and ending ---- */

static void
stop(void *loop)
{
	uv_stop(loop);
}

static void
on_end(uv_signal_t *handle, int number)
{
	struct gateway *g = handle->data;

	(void)number;
	if (gw_front_draining(g->front)) {
		stop(&g->loop);
		return;
	}
	log_info("ending: watches end within %llu s; once more ends them now",
		 (unsigned long long)(g->config->drain_ms / 1000));
	notify("STOPPING=1");
	gw_drain_begin(g->front, (unsigned)(g->config->drain_ms / 1000), stop, &g->loop);
}

static void
on_reload(uv_signal_t *handle, int number)
{
	struct gateway *g = handle->data;

	(void)number;
	if (g->audit)
		gw_audit_log_reopen(g->audit);
	for (size_t i = 0; i < g->listener_count; i++) {
		_cleanup_(message_freep) char *error = NULL;

		if (gw_listener_reload(g->listeners[i], &error) < 0)
			log_error("%s: keeping the previous certificate: %s",
				  gw_listener_name(g->listeners[i]), error);
	}
}

static void
watch_signals(struct gateway *g)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		uv_signal_init(&g->loop, &g->signals[i]);
		g->signals[i].data = g;
		uv_signal_start(&g->signals[i], numbers[i] == SIGHUP ? on_reload : on_end, numbers[i]);
	}
}

static void
close_handle(uv_handle_t *handle, void *ctx)
{
	(void)ctx;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

/* Close from the clients inwards. Parts that were never made are NULL. */
static void
close_all(struct gateway *g)
{
	for (size_t i = 0; i < g->listener_count; i++)
		gw_listener_close(g->listeners[i]);
	gw_router_free(g->router);
	g->router = NULL;
	gw_front_free(g->front);
	gw_gatekeeper_free(g->keeper);
	gw_access_free(g->access);
	gw_audit_log_close(g->audit);
	gw_pass_through_free(g->pass_through);
	gw_upstream_free(g->upstream);
	if (g->arena) {
		uv_close((uv_handle_t *)&g->arena_poll, NULL);
		uv_close((uv_handle_t *)&g->arena_timer, NULL);
		uv_close((uv_handle_t *)&g->arena_prepare, NULL);
		gw_arena_free(g->arena);
	}
	clock_uv_close(&g->clock);
	uv_close((uv_handle_t *)&g->watchdog, NULL);
	uv_run(&g->loop, UV_RUN_NOWAIT);
	uv_walk(&g->loop, close_handle, NULL);
	uv_run(&g->loop, UV_RUN_DEFAULT);
	uv_loop_close(&g->loop);
}

static int
begin(struct gateway *g, char **ret_error)
{
	int r;

	if ((r = open_arena(g, ret_error)) < 0 || (r = open_upstream(g, ret_error)) < 0 ||
	    (r = open_access(g, ret_error)) < 0)
		return r;
	open_front(g);
	for (size_t i = 0; i < g->config->listener_count; i++)
		if ((r = open_listener(g, &g->config->listeners[i], ret_error)) < 0)
			return r;
	log_info("GET /pods lists the pods of node %s", g->config->node_name);
	watch_signals(g);
	return 0;
}

static struct api_share
share(struct gateway *g, unsigned eighths)
{
	return (struct api_share){.whole = &g->memory.all, .most = g->memory.all.most / 8 * eighths};
}

/* The shares add up to 9/8 of the memory, so that one part can use what another leaves. */
static void
divide_memory(struct gateway *g)
{
	g->memory.all.most = g->config->memory_bytes;
	g->memory.bodies = share(g, 1);
	g->memory.lists = share(g, 4);
	g->memory.views = share(g, 2);
	g->memory.history = share(g, 2);
}

int
gateway_run(const struct gw_config *config, char **ret_error)
{
	struct gateway g = {.config = config};
	int r = uv_loop_init(&g.loop);

	if (r < 0)
		return message_set(ret_error, r, "event loop: %s", uv_strerror(r));
	clock_uv_init(&g.clock, &g.loop);
	watchdog_begin(&g.loop, &g.watchdog);
	divide_memory(&g);
	r = begin(&g, ret_error);
	if (r == 0) {
		notify("READY=1");
		uv_run(&g.loop, UV_RUN_DEFAULT);
	}
	close_all(&g);
	return r;
}
