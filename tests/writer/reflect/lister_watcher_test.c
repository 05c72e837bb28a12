/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which paths and queries the ListerWatcher asks for: those that upstream's API server was seen to answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "writer/reflect/lister_watcher.h"

static struct kube_resource pods = {
	.group = "", .version = "v1", .resource = "pods", .kind = "Pod", .namespaced = true};
static struct kube_resource deployments = {
	.group = "apps", .version = "v1", .resource = "deployments", .kind = "Deployment", .namespaced = true,
};

static void
expect_list(const struct kube_resource *resource, const char *ns, const char *labels, const char *fields,
	    struct list_params params, const char *expected)
{
	struct kube_lister_watcher lw;
	char *url;

	assert_int_equal(kube_lister_watcher_init(&lw, NULL, resource, ns, labels, fields), 0);
	url = kube_list_url(&lw, &params);
	assert_string_equal(url, expected);
	free(url);
	kube_lister_watcher_done(&lw);
}

static void
expect_watch(const struct kube_resource *resource, const char *ns, const char *labels, const char *fields,
	     struct watch_params params, const char *expected)
{
	struct kube_lister_watcher lw;
	char *url;

	assert_int_equal(kube_lister_watcher_init(&lw, NULL, resource, ns, labels, fields), 0);
	url = kube_watch_url(&lw, &params);
	assert_string_equal(url, expected);
	free(url);
	kube_lister_watcher_done(&lw);
}

/* A first page, all namespaces. */
TEST_CASE(a_first_page)
{
	expect_list(&pods, NULL, NULL, NULL, (struct list_params){ .resource_version = "0", .limit = 500 },
		    "/api/v1/pods?limit=500&resourceVersion=0");
}

/* An RV "" is left out, and with it the whole query. */
TEST_CASE(an_empty_version_is_left_out)
{
	expect_list(&deployments, "team-a", NULL, NULL, (struct list_params){ .resource_version = "" },
		    "/apis/apps/v1/namespaces/team-a/deployments");
}

/* A token goes encoded, and with the selectors. */
TEST_CASE(a_token_goes_encoded_with_the_selectors)
{
	expect_list(&pods, NULL, "app in (a,b),!x", "spec.nodeName=n 1",
		    (struct list_params){.continue_token = "a+b/c=", .limit = 500},
		    "/api/v1/pods?limit=500&continue=a%2Bb%2Fc%3D&labelSelector=app%20in%20%28a%2Cb%29%2C%21x"
		    "&fieldSelector=spec.nodeName%3Dn%201");
}

/* Selectors alone begin the query. */
TEST_CASE(selectors_alone_begin_the_query)
{
	expect_list(&pods, NULL, NULL, "metadata.name=a", (struct list_params){ 0 },
		    "/api/v1/pods?fieldSelector=metadata.name%3Da");
}

/* The question about an RV. */
TEST_CASE(the_question_about_a_version)
{
	expect_list(&pods, NULL, NULL, NULL,
		    (struct list_params){
			    .resource_version = "7", .resource_version_match = "NotOlderThan", .limit = 1},
		    "/api/v1/pods?limit=1&resourceVersion=7&resourceVersionMatch=NotOlderThan");
}

/* A watch asks for bookmarks and a timeout. */
TEST_CASE(a_watch_asks_for_bookmarks)
{
	expect_watch(&pods, "a", "app=w", NULL,
		     (struct watch_params){.resource_version = "11", .timeout_s = 301},
		     "/api/v1/namespaces/a/"
		     "pods?watch=true&allowWatchBookmarks=true&resourceVersion=11&timeoutSeconds=301"
		     "&labelSelector=app%3Dw");
}

/* A WatchList asks for the initial events, NotOlderThan its RV; an RV "" is left out. */
TEST_CASE(a_watch_list)
{
	expect_watch(&pods, NULL, NULL, NULL,
		     (struct watch_params){.resource_version = "", .timeout_s = 301, .initial_events = true},
		     "/api/v1/"
		     "pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch="
		     "NotOlderThan"
		     "&timeoutSeconds=301");
	expect_watch(&pods, NULL, NULL, NULL,
		     (struct watch_params){.resource_version = "7", .timeout_s = 301, .initial_events = true},
		     "/api/v1/"
		     "pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch="
		     "NotOlderThan"
		     "&resourceVersion=7&timeoutSeconds=301");
}
