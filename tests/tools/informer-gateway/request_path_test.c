/* SPDX-License-Identifier: Apache-2.0 */
/* Which resource a path speaks of. */
#include "tests/room.h"
#include "tools/informer-gateway/access/request_path.h"

static void
assert_path(const char *path, const char *said)
{
	struct gw_asked asked = {0};
	char *copy = strdup(path), got[256] = "none";

#define OR_NONE(text) ((text) ? (text) : "-")
	if (gw_request_path_parse(copy, &asked))
		snprintf(got, sizeof(got), "%s|%s|%s|%s|%s|%s", OR_NONE(asked.group), OR_NONE(asked.version),
			 OR_NONE(asked.namespace_), OR_NONE(asked.resource), OR_NONE(asked.name),
			 OR_NONE(asked.subresource));
	assert_string_equal(got, said);
	free(copy);
}

/* As upstream reads them, whether there is such a resource or not. */
TEST_CASE(paths_are_read_as_upstream_reads_them)
{
	assert_path("/api/v1/pods", "|v1|-|pods|-|-");
	assert_path("/api/v1/namespaces", "|v1|-|namespaces|-|-");
	assert_path("/api/v1/namespaces/web", "|v1|-|namespaces|web|-");
	assert_path("/api/v1/namespaces/web/pods", "|v1|web|pods|-|-");
	assert_path("/api/v1/namespaces/web/pods/a", "|v1|web|pods|a|-");
	assert_path("/api/v1/namespaces/web/pods/a/log", "|v1|web|pods|a|log");
	assert_path("/api/v1/namespaces/web/status", "|v1|-|namespaces|web|status");
	assert_path("/api/v1/namespaces/web/finalize", "|v1|-|namespaces|web|finalize");
	assert_path("/api/v1/nodes/n1/proxy/x/y", "|v1|-|nodes|n1|proxy");
	assert_path("/apis/apps/v1/namespaces/web/deployments/a/scale", "apps|v1|web|deployments|a|scale");
	assert_path("/apis/apps/v1/deployments", "apps|v1|-|deployments|-|-");
	assert_path("//api//v1//pods/", "|v1|-|pods|-|-");
	assert_path("/api/v1", "none");
	assert_path("/apis/apps/v1", "none");
	assert_path("/apis/apps", "none");
	assert_path("/metrics", "none");
	assert_path("/", "none");
	assert_path("", "none");
	assert_path("/v1/api/pods/a", "none");
	assert_path("/api/v1/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r", "|v1|-|a|b|c");
}

/* A method is a verb; what is no write is a read. */
TEST_CASE(methods_are_verbs)
{
	assert_string_equal(gw_request_verb("POST", false), "create");
	assert_string_equal(gw_request_verb("PUT", true), "update");
	assert_string_equal(gw_request_verb("PATCH", true), "patch");
	assert_string_equal(gw_request_verb("DELETE", true), "delete");
	assert_string_equal(gw_request_verb("DELETE", false), "deletecollection");
	assert_string_equal(gw_request_verb("GET", false), "get");
}
