/* SPDX-License-Identifier: Apache-2.0 */
/* A GET of an object that is not there yet: how long it waits, and who answers then. */
#include "routed_world.h"

#include "tools/informer-gateway/answer/object_wait.h"

#define POD(name) "/api/v1/namespaces/default/pods/" name
#define WITH_TOKEN(path) "GET " path " HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer t\r\n\r\n"

static unsigned waits;

static void
wait_for_it(void *ctx, struct gw_exchange *x, gw_next *next)
{
	(void)ctx;
	waits++;
	gw_object_wait(x, next);
}

static bool
send_elsewhere(void *ctx, struct gw_exchange *x)
{
	(void)ctx;
	gw_reply_text(x, 200, "text/plain", "elsewhere\n");
	return true;
}

/* Open the router with one pod. The other pods that are asked for are waited for. */
static void
start(struct routed *w)
{
	w->hooks.missing = wait_for_it;
	open_routed(w, (struct gw_router_options){0});
	memory_put(&w->m, "there", "n1", 0);
}

static struct caller *
waits_for(struct routed *w, const char *request)
{
	unsigned before = waits;
	struct caller *c = asks(&w->g, request);

	gateway_until(&w->g, waits == before + 1);
	return c;
}

static void
put(struct routed *w, const char *name)
{
	memory_put(&w->m, name, "n1", 0);
	gw_router_told(w->router, w->m.world->pods, w->m.world->rv);
}

/* The waiting request is answered when its object arrives. */
ROUTED_TEST(an_object_that_arrives_is_the_answer)
{
	struct caller *c;

	start(w);
	c = waits_for(w, GET(POD("late")));
	gateway_pass(&w->g, GW_OBJECT_WAIT_MS / 2);
	put(w, "other");
	put(w, "another");
	assert_false(has_heard(c, "HTTP/1.1"));
	put(w, "late");
	hear(c, "HTTP/1.1 200 ");
	assert_heard(c, "\"name\":\"late\"");
	assert_int_equal(w->n->gets, 1);
}

/* A newer RV of another entry of the resource does not end the wait. */
ROUTED_TEST(another_entrys_rv_does_not_end_the_wait)
{
	struct caller *c, *d;

	start(w);
	c = waits_for(w, GET(POD("late")));
	d = waits_for(w, GET(POD("later")));
	gw_router_told(w->router, w->m.world->pods, w->m.world->rv + 1000000);
	assert_false(has_heard(c, "HTTP/1.1"));
	put(w, "late");
	hear(c, "HTTP/1.1 200 ");
	put(w, "later");
	hear(d, "HTTP/1.1 200 ");
}

/* After a second the answer is 404, even if other objects change meanwhile. */
ROUTED_TEST(an_object_that_does_not_arrive_is_404)
{
	struct caller *c, *d;

	start(w);
	c = waits_for(w, GET(POD("never")));
	gateway_pass(&w->g, GW_OBJECT_WAIT_MS - 1);
	put(w, "other");
	assert_false(has_heard(c, "HTTP/1.1"));
	d = waits_for(w, GET(POD("neither")));
	gateway_pass(&w->g, 1);
	hear(c, "HTTP/1.1 404 ");
	assert_false(has_heard(d, "HTTP/1.1"));
	gateway_pass(&w->g, GW_OBJECT_WAIT_MS);
	hear(d, "HTTP/1.1 404 ");
}

/* After that second a caller with a token is answered elsewhere, if configured. Without one it gets 404. */
ROUTED_TEST(after_the_wait_elsewhere_is_asked)
{
	struct caller *c, *d;

	w->hooks.elsewhere = send_elsewhere;
	start(w);
	c = waits_for(w, WITH_TOKEN(POD("never")));
	d = waits_for(w, GET(POD("never")));
	gateway_pass(&w->g, GW_OBJECT_WAIT_MS);
	hear(c, "elsewhere");
	hear(d, "HTTP/1.1 404 ");
}

ROUTED_TEST(a_client_that_leaves_is_forgotten)
{
	struct caller *c;

	start(w);
	c = waits_for(w, GET(POD("late")));
	hang_up(c);
	gateway_until(&w->g, gw_front_counters(w->g.front)->exchanges == 0);
	put(w, "late");
	gateway_pass(&w->g, GW_OBJECT_WAIT_MS);
}
