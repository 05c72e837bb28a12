/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals in upstream's words. */
#include "tests/room.h"
#include "tools/informer-gateway/gate/refusal.h"

static void
assert_status(struct api_status *status, const char *text)
{
	struct api_buf buf = {0};

	api_status_print(status, &buf);
	assert_string_equal(buf.data, text);
	api_buf_done(&buf);
	api_status_done(status);
}

#define STATUS(rest)                                                                                         \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\"," rest "}"

/* The documents are those of k8s.io/apiserver, including details. */
TEST_CASE(documents_are_upstreams)
{
	struct gw_attributes a = {"list", "", "v1", "pods", "", "y", "", "", "", ""};
	struct api_status status = {0};

	gw_refuse_forbidden(&status, &a, "x", "");
	assert_status(
		&status,
		STATUS("\"message\":\"pods is forbidden: User \\\"x\\\" cannot list resource \\\"pods\\\" in "
		       "API "
		       "group \\\"\\\" in the namespace \\\"y\\\"\",\"reason\":\"Forbidden\",\"details\":{"
		       "\"kind\":\"pods\"},\"code\":403"));
	a = (struct gw_attributes){"get", "apps", "v1", "deployments", "", "y", "a", "", "", ""};
	gw_refuse_forbidden(&status, &a, "x", "");
	assert_status(&status,
		      STATUS("\"message\":\"deployments.apps \\\"a\\\" is forbidden: User \\\"x\\\" cannot "
			     "get resource "
			     "\\\"deployments\\\" in API group \\\"apps\\\" in the namespace \\\"y\\\"\","
			     "\"reason\":\"Forbidden\",\"details\":{\"name\":\"a\",\"group\":\"apps\","
			     "\"kind\":\"deployments\"},\"code\":403"));
	a = gw_attributes_of_path("/metrics");
	gw_refuse_forbidden(&status, &a, "x", "");
	assert_status(&status,
		      STATUS("\"message\":\"forbidden: User \\\"x\\\" cannot get path \\\"/metrics\\\"\","
			     "\"reason\":\"Forbidden\",\"details\":{},\"code\":403"));
	gw_refuse(&status, GW_ACCESS_UNAUTHENTICATED);
	assert_status(&status,
		      STATUS("\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401"));
	gw_refuse(&status, GW_ACCESS_UNAVAILABLE);
	assert_int_equal(status.code, 503);
	assert_int_equal(status.retry_after, 1);
	gw_refuse(&status, GW_ACCESS_BUSY);
	assert_int_equal(status.code, 429);
	assert_int_equal(status.retry_after, 1);
	api_status_done(&status);
}

/* The message equals upstream's for each kind of request. */
TEST_CASE(refusals_are_upstreams_sentences)
{
	static const struct {
		struct gw_attributes a; /* without a verb: /metrics */
		const char *user, *reason, *sentence;
	} rows[] = {
		{{"list", "", "v1", "pods", "log", "", "", "", "", ""},
		 "x",
		 "no",
		 "pods is forbidden: User \"x\" cannot list resource \"pods/log\" in API group \"\" "
		 "at the cluster scope: no"},
		{{0}, "a\"<b>\n", "", "forbidden: User \"a\\\"&lt;b&gt;\\n\" cannot get path \"/metrics\""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct gw_attributes a = rows[i].a.verb ? rows[i].a : gw_attributes_of_path("/metrics");
		struct api_status status = {0};

		gw_refuse_forbidden(&status, &a, rows[i].user, rows[i].reason);
		assert_string_equal(status.message, rows[i].sentence);
		api_status_done(&status);
	}
}
