/* SPDX-License-Identifier: Apache-2.0 */
/* The discovery documents of a registry. */
#include "tests/tools/serving/played_store.h"

#include <cjson/cJSON.h>

#include "tools/serving/discovery_documents.h"

#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

/* The page; its text in *body. */
static struct api_discovery
page(struct world *w, const char *url, const char *accept, bool aggregated, struct api_buf *body)
{
	_cleanup_(api_path_done) struct api_path path = {0};
	struct ask ask = {.api = {.value = asked_value, .method = "GET", .url = url, .path = &path},
			  .accept = accept};

	api_path_parse(url, &path);
	return api_discovery_answer(&ask.api, &w->registry, aggregated, body);
}

static bool
says(struct world *w, const char *url, const char *accept, const char *text)
{
	_cleanup_(api_buf_done) struct api_buf body = {0};

	return page(w, url, accept, true, &body).code == 200 && strstr(body.data, text);
}

#define TEST(name) TEST_CASE_OF(struct world *w, world_set_up, world_tear_down, name)

TEST(each_page_is_of_its_kind)
{
	assert_true(says(w, "/api", NULL, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]"));
	assert_true(says(w, "/apis", NULL,
			 "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[{\"name\":"));
	assert_true(says(w, "/api/v1", NULL,
			 "{\"name\":\"pods\",\"singularName\":\"pod\",\"namespaced\":true,\"kind\":\"Pod\""));
	assert_true(says(w, "/apis/apps", NULL,
			 "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",\"name\":\"apps\""));
	assert_true(says(w, "/apis/apps/v1/", NULL, "\"deployments/scale\""));
	assert_true(says(w, "/api", AGGREGATED, "{\"kind\":\"APIGroupDiscoveryList\""));
}

TEST(an_unserved_path_is_no_page)
{
	static const char *const urls[] = {
		"/api/v2", "/apis/nowhere", "/apis/apps/v9", "/apis/apps/v1/x", "/", "/x"};

	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		_cleanup_(api_buf_done) struct api_buf body = {0};

		assert_int_equal(page(w, urls[i], NULL, true, &body).code, 0);
		assert_int_equal(body.len, 0);
	}
}

/* Aggregated documents have an ETag of their content. Where not offered, the older documents come. */
TEST(aggregated_pages_have_a_tag)
{
	_cleanup_(api_buf_done) struct api_buf one = {0}, two = {0}, three = {0};
	struct api_discovery a = page(w, "/apis", AGGREGATED, true, &one), b;

	assert_int_equal(a.code, 200);
	assert_string_not_equal(a.etag, "");
	api_registry_drop(api_registry_find(&w->registry, "apps", "v1", "deployments"));
	b = page(w, "/apis", AGGREGATED, true, &two);
	assert_string_not_equal(a.etag, b.etag);
	assert_null(strstr(two.data, "\"deployments\""));
	b = page(w, "/apis", AGGREGATED, false, &three);
	assert_string_equal(b.type, "application/json");
	assert_string_equal(b.etag, "");
}

TEST(a_read_only_registry_offers_no_writes)
{
	assert_true(says(w, "/api/v1", NULL, "\"patch\""));
	w->registry.read_only = true;
	assert_false(says(w, "/api/v1", NULL, "\"patch\""));
	assert_true(says(w, "/api/v1", NULL, "\"verbs\":[\"get\",\"list\",\"watch\"]"));
	assert_false(says(w, "/api", AGGREGATED, "\"patch\""));
}

TEST(the_version_is_a_document)
{
	_cleanup_(api_buf_done) struct api_buf body = {0};
	cJSON *json;

	api_version_document("some-server", &body);
	json = cJSON_Parse(body.data);
	assert_string_equal(cJSON_GetObjectItem(json, "major")->valuestring, "1");
	assert_non_null(strstr(cJSON_GetObjectItem(json, "gitVersion")->valuestring, "+some-server"));
	cJSON_Delete(json);
}
