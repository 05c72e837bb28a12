/* SPDX-License-Identifier: Apache-2.0 */
/* A listener that hands everything on, and its clients; see forward_world.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/tools/informer-gateway/forward_world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/temp_dir.h"
#include "writer/base/message.h"

int
forward_world_setup(void **state)
{
	struct forward_world *f = calloc(1, sizeof(*f));
	void *inner = NULL;

	if (!f || upstream_world_setup(&inner) < 0)
		return -1;
	f->u = inner;
	*state = f;
	return 0;
}

int
forward_world_teardown(void **state)
{
	struct forward_world *f = *state;
	void *inner = f->u;
	int r;

	gw_listener_close(f->listener);
	if (f->front)
		uv_run(&f->u->w->loop, UV_RUN_NOWAIT);
	gw_pass_through_free(f->pass_through);
	gw_kept_documents_free(f->kept);
	gw_front_free(f->front);
	r = upstream_world_teardown(&inner);
	if (f->trust)
		gnutls_certificate_free_credentials(f->trust);
	free(f);
	return r;
}

static void
hand_on(struct gw_exchange *x, void *ctx)
{
	struct forward_world *f = ctx;

	x->api.resource = f->resource;
	x->api.subresource = f->subresource;
	if (!f->kept || !gw_kept_documents_answer(f->kept, x))
		gw_pass_through(f->pass_through, x);
}

void
forward_world_start(struct forward_world *f, const struct gw_pass_through_options *options, bool tls)
{
	_cleanup_(message_freep) char *error = NULL, *cert = NULL, *key = NULL;
	struct gw_listener_options listen = {.name = "test", .address = "127.0.0.1:0", .fd = -1};

	if (tls) {
		cert = strdup(temp_path(f->u->w->dir, "s.crt"));
		key = strdup(temp_path(f->u->w->dir, "s.key"));
		listen.tls_cert = cert;
		listen.tls_key = key;
		gnutls_certificate_allocate_credentials(&f->trust);
	}
	f->tls = tls;
	f->pass_through = gw_pass_through_new(
		f->u->upstream, options ? options : &(struct gw_pass_through_options){0}, &error);
	if (!f->pass_through)
		fail_msg("%s", error);
	if (gw_front_new(&f->u->w->loop, &(struct gw_front_options){0}, &f->front) < 0 ||
	    gw_listener_open(f->front, &listen, hand_on, f, &f->listener, &error) < 0)
		fail_msg("%s", error ? error : "no front");
	f->port = (unsigned)atoi(strrchr(gw_listener_url(f->listener), ':') + 1);
}

/* ---- clients -------------------------------------------------------------------------------- */

struct client {
	struct forward_world *f;
	client_script *script;
	void *ctx;
	uv_async_t over;
	_Atomic bool done;
};

static void
on_over(uv_async_t *async)
{
	uv_stop(async->loop);
}

static void *
client_thread(void *ctx)
{
	struct client *c = ctx;
	struct duplex *d = calloc(1, sizeof(*d));
	int fd = duplex_connect(c->f->port);

	if (fd >= 0 && duplex_begin(d, fd, c->f->trust, false)) {
		c->script(d, c->ctx);
		duplex_end(d, false);
	}
	free(d);
	atomic_store(&c->done, true);
	uv_async_send(&c->over);
	return NULL;
}

void
run_client(struct forward_world *f, client_script *script, void *ctx)
{
	struct client c = {.f = f, .script = script, .ctx = ctx};
	pthread_t thread;

	uv_async_init(&f->u->w->loop, &c.over, on_over);
	pthread_create(&thread, NULL, client_thread, &c);
	test_loop_until(&f->u->w->loop, atomic_load(&c.done));
	pthread_join(thread, NULL);
	uv_close((uv_handle_t *)&c.over, NULL);
	uv_run(&f->u->w->loop, UV_RUN_NOWAIT);
}

struct talk {
	const char *request;
	size_t length;
	struct bytes_seen *seen;
};

static void
send_and_read(struct duplex *d, void *ctx)
{
	struct talk *t = ctx;

	duplex_write(d, t->request, t->length);
	while (d->begin < d->end || duplex_fill(d)) {
		size_t n = d->end - d->begin;

		t->seen->data = realloc(t->seen->data, t->seen->length + n + 1);
		memcpy(t->seen->data + t->seen->length, d->buffer + d->begin, n);
		t->seen->length += n;
		t->seen->data[t->seen->length] = '\0';
		d->begin = d->end;
	}
}

void
talk_bytes(struct forward_world *f, const char *request, size_t length, struct bytes_seen *ret)
{
	struct talk t = {request, length, ret};

	*ret = (struct bytes_seen){.data = calloc(1, 1)};
	run_client(f, send_and_read, &t);
}

void
talk(struct forward_world *f, const char *request, struct bytes_seen *ret)
{
	talk_bytes(f, request, strlen(request), ret);
}

void
bytes_seen_done(struct bytes_seen *seen)
{
	free(seen->data);
	*seen = (struct bytes_seen){0};
}
