/* SPDX-License-Identifier: Apache-2.0 */
/* Failures as JSON and as protobuf, with any bytes of a client in the message. */
#include "tests/room.h"
#include "tools/serving/status_document.h"

/* Invalid UTF-8 becomes U+FFFD, so that the document is valid and can be encoded. */
TEST_CASE(invalid_utf8_is_replaced)
{
	_cleanup_(api_status_done) struct api_status status = {0};
	_cleanup_(api_buf_done) struct api_buf json = {0}, message = {0};

	api_status_set(&status, 400, "BadRequest", "bad: \"%s\"", "a\x89z\xc3\xa4\xe2\x82");
	api_status_print(&status, &json);
	assert_non_null(strstr(
		json.data, "\"message\":\"bad: \\\"a\xef\xbf\xbdz\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\\\"\""));
	api_status_encode(&status, &message);
	assert_memory_equal(message.data, "k8s", 4);
}

TEST_CASE(not_ready_is_429_with_a_retry_after_a_second)
{
	_cleanup_(api_status_done) struct api_status status = {0};
	_cleanup_(api_buf_done) struct api_buf json = {0};

	api_status_not_ready(&status);
	api_status_print(&status, &json);
	assert_string_equal(
		json.data,
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
		"\"message\":\"storage is (re)initializing\",\"reason\":\"TooManyRequests\","
		"\"details\":{\"retryAfterSeconds\":1},\"code\":429}");
}
