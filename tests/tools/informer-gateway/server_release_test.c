/* SPDX-License-Identifier: Apache-2.0 */
/* /version says the release that informerd reports. */
#include "gateway_fixture.h"

#include <stdatomic.h>

#include "tools/informer-gateway/server_release.h"
#include "tools/schema/proto_schema.h"

struct reported {
	struct gateway g;
	struct gw_server_release *release;
	_Atomic(const char *) says;
	atomic_uint asked;
};

static char *
report(void *ctx)
{
	struct reported *w = ctx;
	const char *says = w->says;

	atomic_fetch_add(&w->asked, 1);
	return says ? strdup(says) : NULL;
}

static void
answer(struct gw_exchange *x, void *ctx)
{
	struct reported *w = ctx;

	if (!gw_server_release_page(w->release, x))
		gw_reply_text(x, 404, "text/plain", "another page\n");
}

static int
set_up(void **state)
{
	static struct reported w;

	gateway_begin(&w.g);
	w.release = gw_server_release_new(w.g.loop, report, &w);
	gateway_listen(&w.g, (struct gw_listener_options){0}, answer, &w);
	*state = &w;
	return 0;
}

static int
tear_down(void **state)
{
	struct reported *w = *state;

	gateway_close_listener(&w->g);
	gw_server_release_free(w->release);
	gateway_close(&w->g);
	proto_schema_fit(proto_schema_builtin(), 0);
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct reported *w, set_up, tear_down, name)

/* What informerd reports is what is answered, and for a while without asking again. */
TEST(the_version_is_the_reported_one)
{
	struct caller *c;

	w->says = "{\"release\":\"1.35\"}";
	c = hears(&w->g, GET("/version"), "\"minor\":\"35\",\"gitVersion\":\"v1.35.0+informer-gateway\"");
	forget_heard(c);
	w->says = "{\"release\":\"1.36\"}";
	say(c, GET("/version"));
	hear(c, "\"minor\":\"35\"");
	assert_int_equal(w->asked, 1);
	ask(c, GET("/versions"), "another page");
}

/* One that does not say is asked the next time again. */
TEST(an_unknown_release_is_asked_for_again)
{
	struct caller *c;

	c = hears(&w->g, GET("/version"), "\"minor\":\"0\"");
	forget_heard(c);
	w->says = "{\"release\":\"\"}";
	say(c, GET("/version"));
	hear(c, "\"minor\":\"0\"");
	forget_heard(c);
	w->says = "{\"release\":\"1.36\"}";
	say(c, GET("/version"));
	hear(c, "\"minor\":\"36\"");
}
