/* SPDX-License-Identifier: Apache-2.0 */
/* What a path names, and whether that place exists. */
#include "tests/tools/serving/played_store.h"

#include "tools/serving/api_path.h"

/* "GROUP|VERSION|NAMESPACE|RESOURCE|NAME|SUBRESOURCE", - for a missing part, and "..." for more behind. */
static const char *
parts(const char *url)
{
	static const char *const places[] = {
		[API_ELSEWHERE] = "elsewhere", [API_ABOUT] = "about", [API_BROKEN] = "broken"};
	static char text[512];
	struct api_path p;
	enum api_place place = api_path_parse(url, &p);

#define OR_NONE(part) ((part) ? (part) : "-")
	assert_int_equal(p.place, place);
	if (place == API_DISCOVERY)
		snprintf(text, sizeof(text), "discovery of %s|%s", OR_NONE(p.group), OR_NONE(p.version));
	else if (place == API_RESOURCE)
		snprintf(text, sizeof(text), "%s|%s|%s|%s|%s|%s%s", p.group, p.version, OR_NONE(p.namespace_),
			 p.plural, OR_NONE(p.name), OR_NONE(p.subresource), p.deeper ? "..." : "");
	else
		snprintf(text, sizeof(text), "%s", places[place]);
	api_path_done(&p);
	return text;
}

/* A path is split as upstream does, whether its resource exists or not. */
TEST_CASE(a_path_is_split_into_its_parts)
{
	static const struct {
		const char *url, *want;
	} rows[] = {
		{"/", "elsewhere"},
		{"", "elsewhere"},
		{"/healthz", "elsewhere"},
		{"/metrics", "elsewhere"},
		{"/v1/api/pods/a", "elsewhere"},
		{"/apix/v1/pods", "elsewhere"},
		{"//api/v1/pods", "elsewhere"},
		{"/version", "about"},
		{"/version/", "about"},
		{"/version/x", "elsewhere"},
		{"/openapi/v3/apis/apps/v1", "about"},
		{"/api", "discovery of |-"},
		{"/api/", "discovery of |-"},
		{"/api/v1", "discovery of |v1"},
		{"/apis", "discovery of -|-"},
		{"/apis/apps", "discovery of apps|-"},
		{"/apis/apps/v1/", "discovery of apps|v1"},
		{"/api/v1/pods", "|v1|-|pods|-|-"},
		{"/api/v1/pods/", "|v1|-|pods|-|-"},
		{"/api//v1", "broken"},
		{"/api//v1/pods", "broken"},
		{"/api/v1//pods", "broken"},
		{"/api/v1/pods//", "broken"},
		{"/apis/", "discovery of -|-"},
		{"/apis//v1/deployments", "broken"},
		{"/api/v1/namespaces//pods", "broken"},
		{"/api/v1/namespaces/shop//pods", "broken"},
		{"/api/v1/namespaces/shop/services/a/proxy//x", "|v1|shop|services|a|proxy..."},
		{"/api/v1/nodes/n1", "|v1|-|nodes|n1|-"},
		{"/api/v1/nodes/n1/status", "|v1|-|nodes|n1|status"},
		{"/api/v1/namespaces", "|v1|-|namespaces|-|-"},
		{"/api/v1/namespaces/shop", "|v1|-|namespaces|shop|-"},
		{"/api/v1/namespaces/shop/status", "|v1|-|namespaces|shop|status"},
		{"/api/v1/namespaces/shop/finalize", "|v1|-|namespaces|shop|finalize"},
		{"/api/v1/namespaces/shop/pods", "|v1|shop|pods|-|-"},
		{"/api/v1/namespaces/shop/pods/a/log", "|v1|shop|pods|a|log"},
		{"/api/v1/namespaces/shop/status/a", "|v1|-|namespaces|shop|status..."},
		{"/apis/apps/v1/namespaces/shop/deployments/web/scale", "apps|v1|shop|deployments|web|scale"},
		{"/apis/example.com/v1/namespaces/shop/status", "example.com|v1|-|namespaces|shop|status"},
		{"/api/v1/namespaces/shop/pods/a/proxy/index.html", "|v1|shop|pods|a|proxy..."},
		{"/api/v1/namespaces/shop/services/a/proxy/1/2/3/4/5/6/7/8/9",
		 "|v1|shop|services|a|proxy..."},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(parts(rows[i].url), rows[i].want);
}

/* 'y': served; 'n': no such resource; '-': the resource exists, the place does not. */
static char
place(struct world *w, const char *url)
{
	struct api_request request = {0};
	struct api_path path;
	char verdict = 'n';

	api_path_parse(url, &path);
	if (api_request_locate(&request, &path, &w->registry) == 0)
		verdict = api_request_is_of_objects(&request) ? 'y' : '-';
	api_path_done(&path);
	return verdict;
}

TEST_CASE(not_every_path_is_a_place)
{
	struct world *w = world_new();

	assert_int_equal(place(w, "/api/v1/pods"), 'y');
	assert_int_equal(place(w, "/api/v1/namespaces/shop/pods/a"), 'y');
	assert_int_equal(place(w, "/api/v1/namespaces/shop/pods/a/status"), 'y');
	assert_int_equal(place(w, "/api/v1/pods/a"), '-'); /* the namespace is missing */
	assert_int_equal(place(w, "/api/v1/namespaces/shop/pods/a/scale"), '-');
	assert_int_equal(place(w, "/api/v1/namespaces/shop/pods/a/status/x"), '-');
	assert_int_equal(place(w, "/api/v1/namespaces/shop/nodes"), 'n'); /* nodes have no namespace */
	assert_int_equal(place(w, "/api/v2/pods"), 'n');
	assert_int_equal(place(w, "/api/v1//pods"), 'n');
	assert_int_equal(place(w, "/apis/apps/v1/pods"), 'n');
	world_free(w);
}
