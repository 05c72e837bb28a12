/* SPDX-License-Identifier: Apache-2.0 */
/* Continue tokens. */
#include <sodium.h>

#include "tests/room.h"
#include "tools/serving/page.h"

static int
decode(const char *ns, const char *token, struct api_page *ret)
{
	struct api_request request = {.namespace_ = ns};
	int r = api_page_decode(&request, token, ret);

	if (r < 0) {
		assert_int_equal(request.status.code, 400);
		assert_non_null(strstr(request.status.message, "invalid continue token"));
	}
	api_status_done(&request.status);
	return r;
}

/* The token of a page equals kube-apiserver's. */
TEST_CASE(a_token_is_the_servers_own)
{
	struct api_buf token = {0};

	api_page_encode(9, "default/web-0", true, &token);
	assert_string_equal(token.data, "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6OSwi"
					"c3RhcnQiOiIvZGVmYXVsdC93ZWItMFx1MDAwMCJ9");
	api_buf_done(&token);
}

TEST_CASE(a_written_token_is_read_again)
{
	struct api_buf token = {0};
	struct api_page page = {0};

	api_page_encode(9, "default/web-0", true, &token);
	assert_int_equal(decode(NULL, token.data, &page), 0);
	assert_int_equal(page.rv, 9);
	assert_true(page.after);
	assert_string_equal(page.start, "default/web-0");
	api_page_done(&page);
	api_buf_done(&token);
	/* relative to the list's namespace */
	api_page_encode(-1, "web-0", false, &token);
	assert_int_equal(decode("default", token.data, &page), 0);
	assert_int_equal(page.rv, -1);
	assert_string_equal(page.start, "default/web-0");
	api_page_done(&page);
	api_buf_done(&token);
}

static void
refuse(const char *json)
{
	struct api_page page = {0};
	char token[256];

	sodium_bin2base64(token, sizeof(token), (const unsigned char *)json, strlen(json),
			  sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	if (decode(NULL, token, &page) == 0)
		fail_msg("%s is taken", json);
	api_page_done(&page);
}

TEST_CASE(a_malformed_token_is_refused)
{
	struct api_page page = {0};

	assert_int_not_equal(decode(NULL, "no base64!", &page), 0);
	refuse("");
	refuse("{");
	refuse("[]");
	refuse("{\"v\":\"meta.k8s.io/v2\",\"rv\":9,\"start\":\"/a\"}");
	refuse("{\"v\":\"meta.k8s.io/v1\",\"start\":\"/a\"}");
	refuse("{\"v\":\"meta.k8s.io/v1\",\"rv\":0,\"start\":\"/a\"}");
	refuse("{\"v\":\"meta.k8s.io/v1\",\"rv\":\"9\",\"start\":\"/a\"}");
	refuse("{\"v\":\"meta.k8s.io/v1\",\"rv\":9,\"start\":\"\"}");
	refuse("{\"v\":\"meta.k8s.io/v1\",\"rv\":9}");
}
