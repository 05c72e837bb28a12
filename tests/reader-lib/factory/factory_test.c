/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Factories and shared informers, with a writer in this process: client-go's Factory and its
 * SharedIndexInformer's handlers, line by line.
 */
#include <sched.h>
#include <stdatomic.h>

#include "reader-lib/events/handler.h"
#include "tests/room.h"
#include "tests/support/lister_fixture.h"
#include "tests/support/recorder.h"
#include "tests/support/test_clock.h"

struct world {
	struct lister_fixture *fx;
	struct informer_shared *pods;
	struct recorder *r, *other;
};

static struct recorder *
recorder_for_shared(struct informer *inf)
{
	struct recorder *r = recorder_new(inf);

	r->options.resource = NULL;
	return r;
}

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->fx = lister_fixture_new(NULL);
	recorder_change(w->fx->writer, "");
	w->r = recorder_for_shared(w->fx->inf);
	w->other = recorder_for_shared(w->fx->inf);
	w->pods = lister_fixture_shared(w->fx, "pods");
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	struct world *w = *state;

	lister_fixture_free(w->fx);
	recorder_free(w->r);
	recorder_free(w->other);
	free(w);
	return 0;
}

/* Make another factory with these options. */
static void
renew(struct world *w, const struct informer_factory_options *options)
{
	lister_fixture_renew(w->fx, options);
	w->pods = lister_fixture_shared(w->fx, "pods");
}

static void
add(struct world *w, struct recorder *r)
{
	assert_int_equal(informer_shared_add_handler(w->pods, &r->options, &r->handler), 0);
}

static void
start(struct world *w)
{
	assert_int_equal(informer_factory_start(w->fx->factory), 0);
}

/* ---- which informer ---- */

#define TEST(f) TEST_CASE_OF(struct world *w, set_up, tear_down, f)

/* A resource has one informer, by whatever name it is asked for. */
TEST(a_resource_has_one_informer)
{
	static const char *const names[] = {"pods", "po", "pod", "Pod", "pods.v1", "v1/pods", "/v1/pods"};
	struct informer_shared *deployments;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_ptr_equal(lister_fixture_shared(w->fx, names[i]), w->pods);
	deployments = lister_fixture_shared(w->fx, "apps/v1/deployments");
	assert_ptr_not_equal(deployments, w->pods);
	assert_ptr_equal(lister_fixture_shared(w->fx, "deploy"), deployments);
	assert_ptr_equal(lister_fixture_shared(w->fx, "deployments.apps"), deployments);
	assert_ptr_not_equal(lister_fixture_shared(w->fx, "apps/v2/deployments"), deployments);
}

/* An exclusive informer is given to its caller only, and leaves the shared informer alone. */
TEST(an_exclusive_informer_is_not_shared)
{
	struct informer_shared *one, *two;

	assert_int_equal(informer_factory_new_exclusive(w->fx->factory, "pods", &one), 0);
	assert_int_equal(informer_factory_new_exclusive(w->fx->factory, "pods", &two), 0);
	assert_ptr_not_equal(one, two);
	assert_ptr_not_equal(one, w->pods);
	assert_ptr_equal(lister_fixture_shared(w->fx, "pods"), w->pods);
	/* its handlers start and end with the factory */
	assert_int_equal(informer_shared_add_handler(one, &w->r->options, &w->r->handler), 0);
	recorder_change(w->fx->writer, "a1");
	start(w);
	recorder_expect(w->r, "+a1* SYNCED");
	renew(w, NULL);
	recorder_expect(w->r, "DONE");
}

/* An invalid resource name is refused; the name of a resource that is not cached is not. */
TEST(bad_names_are_refused)
{
	static const char *const names[] = {
		"", "/", "a/b/c/d", "v1/", "/pods", "apps//deployments", "//pods", "apps/v1/"};
	struct informer_shared *shared;
	char *much = calloc(1, 600);

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(informer_factory_for(w->fx->factory, names[i], &shared), -EINVAL);
	assert_error_text(-EINVAL, "is no resource name");
	memset(much, 'a', 599);
	assert_int_equal(informer_factory_for(w->fx->factory, much, &shared), -EINVAL);
	free(much);
	assert_int_equal(informer_factory_for(w->fx->factory, "widgets.example.com", &shared), 0);
	assert_int_equal(informer_factory_for(w->fx->factory, NULL, &shared), -EINVAL);
	assert_int_equal(informer_factory_for(NULL, "pods", &shared), -EINVAL);
}

/* While no arena is attached, informers can be set up; equal names have one informer. */
TEST(without_a_daemon_everything_can_be_set_up)
{
	struct informer_options o = {.size = sizeof(o), .socket_path = "/nonexistent/informer.sock"};
	struct informer_tweak tweak = {.resource = "v1/pods", .label_selector = "app=web"};
	struct informer_factory_options fo = {.size = sizeof(fo), .tweaks = &tweak, .n_tweaks = 1};
	struct informer_shared *one, *two;
	struct informer_factory *factory;
	struct informer *inf;

	assert_int_equal(informer_attach(&o, &inf), 0);
	assert_int_equal(informer_factory_new(inf, &fo, &factory), 0);
	assert_int_equal(informer_factory_for(factory, "v1/pods", &one), 0);
	assert_int_equal(informer_factory_for(factory, "PODS.v1", &two), 0);
	assert_ptr_equal(one, two);
	assert_int_equal(informer_shared_add_handler(one, &w->r->options, NULL), 0);
	assert_int_equal(informer_factory_start(factory), 0);
	assert_false(informer_shared_has_synced(one));
	assert_int_equal(informer_factory_wait_synced(factory, 1, NULL, NULL), -ETIMEDOUT);
	informer_factory_shutdown(factory);
	informer_detach(inf);
	recorder_expect(w->r, "DONE");
}

/* ---- start ---- */

/* Handlers are told nothing before the start, even if the handle is dispatched. */
TEST(nothing_is_told_before_the_start)
{
	recorder_change(w->fx->writer, "a1");
	add(w, w->r);
	dispatch_all(w->fx->inf);
	recorder_change(w->fx->writer, "a2 b1");
	dispatch_all(w->fx->inf);
	assert_int_equal(w->r->calls, 0);
	assert_false(informer_shared_has_synced(w->pods));
	start(w);
	recorder_expect(w->r, "+a2* +b1* SYNCED");
	assert_true(informer_shared_has_synced(w->pods));
	recorder_change(w->fx->writer, "a3");
	recorder_expect(w->r, "a2>a3");
}

/* A second start starts only informers that were requested after the first. */
TEST(starting_twice_starts_each_informer_once)
{
	struct informer_shared *nodes;

	recorder_change(w->fx->writer, "a1");
	add(w, w->r);
	start(w);
	start(w);
	recorder_expect(w->r, "+a1* SYNCED");
	nodes = lister_fixture_shared(w->fx, "nodes");
	assert_int_equal(informer_shared_add_handler(nodes, &w->other->options, NULL), 0);
	lister_fixture_put(w->fx, w->fx->nodes, "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"1\"}}");
	dispatch_all(w->fx->inf);
	assert_int_equal(w->other->calls, 0);
	start(w);
	recorder_expect(w->other, "+/n1* SYNCED");
	recorder_change(w->fx->writer, "b1");
	recorder_expect(w->r, "+b1");
}

/* ---- synced ---- */

struct request_result {
	char text[256];
};

static void
note_outcome(void *context, const char *resource, bool synced)
{
	struct request_result *o = context;

	snprintf(o->text + strlen(o->text), sizeof(o->text) - strlen(o->text), "%s:%s ", resource,
		 synced ? "yes" : "no");
}

/* The wait reports each started resource, and fails when one of them is not synced. */
TEST(a_wait_reports_each_resource)
{
	struct informer_shared *shared;
	struct request_result ended = {""};

	/* none is started: nothing to wait for */
	assert_int_equal(informer_factory_wait_synced(w->fx->factory, 0, note_outcome, &ended), 0);
	assert_string_equal(ended.text, "");
	shared = lister_fixture_shared(w->fx, "v1/nodes");
	start(w);
	assert_int_equal(informer_factory_wait_synced(w->fx->factory, 20, note_outcome, &ended), -ETIMEDOUT);
	assert_string_equal(ended.text, "v1/nodes:no pods:yes ");
	assert_true(informer_shared_has_synced(w->pods));
	assert_false(informer_shared_has_synced(shared));
	lister_fixture_put(w->fx, w->fx->nodes, "{\"metadata\":{\"name\":\"n\"}}");
	ended.text[0] = '\0';
	assert_int_equal(informer_factory_wait_synced(w->fx->factory, -1, note_outcome, &ended), 0);
	assert_string_equal(ended.text, "v1/nodes:yes pods:yes ");
	assert_true(informer_shared_has_synced(shared));
	assert_int_equal(informer_factory_wait_synced(w->fx->factory, 0, NULL, NULL), 0);
}

static void
remove_itself(struct recorder *r)
{
	informer_remove_handler(r->handler);
}

/* The wait includes the handlers' initial adds; a handler removed meanwhile is not waited for. */
TEST(a_wait_includes_the_handlers)
{
	recorder_change(w->fx->writer, "a1 b1");
	add(w, w->r);
	w->other->each = remove_itself;
	add(w, w->other);
	start(w);
	assert_int_equal(informer_factory_wait_synced(w->fx->factory, 5, NULL, NULL), -ETIMEDOUT);
	assert_int_equal(informer_run(w->fx->inf), 0);
	assert_int_equal(informer_factory_wait_synced(w->fx->factory, 60000, NULL, NULL), 0);
	assert_true(informer_handler_has_synced(w->r->handler));
	recorder_await(w->r, "+a1* +b1* SYNCED");
	recorder_await(w->other, "+a1* DONE");
	assert_true(informer_shared_has_synced(w->pods));
}

/* ---- options ---- */

/* A factory's namespace applies to its handlers; cluster-scoped resources ignore it. */
TEST(a_factorys_namespace_applies_to_its_handlers)
{
	struct informer_factory_options o = {.size = sizeof(o), .namespace_ = "x"};
	struct informer_shared *nodes;

	renew(w, &o);
	recorder_change(w->fx->writer, "a1 x/b1");
	lister_fixture_put(w->fx, w->fx->nodes, "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"1\"}}");
	add(w, w->r);
	nodes = lister_fixture_shared(w->fx, "nodes");
	assert_int_equal(informer_shared_add_handler(nodes, &w->other->options, NULL), 0);
	start(w);
	recorder_expect(w->r, "+x/b1* SYNCED");
	recorder_expect(w->other, "+/n1* SYNCED");
	recorder_change(w->fx->writer, "a2 x/b2");
	lister_fixture_put(w->fx, w->fx->nodes, "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"2\"}}");
	recorder_expect(w->r, "x/b1>x/b2");
	recorder_expect(w->other, "/n1>/n2");
}

TEST(selectors_of_tweak_and_handler_must_both_match)
{
	struct informer_tweak tweak = {.resource = "pods",
				       .label_selector = "app in (web,db)",
				       .field_selector = "metadata.name!=c"};
	struct informer_factory_options o = {.size = sizeof(o), .tweaks = &tweak, .n_tweaks = 1};

	renew(w, &o);
	recorder_change(w->fx->writer, "a1:web b1:db c1:web d1:job e1:db");
	add(w, w->r);
	w->other->options.label_selector = "app!=web";
	w->other->options.field_selector = "metadata.name!=e";
	add(w, w->other);
	start(w);
	recorder_expect(w->r, "+a1* +b1* +e1* SYNCED");
	recorder_expect(w->other, "+b1* SYNCED");
	/* out of the tweak's selector: a delete for both; out of the handler's own: for that handler */
	recorder_change(w->fx->writer, "b2:job a2:db d2:db");
	recorder_expect(w->r, "-b1 a1>a2 +d2");
	recorder_expect(w->other, "-b1 +a2 +d2");
}

static uint32_t
resync_of(struct world *w, const char *resource, uint32_t own_ms)
{
	struct informer_handler_options o = {.size = sizeof(o), .resync_ms = own_ms};
	struct informer_handler *h;
	struct informer_shared *shared;
	uint32_t ms;

	shared = lister_fixture_shared(w->fx, resource);
	assert_int_equal(informer_shared_add_handler(shared, &o, &h), 0);
	ms = (uint32_t)(h->work->period_ns / 1000000);
	informer_remove_handler(h);
	return ms;
}

/* Handler before resource before default. [ListenerResyncPeriods, ResyncCheckPeriod] */
TEST(the_most_specific_resync_period_counts)
{
	struct informer_tweak tweaks[] = {{.resource = "nodes", .resync_ms = 30000},
					  {.resource = "deployments.apps", .label_selector = "app=web"},
					  {.resource = "services", .resync_ms = INFORMER_NO_RESYNC},
					  {.resource = "nodes", .resync_ms = 7000}};
	struct informer_factory_options o = {
		.size = sizeof(o), .resync_ms = 60000, .tweaks = tweaks, .n_tweaks = 4};

	assert_int_equal(resync_of(w, "pods", 0), 0);
	assert_int_equal(resync_of(w, "pods", INFORMER_NO_RESYNC), 0);
	assert_int_equal(resync_of(w, "pods", 5000), 5000);
	assert_int_equal(resync_of(w, "pods", 1), 1000);
	renew(w, &o);
	assert_int_equal(resync_of(w, "pods", 0), 60000);
	assert_int_equal(resync_of(w, "pods", 5000), 5000);
	assert_int_equal(resync_of(w, "pods", INFORMER_NO_RESYNC), 0);
	assert_int_equal(resync_of(w, "no", 0), 7000);
	assert_int_equal(resync_of(w, "deploy", 0), 60000);
	assert_int_equal(resync_of(w, "services", 0), 0);
	assert_int_equal(resync_of(w, "services", 5000), 5000);
}

struct texts {
	char log[2048];
	bool same;
	_Atomic unsigned calls;
};

static void
append_json(struct texts *t, const char *what, const struct informer_object *object)
{
	char text[512];
	size_t length;

	assert_int_equal(informer_object_json(object, text, sizeof(text), &length), 0);
	snprintf(t->log + strlen(t->log), sizeof(t->log) - strlen(t->log), "%s%s\n", what, text);
}

static void
text_add(void *context, const struct informer_object *object, bool is_initial)
{
	(void)is_initial;
	append_json(context, "+", object);
}

static void
text_update(void *context, const struct informer_object *old, const struct informer_object *object)
{
	struct texts *t = context;

	t->calls++;
	t->same = old == object;
	if (t->same)
		return;
	append_json(t, "<", old);
	append_json(t, ">", object);
}

static void
text_delete(void *context, const struct informer_object *object, bool final_state_known)
{
	assert_true(final_state_known);
	append_json(context, "-", object);
}

/* With a transform handlers see only what it keeps, in every call. [RespectStoreTransformer] */
TEST(handlers_see_what_the_transform_keeps)
{
	const char *drop[] = {"metadata.labels", "metadata.uid"};
	struct informer_factory_options fo = {.size = sizeof(fo), .drop = drop, .n_drop = 2};
	struct texts t = {.log = ""};
	struct informer_handler_options o = {.size = sizeof(o),
					     .label_selector = "app=web",
					     .on_add = text_add,
					     .on_update = text_update,
					     .on_delete = text_delete,
					     .context = &t,
					     .resync_ms = 1000};
	static const char expected[] =
		"+{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\",\"uid\":\"uid-a-1\","
		"\"resourceVersion\":\"1\"},\"spec\":{\"nodeName\":\"n1\"}}\n"
		"<{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\",\"uid\":\"uid-a-1\","
		"\"resourceVersion\":\"1\"},\"spec\":{\"nodeName\":\"n1\"}}\n"
		">{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\",\"uid\":\"uid-a-1\","
		"\"resourceVersion\":\"2\"},\"spec\":{\"nodeName\":\"n1\"}}\n"
		"-{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\",\"uid\":\"uid-a-1\","
		"\"resourceVersion\":\"2\"},\"spec\":{\"nodeName\":\"n1\"}}\n";

	renew(w, &fo);
	recorder_change(w->fx->writer, "a1:web");
	assert_int_equal(informer_shared_add_handler(w->pods, &o, NULL), 0);
	add(w, w->r);
	start(w);
	recorder_expect(w->r, "+a1* SYNCED");
	recorder_change(w->fx->writer, "a2:web");
	recorder_expect(w->r, "a1>a2");
	t.calls = 0;
	test_clock_move(1000);
	while (t.calls == 0)
		informer_dispatch(w->fx->inf);
	assert_true(t.same);
	recorder_change(w->fx->writer, "-a");
	recorder_expect(w->r, "-a2");
	assert_string_equal(t.log, expected);
}

static bool
has_label_web(void *context, const struct informer_object *object)
{
	char json[4096];
	size_t length;

	(void)context;
	assert_int_equal(informer_object_json(object, json, sizeof(json), &length), 0);
	return strstr(json, "\"app\":\"web\"") != NULL;
}

/* A filter gets the transformed objects and the caller's context. */
TEST(a_filter_sees_what_the_transform_keeps)
{
	const char *drop[] = {"metadata.labels"};
	struct informer_factory_options fo = {.size = sizeof(fo)};

	renew(w, &fo);
	recorder_change(w->fx->writer, "a1:web b1:db");
	w->r->options.filter = has_label_web;
	add(w, w->r);
	start(w);
	recorder_expect(w->r, "+a1* SYNCED");
	recorder_change(w->fx->writer, "a2:db b2:web");
	recorder_expect(w->r, "-a1 +b2");
	fo.drop = drop;
	fo.n_drop = 1;
	renew(w, &fo);
	recorder_expect(w->r, "DONE");
	add(w, w->r);
	start(w);
	recorder_expect(w->r, "SYNCED");
}

static void *
see_made(void *context, const struct informer_object *object)
{
	append_json(context, "made ", object);
	return context;
}

static void
see_value(void *context, const struct informer_object *object, void *old, void *value)
{
	struct texts *t = context;

	assert_ptr_equal(value ? value : old, t);
	append_json(t, value ? "told " : "gone ", object);
	t->calls++;
}

static void
see_released(void *context, void *value)
{
	struct texts *t = context;

	assert_ptr_equal(value, t);
	strcat(t->log, "released");
}

/* Values are made of the transformed objects, and their functions get the caller's context. */
TEST(values_are_made_of_what_the_transform_keeps)
{
	static const char a[] = "{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\",\"uid\":\"uid-a-1\","
				"\"resourceVersion\":\"1\"},\"spec\":{\"nodeName\":\"n1\"}}\n";
	const char *drop[] = {"metadata.labels"};
	struct informer_factory_options fo = {.size = sizeof(fo), .drop = drop, .n_drop = 1};
	struct texts t = {.log = ""};
	struct informer_handler_options o = {.size = sizeof(o),
					     .context = &t,
					     .transform = see_made,
					     .on_value = see_value,
					     .release = see_released};
	char expected[1024];

	renew(w, &fo);
	recorder_change(w->fx->writer, "a1:web");
	assert_int_equal(informer_shared_add_handler(w->pods, &o, NULL), 0);
	start(w);
	while (t.calls == 0)
		dispatch_all(w->fx->inf);
	recorder_change(w->fx->writer, "-a");
	while (t.calls == 1)
		dispatch_all(w->fx->inf);
	snprintf(expected, sizeof(expected), "made %stold %sgone %sreleased", a, a, a);
	assert_string_equal(t.log, expected);
}

TEST(bad_options_are_refused)
{
	struct informer_tweak tweak = {.resource = "pods", .label_selector = "a=="};
	const char *path[] = {"spec..x"};
	struct informer_factory_options o = {.size = sizeof(o), .tweaks = &tweak, .n_tweaks = 1};
	struct informer_factory *factory;
	char ns[300];

	tweak.label_selector = "=";
	assert_int_equal(informer_factory_new(w->fx->inf, &o, &factory), INFORMER_E_SYNTAX);
	assert_error_text(INFORMER_E_SYNTAX, "selector '='");
	tweak = (struct informer_tweak){.resource = "pods", .field_selector = "spec.nodeName"};
	assert_int_equal(informer_factory_new(w->fx->inf, &o, &factory), INFORMER_E_SYNTAX);
	tweak = (struct informer_tweak){.resource = "a/b/c/d"};
	assert_int_equal(informer_factory_new(w->fx->inf, &o, &factory), -EINVAL);
	o = (struct informer_factory_options){.size = sizeof(o), .drop = path, .n_drop = 1};
	assert_int_equal(informer_factory_new(w->fx->inf, &o, &factory), INFORMER_E_SYNTAX);
	memset(ns, 'n', sizeof(ns) - 1);
	ns[sizeof(ns) - 1] = '\0';
	o = (struct informer_factory_options){.size = sizeof(o), .namespace_ = ns};
	assert_int_equal(informer_factory_new(w->fx->inf, &o, &factory), -EINVAL);
	o = (struct informer_factory_options){.size = 1};
	assert_int_equal(informer_factory_new(w->fx->inf, &o, &factory), -EINVAL);
	assert_int_equal(informer_factory_new(NULL, NULL, &factory), -EINVAL);
	assert_int_equal(informer_factory_new(w->fx->inf, NULL, NULL), -EINVAL);
	informer_factory_shutdown(NULL);
}

/* A handler for another resource or namespace, or with a bad selector, leaves nothing behind. */
TEST(handlers_for_something_else_are_refused)
{
	w->r->options.resource = "nodes";
	assert_int_equal(informer_shared_add_handler(w->pods, &w->r->options, NULL), -EINVAL);
	assert_error_text(-EINVAL, "a handler of 'nodes' was given to the informer of pods");
	w->r->options.resource = "v1/pods";
	w->r->options.namespace_ = "x";
	assert_int_equal(informer_shared_add_handler(w->pods, &w->r->options, NULL), -EINVAL);
	assert_error_text(-EINVAL, "a handler of namespace 'x' was given to an informer of all namespaces");
	w->r->options.namespace_ = "";
	w->r->options.label_selector = "=";
	assert_int_equal(informer_shared_add_handler(w->pods, &w->r->options, NULL), INFORMER_E_SYNTAX);
	w->r->options.label_selector = NULL;
	assert_int_equal(informer_shared_add_handler(w->pods, NULL, NULL), -EINVAL);
	assert_int_equal(informer_shared_add_handler(NULL, &w->r->options, NULL), -EINVAL);
	assert_int_equal(w->r->calls, 0);
	add(w, w->r);
	start(w);
	recorder_expect(w->r, "SYNCED");
}

/* ---- the end ---- */

struct last_words {
	struct world *w;
	bool was_stopped;
	int added;
};

static void
at_the_end(void *context)
{
	struct last_words *l = context;
	struct informer_handler_options o = {.size = sizeof(o)};

	l->was_stopped = informer_shared_is_stopped(l->w->pods);
	l->added = informer_shared_add_handler(l->w->pods, &o, NULL);
}

/* [RemoveWhileActive] */
TEST(a_stopped_informer_refuses_handlers)
{
	struct last_words last = {.w = w};
	struct informer_handler_options o = {.size = sizeof(o), .on_done = at_the_end, .context = &last};

	assert_false(informer_shared_is_stopped(w->pods));
	assert_int_equal(informer_shared_add_handler(w->pods, &o, NULL), 0);
	start(w);
	renew(w, NULL);
	assert_true(last.was_stopped);
	assert_int_equal(last.added, INFORMER_E_STOPPED);

	assert_false(informer_shared_is_stopped(w->pods));
	add(w, w->r);
	assert_int_equal(informer_stop(w->fx->inf), 0);
	assert_true(informer_shared_is_stopped(w->pods));
	assert_int_equal(informer_shared_add_handler(w->pods, &w->other->options, NULL), INFORMER_E_STOPPED);
	assert_int_equal(informer_factory_start(w->fx->factory), INFORMER_E_STOPPED);
	recorder_expect(w->r, "DONE");
	assert_int_equal(w->other->calls, 0);
}

struct closing {
	struct informer_factory *factory;
	_Atomic bool over;
};

static void *
shut_down(void *context)
{
	struct closing *c = context;

	informer_factory_shutdown(c->factory);
	atomic_store(&c->over, true);
	return NULL;
}

/* Shutting down waits for a running handler; its last call is on_done. Another factory continues. */
TEST(shutting_down_waits_for_running_handlers)
{
	static struct gate gate = GATE; /* the handler may be in its last call when the test ends */
	struct closing closing = {0};
	struct informer_shared *pods;
	pthread_t thread;

	recorder_change(w->fx->writer, "a1 b1");
	assert_int_equal(informer_factory_new(w->fx->inf, NULL, &closing.factory), 0);
	assert_int_equal(informer_factory_for(closing.factory, "pods", &pods), 0);
	w->r->each = gate_wait;
	w->r->context = &gate;
	assert_int_equal(informer_shared_add_handler(pods, &w->r->options, &w->r->handler), 0);
	assert_int_equal(informer_factory_start(closing.factory), 0);
	add(w, w->other);
	start(w);
	assert_int_equal(informer_run(w->fx->inf), 0);
	gate_await_waiting(&gate);
	assert_int_equal(pthread_create(&thread, NULL, shut_down, &closing), 0);
	/* a handler that hangs does not delay the other one */
	recorder_await(w->other, "+a1* +b1* SYNCED");
	while (!informer_shared_is_stopped(pods))
		sched_yield();
	assert_false(atomic_load(&closing.over));
	gate_open(&gate);
	pthread_join(thread, NULL);
	recorder_await(w->r, "+a1* DONE");
	recorder_change(w->fx->writer, "b2");
	recorder_await(w->other, "b1>b2");
}

/* A forked child may only free its factory: no handler is called, and the parent's handlers continue. */
TEST(a_forked_child_may_only_free_its_factory)
{
	struct informer_factory *factory;
	struct informer_shared *shared;
	int status;
	pid_t child;

	recorder_change(w->fx->writer, "a1");
	add(w, w->r);
	start(w);
	recorder_expect(w->r, "+a1* SYNCED");
	child = fork();
	if (child == 0) {
		bool ok = informer_factory_for(w->fx->factory, "nodes", &shared) == INFORMER_E_FORKED &&
			  informer_factory_new(w->fx->inf, NULL, &factory) == INFORMER_E_FORKED &&
			  informer_factory_start(w->fx->factory) == INFORMER_E_FORKED &&
			  informer_shared_add_handler(w->pods, &w->other->options, NULL) ==
				  INFORMER_E_FORKED &&
			  !informer_shared_has_synced(w->pods) && informer_shared_is_stopped(w->pods) &&
			  informer_factory_wait_synced(w->fx->factory, 0, NULL, NULL) == INFORMER_E_FORKED;
		unsigned calls = w->r->calls;

		informer_factory_shutdown(w->fx->factory);
		informer_detach(w->fx->inf);
		_exit(ok && w->r->calls == calls ? 0 : 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	recorder_change(w->fx->writer, "a2");
	recorder_expect(w->r, "a1>a2");
}

/* ---- threads ---- */

struct registrar {
	struct world *w;
	pthread_t thread;
	unsigned failures;
};

static void *
add_and_remove(void *context)
{
	struct registrar *g = context;
	struct informer_handler_options o = {.size = sizeof(o)};

	for (int i = 0; i < 40; i++) {
		struct informer_shared *shared;
		struct informer_handler *h;

		if (informer_factory_for(g->w->fx->factory, i % 2 ? "po" : "pods", &shared) < 0 ||
		    shared != g->w->pods || informer_shared_add_handler(shared, &o, &h) < 0 ||
		    informer_factory_start(g->w->fx->factory) < 0) {
			g->failures++;
			continue;
		}
		(void)informer_shared_has_synced(shared);
		if (i % 4 != 0 && informer_wait_handler_synced(g->w->fx->inf, h, 60000) < 0)
			g->failures++;
		informer_remove_handler(h);
	}
	return NULL;
}

/* Several threads add and remove handlers; a handler that stays misses nothing. [AddWhileActive] */
TEST(handlers_come_and_go_while_one_goes_on)
{
	struct registrar registrars[3];

	recorder_change(w->fx->writer, "a1");
	add(w, w->r);
	start(w);
	assert_int_equal(informer_run(w->fx->inf), 0);
	recorder_await(w->r, "+a1* SYNCED");
	for (unsigned i = 0; i < 3; i++) {
		registrars[i] = (struct registrar){.w = w};
		assert_int_equal(pthread_create(&registrars[i].thread, NULL, add_and_remove, &registrars[i]),
				 0);
	}
	recorder_follow(w->fx->writer, w->r, 50);
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(registrars[i].thread, NULL);
		assert_int_equal(registrars[i].failures, 0);
	}
}
