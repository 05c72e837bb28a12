/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and queries of the ListerWatcher: those that upstream's API server was seen to answer. */
#include "tests/room.h"
#include "writer/reflect/lister_watcher.h"

static struct kube_resource pods = {
	.group = "", .version = "v1", .resource = "pods", .kind = "Pod", .namespaced = true};
static struct kube_resource deployments = {
	.group = "apps", .version = "v1", .resource = "deployments", .kind = "Deployment", .namespaced = true,
};

struct place {
	const struct kube_resource *resource;
	const char *namespace_, *labels, *fields;
};

static struct kube_lister_watcher
lister_watcher(const struct place *p)
{
	struct kube_lister_watcher lw;

	assert_int_equal(
		kube_lister_watcher_init(&lw, NULL, p->resource, p->namespace_, p->labels, p->fields), 0);
	return lw;
}

/*
 * An RV "" is left out, and without parameters the query is, too. A continue token is encoded, before the
 * selectors. The question about an RV asks for a single item. A watch asks for bookmarks and a timeout; a
 * WatchList for the initial events, NotOlderThan its RV.
 */
TEST_CASE(a_request_asks_for_pages_versions_bookmarks_and_selectors)
{
#define BOOKMARKS "pods?watch=true&allowWatchBookmarks=true"
	static const struct {
		struct place place;
		struct request_params params;
		const char *url;
	} cases[] = {
		{{.resource = &pods},
		 {.resource_version = "0", .limit = 500},
		 "/api/v1/pods?limit=500&resourceVersion=0"},
		{{.resource = &deployments, .namespace_ = "team-a"},
		 {.resource_version = ""},
		 "/apis/apps/v1/namespaces/team-a/deployments"},
		{{&pods, NULL, "app in (a,b),!x", "spec.nodeName=n 1"},
		 {.continue_token = "a+b/c=", .limit = 500},
		 "/api/v1/pods?limit=500&continue=a%2Bb%2Fc%3D&labelSelector=app%20in%20%28a%2Cb%29%2C%21x"
		 "&fieldSelector=spec.nodeName%3Dn%201"},
		{{&pods, NULL, NULL, "metadata.name=a"}, {0}, "/api/v1/pods?fieldSelector=metadata.name%3Da"},
		{{.resource = &pods},
		 {.resource_version = "7", .resource_version_match = "NotOlderThan", .limit = 1},
		 "/api/v1/pods?limit=1&resourceVersion=7&resourceVersionMatch=NotOlderThan"},
		{{&pods, "a", "app=w", NULL},
		 {.resource_version = "11", .watch = true, .timeout_s = 301},
		 "/api/v1/namespaces/a/" BOOKMARKS "&resourceVersion=11&timeoutSeconds=301"
		 "&labelSelector=app%3Dw"},
		{{.resource = &pods},
		 {.resource_version = "",
		  .watch = true,
		  .timeout_s = 301,
		  .resource_version_match = "NotOlderThan",
		  .initial_events = true},
		 "/api/v1/" BOOKMARKS "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
		 "&timeoutSeconds=301"},
		{{.resource = &pods},
		 {.resource_version = "7",
		  .watch = true,
		  .timeout_s = 301,
		  .resource_version_match = "NotOlderThan",
		  .initial_events = true},
		 "/api/v1/" BOOKMARKS "&sendInitialEvents=true&resourceVersion=7"
		 "&resourceVersionMatch=NotOlderThan&timeoutSeconds=301"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct kube_lister_watcher lw = lister_watcher(&cases[i].place);
		char *url = kube_request_url(&lw, &cases[i].params);

		assert_string_equal(url, cases[i].url);
		free(url);
		kube_lister_watcher_done(&lw);
	}
}
