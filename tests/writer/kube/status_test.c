/* SPDX-License-Identifier: Apache-2.0 */
/* Status bodies, as captured from a real API server. */
#include "tests/room.h"
#include "tests/support/proto_text.h"
#include "writer/kube/status.h"

#define STATUS(fields) "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\"," fields "}"
#define EXPIRED                                                                                              \
	"\"metadata\":{\"continue\":\"eyJ\"},\"message\":\"The provided continue parameter is too old\","    \
	"\"reason\":\"Expired\",\"code\":410"

static struct kube_status
parsed(const char *body, int http_code)
{
	struct kube_status status;

	assert_int_equal(kube_status_parse(body, strlen(body), http_code, &status), 0);
	return status;
}

/*
 * A future RV is told from other timeouts by its cause, or by the words of older servers. 410, Expired and
 * Gone all mean that the RV is too old.
 */
TEST_CASE(an_rv_that_is_too_old_or_too_large_is_recognised)
{
	static const struct {
		int http_code;
		bool expired, too_large;
		const char *body;
	} cases[] = {
		{504, false, true,
		 STATUS("\"reason\":\"Timeout\",\"message\":\"Timeout: Too large resource version: 99, "
			"current: 9\","
			"\"details\":{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\",\"message\":\"Too "
			"large "
			"resource version\"}],\"retryAfterSeconds\":1},\"code\":504")},
		{504, false, true,
		 STATUS("\"reason\":\"Timeout\",\"message\":\"Too large resource version: 5, current: 4\"")},
		{504, false, false, STATUS("\"reason\":\"Timeout\",\"message\":\"the request timed out\"")},
		{410, true, false, STATUS(EXPIRED)},
		{200, true, false, STATUS("\"reason\":\"Gone\"")},
		{410, true, false, ""},
	};
	struct kube_status s;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s = parsed(cases[i].body, cases[i].http_code);
		assert_int_equal(s.code, cases[i].http_code);
		assert_int_equal(kube_status_is_expired(&s), cases[i].expired);
		assert_int_equal(kube_status_is_too_large_rv(&s), cases[i].too_large);
		assert_int_equal(s.retry_after_s, i == 0 ? 1 : 0);
		assert_int_equal(s.n_causes, i == 0 ? 1 : 0);
		kube_status_done(&s);
	}
	s = parsed(STATUS(EXPIRED), 410);
	assert_string_equal(s.continue_token, "eyJ"); /* a new token */
	kube_status_done(&s);
}

/* The first line of a body that is no Status is the message, without control characters. */
TEST_CASE(a_body_that_is_no_status_gives_its_first_line)
{
	static const char *const bodies[] = {"\n <h1>Bad\tGateway</h1>\r\nmore",
					     "{\"kind\":\"Status\",\"code\":41", "[1]", "null", ""};
	static const char *const messages[] = {"<h1>Bad?Gateway</h1>", "{\"kind\":\"Status\",\"code\":41",
					       "[1]", "null", ""};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		struct kube_status s = parsed(bodies[i], 502);

		assert_string_equal(s.message, messages[i]);
		assert_int_equal(s.code, 502);
		assert_string_equal(s.reason, "");
		kube_status_done(&s);
	}
}

TEST_CASE(wrong_types_count_as_absent)
{
	struct kube_status s = parsed(
		"{\"kind\":\"Status\",\"code\":\"x\",\"reason\":5,\"message\":null,\"metadata\":[],"
		"\"details\":{\"causes\":[1,{\"reason\":{}}],\"retryAfterSeconds\":-5}}",
		500);

	assert_int_equal(s.code, 500);
	assert_string_equal(s.reason, "");
	assert_int_equal(s.retry_after_s, 0);
	assert_int_equal(s.n_causes, 2);
	assert_string_equal(s.causes[1].reason, "");
	kube_status_done(&s);
}

/* A 500 with another reason of Kubernetes is no internal error. */
TEST_CASE(an_internal_error_needs_its_reason)
{
	static const struct {
		const char *body;
		bool internal;
	} cases[] = {
		{"{\"kind\":\"Status\",\"reason\":\"InternalError\",\"code\":500}", true},
		{"{\"kind\":\"Status\",\"code\":500}", true},
		{"{\"kind\":\"Status\",\"reason\":\"OfAProxy\",\"code\":500}", true},
		{"{\"kind\":\"Status\",\"reason\":\"StorageReadError\",\"code\":500}", false},
		{"{\"kind\":\"Status\",\"reason\":\"ServerTimeout\",\"code\":500}", false},
		{"{\"kind\":\"Status\",\"reason\":\"OfAProxy\",\"code\":503}", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kube_status s = parsed(cases[i].body, 0);

		assert_int_equal(kube_status_is_internal(&s), cases[i].internal);
		kube_status_done(&s);
	}
}

/* Protobuf gives the same, whole or cut anywhere. Another kind is no Status. */
TEST_CASE(protobuf_says_the_same)
{
	struct kube_status s;
	struct bytes body = {0};

	proto_text(&body, "'k8s' 00 1:{1:'v1' 2:'Status'} 2:{1:{1:'' 2:'' 3:'eyJ'} 2:'Failure' "
			  "3:'Timeout: Too large resource version: 9, current: 7' 4:'Timeout' "
			  "5:{1:'' 4:{1:'ResourceVersionTooLarge' 2:'Too large' 3:''} 4:{1:'other'} 5=3} "
			  "6=504} 3:'' 4:''");
	assert_int_equal(kube_status_parse(body.data, body.length, 500, &s), 0);
	assert_int_equal(s.code, 504);
	assert_string_equal(s.reason, "Timeout");
	assert_string_equal(s.message, "Timeout: Too large resource version: 9, current: 7");
	assert_string_equal(s.continue_token, "eyJ");
	assert_int_equal(s.retry_after_s, 3);
	assert_int_equal(s.n_causes, 2);
	assert_string_equal(s.causes[0].reason, "ResourceVersionTooLarge");
	assert_string_equal(s.causes[1].reason, "other");
	assert_true(kube_status_is_too_large_rv(&s));
	kube_status_done(&s);
	for (size_t n = 0; n < body.length; n++) {
		assert_int_equal(kube_status_parse(body.data, n, 500, &s), 0);
		assert_true(s.code == 500 || s.code == 504);
		kube_status_done(&s);
	}
	proto_text(&body, "'k8s' 00 1:{1:'v1' 2:'Pod'} 2:{3:'x' 6=1}");
	assert_int_equal(kube_status_parse(body.data, body.length, 500, &s), 0);
	assert_int_equal(s.code, 500);
	assert_string_equal(s.reason, "");
	kube_status_done(&s);
	bytes_done(&body);
}
