/*
 * What readers are told of a Reflector's failures, and when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/feed_fixture.h"
#include "writer/reflect/reflector.h"
#include "writer/resource/trouble.h"

#define WALL 1700000000000000000ull

/* What a look tells: "403 Forbidden no since count", "recovered", or "". */
static const char *
look(struct trouble *t)
{
	static char text[300];
	char *news = trouble_news(t);
	cJSON *o = cJSON_Parse(news ? news : "{}");

	text[0] = '\0';
	if (cJSON_IsTrue(cJSON_GetObjectItem(o, "recovered")))
		snprintf(text, sizeof(text), "recovered");
	else if (news)
		snprintf(text, sizeof(text), "%.0f %s %s %s %.0f", cJSON_GetNumberValue(cJSON_GetObjectItem(o, "code")),
			 cJSON_GetStringValue(cJSON_GetObjectItem(o, "reason")), cJSON_GetStringValue(cJSON_GetObjectItem(o, "message")),
			 cJSON_GetStringValue(cJSON_GetObjectItem(o, "since")), cJSON_GetNumberValue(cJSON_GetObjectItem(o, "count")));
	if (news)
		trouble_was_told(t);
	cJSON_Delete(o);
	free(news);
	return text;
}

/* Trouble is told once, its repetitions not, another error again, and its end once. */
static void
each_error_is_told_once(void **state)
{
	struct trouble t = {0};

	(void)state;
	assert_string_equal(look(&t), "");
	trouble_end(&t);
	assert_string_equal(look(&t), "");
	trouble_meet(&t, 403, "Forbidden", "no", WALL);
	assert_string_equal(look(&t), "403 Forbidden no 2023-11-14T22:13:20Z 1");
	trouble_meet(&t, 403, "Forbidden", "no", WALL + 5000000000u);
	assert_string_equal(look(&t), "");
	trouble_meet(&t, 0, "", "not reached", WALL + 9000000000u);
	assert_string_equal(look(&t), "0  not reached 2023-11-14T22:13:20Z 3");
	trouble_end(&t);
	trouble_end(&t);
	assert_string_equal(look(&t), "recovered");
	assert_string_equal(look(&t), "");
	trouble_end(&t);
	assert_string_equal(look(&t), "");
	trouble_done(&t);
}

/* What came and went between two looks is told, and that it is over at the next. */
static void
short_trouble_is_told_too(void **state)
{
	struct trouble t = {0};

	(void)state;
	trouble_meet(&t, 500, "InternalError", "oh", WALL);
	trouble_end(&t);
	assert_string_equal(look(&t), "500 InternalError oh 2023-11-14T22:13:20Z 1");
	assert_string_equal(look(&t), "recovered");
	assert_string_equal(look(&t), "");
	/* over, and begun anew before that could be told: it is told as new */
	trouble_meet(&t, 500, "InternalError", "oh", WALL);
	look(&t);
	trouble_end(&t);
	trouble_meet(&t, 500, "InternalError", "oh", WALL + 60000000000u);
	assert_string_equal(look(&t), "500 InternalError oh 2023-11-14T22:14:20Z 1");
	trouble_done(&t);
}

/* Trouble that the daemon before told of is ended by this one. */
static void
adopted_trouble_is_ended(void **state)
{
	struct trouble t = {0};

	(void)state;
	trouble_adopt(&t);
	assert_string_equal(look(&t), "");
	trouble_end(&t);
	assert_string_equal(look(&t), "recovered");
	assert_string_equal(look(&t), "");
	trouble_done(&t);
}

static void
met(void *context, int code, const char *reason, const char *message)
{
	trouble_meet(context, code, reason, message, WALL);
}

static void
over(void *context)
{
	trouble_end(context);
}

/* The Reflector says what it met, with the API's own code and reason, and that it goes on. */
static void
the_reflector_tells_of_its_failures(void **state)
{
	struct feed_fixture *fx = feed_fixture_new(0);
	struct trouble t = {0};
	struct feed feed = fx->feed;
	struct reflector_options options = {.feed = &feed};
	struct reflector *r;

	(void)state;
	feed.on_contact = NULL;
	feed.on_failure = met;
	feed.on_success = over;
	feed.context = &t;
	r = reflector_new(&options);
	reflector_start(r, "", 0);
	server_answer(fx, 403, "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"pods is forbidden\",\"reason\":\"Forbidden\","
		      "\"code\":403}");
	assert_string_equal(look(&t), "403 Forbidden LIST failed: pods is forbidden (403 Forbidden) 2023-11-14T22:13:20Z 1");
	virtual_clock_advance(&fx->clock, 60000);
	server_answer(fx, 200, pod_list("10", NULL, NULL));
	assert_string_equal(look(&t), "recovered");
	reflector_free(r);
	trouble_done(&t);
	feed_fixture_free(fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_error_is_told_once),
		cmocka_unit_test(short_trouble_is_told_too),
		cmocka_unit_test(adopted_trouble_is_ended),
		cmocka_unit_test(the_reflector_tells_of_its_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
