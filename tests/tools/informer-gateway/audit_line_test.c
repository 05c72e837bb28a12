/* SPDX-License-Identifier: Apache-2.0 */
#include <cjson/cJSON.h>

#include "tests/room.h"
#include "tools/informer-gateway/gate/audit_line.h"

/* The members come in a stable order, and empty ones are left out. */
TEST_CASE(a_line_has_the_known_members)
{
	const struct gw_attributes a = {"list", "", "v1", "pods", "", "web", "", "", "app=a", ""};
	const struct gw_audit_entry entry = {.wall_ms = 1700000000123,
					     .listener = "tls",
					     .source = "10.0.0.7:41234",
					     .user = "alice",
					     .uid = "",
					     .attributes = &a,
					     .rv_asked = "12",
					     .rv = 40,
					     .decision = "allowed",
					     .code = 200,
					     .bytes = 1234,
					     .duration_ns = 12003456};
	struct api_buf out = {0};

	gw_audit_line(&entry, &out);
	assert_string_equal(
		out.data,
		"{\"time\":\"2023-11-14T22:13:20.123Z\",\"listener\":\"tls\",\"source\":\"10.0.0.7:41234\","
		"\"user\":\"alice\",\"verb\":\"list\",\"resource\":\"pods\",\"namespace\":\"web\","
		"\"labelSelector\":\"app=a\",\"rvAsked\":\"12\",\"rv\":\"40\",\"decision\":\"allowed\","
		"\"code\":200,\"bytes\":1234,\"durationMs\":12.003}\n");
	api_buf_done(&out);
}

/* Whatever a client sends, the line is a single line of bounded length, valid JSON and UTF-8. */
TEST_CASE(a_line_stays_one_line)
{
	char name[3000];
	const struct gw_attributes a = {
		"get", "", "v1", "pods", "", "a\nb\"\\\x01", name, "\xff\xc0\xaf\xed\xa0\x80x\xc3y\xc3",
		"",    ""};
	const struct gw_audit_entry entry = {.listener = "l", .attributes = &a};
	struct api_buf out = {0};
	cJSON *line;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	gw_audit_line(&entry, &out);
	assert_ptr_equal(memchr(out.data, '\n', out.len), out.data + out.len - 1);
	line = cJSON_Parse(out.data);
	assert_string_equal(cJSON_GetObjectItem(line, "namespace")->valuestring, "a\nb\"\\\x01");
	assert_true(strlen(cJSON_GetObjectItem(line, "name")->valuestring) < 1024);
	assert_string_equal(cJSON_GetObjectItem(line, "fieldSelector")->valuestring, "??????x?y?");
	cJSON_Delete(line);
	api_buf_done(&out);
}

TEST_CASE(a_request_refused_before_authentication_has_a_line)
{
	const struct gw_audit_entry entry = {
		.listener = "l", .source = "unix", .decision = "none", .code = 400};
	struct api_buf out = {0};

	gw_audit_line(&entry, &out);
	assert_non_null(strstr(out.data, "\"source\":\"unix\",\"decision\":\"none\",\"code\":400,"));
	api_buf_done(&out);
}
