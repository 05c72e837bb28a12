/* SPDX-License-Identifier: Apache-2.0 */
/* /version says the release that informerd reports. */
#include "gateway_fixture.h"
#include "memory_source.h"

#include <stdatomic.h>

#include "tests/room.h"
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

static void
open_reported(struct reported *w, const char *says)
{
	gateway_front(&w->g, (struct gw_front_options){0});
	w->says = says;
	w->release = gw_server_release_new(&w->g.loop, report, w);
	gateway_listen(&w->g, (struct gw_listener_options){0}, answer, w);
}

static void
close_reported(struct reported *w)
{
	gw_listener_close(w->g.listener);
	w->g.listener = NULL;
	gw_server_release_free(w->release);
	gateway_close(&w->g);
	proto_schema_fit(proto_schema_builtin(), 0);
}

/* What informerd reports is what is answered, and for a while without asking again. */
static void
the_version_is_the_reported_one(void **state)
{
	struct reported w = {0};
	struct caller c;

	(void)state;
	open_reported(&w, "{\"release\":\"1.35\"}");
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET("/version"));
	hear(&w.g, &c, "\"minor\":\"35\",\"gitVersion\":\"v1.35.0+informer-gateway\"");
	forget_heard(&c);
	w.says = "{\"release\":\"1.36\"}";
	say(&w.g, &c, GET("/version"));
	hear(&w.g, &c, "\"minor\":\"35\"");
	assert_int_equal(w.asked, 1);
	forget_heard(&c);
	say(&w.g, &c, GET("/versions"));
	hear(&w.g, &c, "another page");
	hang_up(&c);
	close_reported(&w);
}

/* One that does not say is asked the next time again. */
static void
an_unknown_release_is_asked_for_again(void **state)
{
	struct reported w = {0};
	struct caller c;

	(void)state;
	open_reported(&w, NULL);
	call_tcp(&w.g, &c);
	say(&w.g, &c, GET("/version"));
	hear(&w.g, &c, "\"minor\":\"0\"");
	forget_heard(&c);
	w.says = "{\"release\":\"\"}";
	say(&w.g, &c, GET("/version"));
	hear(&w.g, &c, "\"minor\":\"0\"");
	forget_heard(&c);
	w.says = "{\"release\":\"1.36\"}";
	say(&w.g, &c, GET("/version"));
	hear(&w.g, &c, "\"minor\":\"36\"");
	hang_up(&c);
	close_reported(&w);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_version_is_the_reported_one),
	cmocka_unit_test(an_unknown_release_is_asked_for_again),
};
TEST_GROUP(tests, NULL, NULL);
