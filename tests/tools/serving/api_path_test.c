/* SPDX-License-Identifier: Apache-2.0 */
/* What a path names, and whether there is such a place. */
#include "tests/tools/serving/played_store.h"

#include "tools/serving/api_path.h"

/* "GROUP|VERSION|NAMESPACE|RESOURCE|NAME|SUBRESOURCE", - for what is not named, and "..." behind it. */
static const char *
parts(const char *url)
{
	static char text[512];
	struct api_path p;
	enum api_place place = api_path_parse(url, &p);

	if (place == API_ELSEWHERE)
		snprintf(text, sizeof(text), "elsewhere");
	else if (place == API_NOWHERE)
		snprintf(text, sizeof(text), "nowhere in %s", p.group ? p.group : "-");
	else
		snprintf(text, sizeof(text), "%s|%s|%s|%s|%s|%s%s", p.group, p.version,
			 p.namespace_ ? p.namespace_ : "-", p.plural, p.name ? p.name : "-",
			 p.subresource ? p.subresource : "-", p.deeper ? "..." : "");
	api_path_done(&p);
	return text;
}

TEST_CASE(a_path_is_taken_apart)
{
	static const struct {
		const char *url, *want;
	} rows[] = {
		{"/", "elsewhere"},
		{"", "elsewhere"},
		{"/healthz", "elsewhere"},
		{"/api", "nowhere in -"},
		{"/api/v1", "nowhere in -"},
		{"/apis", "nowhere in -"},
		{"/apis/apps", "nowhere in apps"},
		{"/apis/apps/v1", "nowhere in apps"},
		{"/apix/v1/pods", "nowhere in -"},
		{"/api/v1/pods", "|v1|-|pods|-|-"},
		{"/api/v1/pods/", "|v1|-|pods|-|-"},
		{"//api//v1//pods", "|v1|-|pods|-|-"},
		{"/api/v1/nodes/n1", "|v1|-|nodes|n1|-"},
		{"/api/v1/nodes/n1/status", "|v1|-|nodes|n1|status"},
		{"/api/v1/namespaces", "|v1|-|namespaces|-|-"},
		{"/api/v1/namespaces/shop", "|v1|-|namespaces|shop|-"},
		{"/api/v1/namespaces/shop/status", "|v1|-|namespaces|shop|status"},
		{"/api/v1/namespaces/shop/finalize", "|v1|-|namespaces|shop|finalize"},
		{"/api/v1/namespaces/shop/pods", "|v1|shop|pods|-|-"},
		{"/api/v1/namespaces/shop/pods/a/log", "|v1|shop|pods|a|log"},
		{"/api/v1/namespaces/shop/status/a", "|v1|shop|status|a|-"},
		{"/apis/apps/v1/namespaces/shop/deployments/web/scale", "apps|v1|shop|deployments|web|scale"},
		{"/apis/example.com/v1/namespaces/shop/status", "example.com|v1|shop|status|-|-"},
		{"/api/v1/namespaces/shop/pods/a/proxy/index.html", "|v1|shop|pods|a|proxy..."},
		{"/api/v1/namespaces/shop/services/a/proxy/1/2/3/4/5/6/7/8/9",
		 "|v1|shop|services|a|proxy..."},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(parts(rows[i].url), rows[i].want);
}

/* 'y': served; 'n': no such resource; '-': the resource is there, the place is not. */
static char
place(struct world *w, const char *url)
{
	struct api_request request = {0};
	struct api_path path;
	char verdict = 'n';

	if (api_path_parse(url, &path) == API_RESOURCE && api_path_apply(&path, &w->registry, &request) == 0)
		verdict = api_path_served(&path, &request) ? 'y' : '-';
	api_path_done(&path);
	return verdict;
}

TEST_CASE(not_each_path_is_a_place)
{
	struct world *w = world_new();

	assert_int_equal(place(w, "/api/v1/pods"), 'y');
	assert_int_equal(place(w, "/api/v1/namespaces/shop/pods/a"), 'y');
	assert_int_equal(place(w, "/api/v1/namespaces/shop/pods/a/status"), 'y');
	assert_int_equal(place(w, "/api/v1/pods/a"), '-'); /* in which namespace? */
	assert_int_equal(place(w, "/api/v1/namespaces/shop/pods/a/scale"), '-');
	assert_int_equal(place(w, "/api/v1/namespaces/shop/pods/a/status/x"), '-');
	assert_int_equal(place(w, "/api/v1/namespaces/shop/nodes"), 'n'); /* nodes are in none */
	assert_int_equal(place(w, "/api/v2/pods"), 'n');
	assert_int_equal(place(w, "/apis/apps/v1/pods"), 'n');
	world_free(w);
}

TEST_CASE(discovery_ends_at_a_version)
{
	assert_true(api_path_is_discovery("/api"));
	assert_true(api_path_is_discovery("/api/v1"));
	assert_true(api_path_is_discovery("/apis/apps/v1/"));
	assert_true(api_path_is_discovery("/version"));
	assert_true(api_path_is_discovery("/openapi/v3"));
	assert_false(api_path_is_discovery("/api/v1/pods"));
	assert_false(api_path_is_discovery("/apis/apps/v1/deployments"));
	assert_false(api_path_is_discovery("/healthz"));
}
