/* SPDX-License-Identifier: Apache-2.0 */
/* What is published of a Reflector's failures, and when. */
#include <cjson/cJSON.h>

#include "tests/room.h"
#include "tests/support/source_fixture.h"
#include "writer/reflect/reflector.h"
#include "writer/resource/reflector_error.h"

#define WALL 1700000000000000000ull

/* What a look publishes: "403 Forbidden no since count", "recovered", or "". */
static const char *
look(struct reflector_error *t)
{
	static char text[300];
	char *news = reflector_error_news(t);
	cJSON *o = cJSON_Parse(news ? news : "{}");

	text[0] = '\0';
	if (cJSON_IsTrue(cJSON_GetObjectItem(o, "recovered")))
		snprintf(text, sizeof(text), "recovered");
	else if (news)
		snprintf(text, sizeof(text), "%.0f %s %s %s %.0f",
			 cJSON_GetNumberValue(cJSON_GetObjectItem(o, "code")),
			 cJSON_GetStringValue(cJSON_GetObjectItem(o, "reason")),
			 cJSON_GetStringValue(cJSON_GetObjectItem(o, "message")),
			 cJSON_GetStringValue(cJSON_GetObjectItem(o, "since")),
			 cJSON_GetNumberValue(cJSON_GetObjectItem(o, "count")));
	if (news)
		reflector_error_published(t);
	cJSON_Delete(o);
	free(news);
	return text;
}

/* An error is published once, without repetitions; so are another error and the end. */
TEST_CASE(each_error_is_published_once)
{
	struct reflector_error t = {0};

	assert_string_equal(look(&t), "");
	reflector_error_end(&t);
	assert_string_equal(look(&t), "");
	reflector_error_meet(&t, 403, "Forbidden", "no", WALL);
	assert_string_equal(look(&t), "403 Forbidden no 2023-11-14T22:13:20Z 1");
	reflector_error_meet(&t, 403, "Forbidden", "no", WALL + 5000000000u);
	assert_string_equal(look(&t), "");
	reflector_error_meet(&t, 0, "", "not reached", WALL + 9000000000u);
	assert_string_equal(look(&t), "0  not reached 2023-11-14T22:13:20Z 3");
	reflector_error_end(&t);
	reflector_error_end(&t);
	assert_string_equal(look(&t), "recovered");
	assert_string_equal(look(&t), "");
	reflector_error_end(&t);
	assert_string_equal(look(&t), "");
	reflector_error_done(&t);
}

/* An error that comes and goes between two looks is published. The next look publishes its end. */
TEST_CASE(a_short_error_is_published_too)
{
	struct reflector_error t = {0};

	reflector_error_meet(&t, 500, "InternalError", "oh", WALL);
	reflector_error_end(&t);
	assert_string_equal(look(&t), "500 InternalError oh 2023-11-14T22:13:20Z 1");
	assert_string_equal(look(&t), "recovered");
	assert_string_equal(look(&t), "");
	/* ended and begun again between two looks: published as new */
	reflector_error_meet(&t, 500, "InternalError", "oh", WALL);
	look(&t);
	reflector_error_end(&t);
	reflector_error_meet(&t, 500, "InternalError", "oh", WALL + 60000000000u);
	assert_string_equal(look(&t), "500 InternalError oh 2023-11-14T22:14:20Z 1");
	reflector_error_done(&t);
}

/* An error that the last daemon published is ended by this daemon. */
TEST_CASE(an_adopted_error_is_ended)
{
	struct reflector_error t = {0};

	reflector_error_adopt(&t);
	assert_string_equal(look(&t), "");
	reflector_error_end(&t);
	assert_string_equal(look(&t), "recovered");
	assert_string_equal(look(&t), "");
	reflector_error_done(&t);
}

static void
met(void *context, int code, const char *reason, const char *message)
{
	reflector_error_meet(context, code, reason, message, WALL);
}

static void
over(void *context)
{
	reflector_error_end(context);
}

/* The Reflector reports an error with the API's code and reason, and its end. */
TEST_CASE(the_reflector_reports_its_failures)
{
	struct source_fixture *fx = source_fixture_new(0);
	struct reflector_error t = {0};
	struct source source = fx->source;
	struct reflector_options options = {.source = &source};
	struct reflector *r;

	source.on_contact = NULL;
	source.on_failure = met;
	source.on_success = over;
	source.context = &t;
	r = reflector_new(&options);
	reflector_start(r, "", 0);
	server_answer(fx, 403,
		      "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"pods is forbidden\","
		      "\"reason\":\"Forbidden\",\"code\":403}");
	assert_string_equal(
		look(&t),
		"403 Forbidden LIST failed: pods is forbidden (403 Forbidden) 2023-11-14T22:13:20Z 1");
	virtual_clock_advance(&fx->clock, 60000);
	server_answer(fx, 200, pod_list("10", NULL, NULL));
	assert_string_equal(look(&t), "recovered");
	reflector_free(r);
	reflector_error_done(&t);
	source_fixture_free(fx);
}
