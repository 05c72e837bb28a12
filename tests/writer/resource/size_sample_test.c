/* SPDX-License-Identifier: Apache-2.0 */
/* What a size sample asks of the server, and what it makes of the answers. */
#include "tests/room.h"
#include "tests/support/source_fixture.h"
#include "writer/resource/size_sample.h"

#define ALL UINT64_C(2500)

struct sampled {
	struct source_fixture *fx;
	struct size_sample *sample;
	struct size_estimate estimate;
	unsigned calls;
	enum request_result_kind kind;
	char message[256];
	uint64_t used;   /* bytes of the scratch arena before */
	char big[60001]; /* a text of the first object */
};

static void
on_done(void *context, const struct request_result *ended, const struct size_estimate *estimate)
{
	struct sampled *t = context;

	t->calls++;
	t->kind = ended->kind;
	snprintf(t->message, sizeof(t->message), "%s", ended->message ? ended->message : "");
	t->estimate = *estimate;
}

static uint64_t
used(const struct sampled *t)
{
	struct store_stats stats;

	store_stats(t->fx->store->store, &stats);
	return stats.used_bytes - stats.retired_bytes;
}

static int
set_up(void **state)
{
	struct sampled *t = calloc(1, sizeof(*t));

	if (!t)
		return -1;
	t->fx = source_fixture_new(0);
	t->used = used(t);
	*state = t;
	return 0;
}

static void
end_world(struct sampled *t)
{
	size_sample_free(t->sample);
	source_fixture_free(t->fx);
	free(t);
}
TEAR_DOWN(tear_down, end_world)

#define TEST(name) TEST_CASE_OF(struct sampled *t, set_up, tear_down, name)

static void
start(struct sampled *t, bool whole)
{
	assert_int_equal(size_sample_start(&t->fx->source, t->fx->store->store, t->fx->store->pods, whole,
					   on_done, t, &t->sample),
			 0);
}

/* The items first to last, each as large as the others; the list's metadata has these further fields. */
static void
answer(struct sampled *t, uint64_t first, uint64_t last, const char *metadata)
{
	server_open(t->fx);
	server_send(t->fx,
		    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
		    "\"9\"%s},\"items\":[",
		    metadata);
	for (uint64_t i = first; i <= last; i++)
		server_send(t->fx,
			    "%s{\"metadata\":{\"name\":\"pod-%05d\",\"namespace\":\"a\",\"uid\":\"uid-%05d\","
			    "\"resourceVersion\":\"%05d\",\"labels\":{\"app\":\"web\"}},"
			    "\"spec\":{\"nodeName\":\"node-%02d\"},\"status\":{\"phase\":\"Running\","
			    "\"message\":\"%s\"}}",
			    i > first ? "," : "", (int)i, (int)i, (int)i, (int)(i % 10),
			    i == 1 ? t->big : "");
	server_send(t->fx, "]}");
	if (server_has_request(t->fx)) /* else the last bytes were refused */
		server_end(t->fx, 0);
}

/* A list that fits is measured as a whole. */
TEST(a_small_resource_is_measured_as_it_is)
{
	start(t, false);
	assert_string_equal(diary(t->fx), "LIST limit=500; ");
	answer(t, 1, 30, "");
	assert_int_equal(t->calls, 1);
	assert_int_equal(t->kind, RESULT_OK);
	assert_int_equal(t->estimate.objects, 30);
	assert_int_equal(t->estimate.sampled, 30);
	assert_int_equal(t->estimate.arena_bytes, used(t) - t->used);
	assert_int_equal(t->estimate.wire_bytes, t->estimate.read_bytes);
	assert_string_equal(diary(t->fx), "");
}

/*
 * The server's count is taken, and the estimate is what all objects then take. One object that is much larger
 * than the others, in the first half of the sample, is not multiplied.
 */
TEST(a_large_resource_is_extrapolated)
{
	struct size_estimate estimate;

	memset(t->big, 'x', sizeof(t->big) - 1);
	start(t, false);
	answer(t, 1, 500, ",\"continue\":\"more\",\"remainingItemCount\":2000");
	assert_int_equal(t->calls, 1);
	estimate = t->estimate;
	assert_int_equal(estimate.objects, ALL);
	assert_int_equal(estimate.sampled, 500);
	assert_string_equal(diary(t->fx), "LIST limit=500; ");

	size_sample_free(t->sample);
	source_fixture_free(t->fx);
	t->fx = source_fixture_new(0);
	start(t, true);
	answer(t, 1, ALL, "");
	assert_int_equal(t->estimate.objects, ALL);
	assert_in_range(estimate.arena_bytes, t->estimate.arena_bytes * 85 / 100,
			t->estimate.arena_bytes * 115 / 100);
}

/* Where the server does not say how many there are, pages are counted; their objects are not kept. */
TEST(without_a_count_pages_are_counted)
{
	uint64_t after_sample;

	start(t, false);
	answer(t, 1, 500, ",\"continue\":\"two\"");
	after_sample = used(t);
	assert_string_equal(diary(t->fx), "LIST limit=500; LIST continue=two limit=500; ");
	answer(t, 501, 1000, ",\"continue\":\"three\"");
	assert_int_equal(size_sample_seen(t->sample), 1000);
	assert_string_equal(diary(t->fx), "LIST continue=three limit=500; ");
	answer(t, 1001, ALL, "");
	assert_int_equal(t->calls, 1);
	assert_int_equal(t->kind, RESULT_OK);
	assert_int_equal(t->estimate.objects, ALL);
	assert_int_equal(t->estimate.sampled, 500);
	assert_int_equal(store_resource(t->fx->store->store, t->fx->store->pods)->object_count, 500);
	assert_in_range(used(t), after_sample, after_sample + 4096);
	assert_in_range(t->estimate.read_bytes, t->estimate.wire_bytes * 95 / 100,
			t->estimate.wire_bytes * 105 / 100);
}

/* The pods of a node are listed from the server's cache, without pages. */
TEST(a_nodes_pods_are_listed_whole)
{
	assert_true(size_sample_is_whole("spec.nodeName=node-1"));
	assert_true(size_sample_is_whole("status.phase=Running,spec.nodeName=node-1"));
	assert_false(size_sample_is_whole("spec.nodeName!=node-1"));
	assert_false(size_sample_is_whole(NULL));
	start(t, true);
	assert_string_equal(diary(t->fx), "LIST rv=0; ");
	answer(t, 1, 3, "");
	assert_int_equal(t->estimate.objects, 3);
}

/* Whatever number the server gives, the estimate stays one that an arena could have. */
TEST(a_wild_count_is_cut)
{
	start(t, false);
	answer(t, 1, 500, ",\"continue\":\"more\",\"remainingItemCount\":9223372036854775807");
	assert_int_equal(t->estimate.objects, UINT32_MAX);
	assert_true(t->estimate.arena_bytes / UINT32_MAX < 4096);
}

/* A negative number is none: pages are counted. */
TEST(a_negative_count_is_none)
{
	start(t, false);
	answer(t, 1, 500, ",\"continue\":\"more\",\"remainingItemCount\":-5");
	assert_string_equal(diary(t->fx), "LIST limit=500; LIST continue=more limit=500; ");
	answer(t, 501, 510, "");
	assert_int_equal(t->estimate.objects, 510);
}

/* A server that gives the same token again and again, or something that is no list, is left. */
TEST(an_endless_list_ends)
{
	start(t, false);
	answer(t, 1, 500, ",\"continue\":\"two\"");
	answer(t, 501, 1000, ",\"continue\":\"two\"");
	assert_int_equal(t->calls, 1);
	assert_int_equal(t->kind, RESULT_FAILED);
	assert_non_null(strstr(t->message, "the same continue token"));
}

TEST(an_answer_without_items_is_no_list)
{
	start(t, false);
	server_answer(t->fx, 200, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{}}");
	assert_int_equal(t->calls, 1);
	assert_int_equal(t->kind, RESULT_FAILED);
	assert_non_null(strstr(t->message, "no list"));
}

/* A refusal is reported with the server's sentence. */
TEST(a_refusal_is_reported)
{
	start(t, false);
	server_answer(t->fx, 403,
		      "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
		      "\"message\":\"pods is forbidden\",\"reason\":\"Forbidden\",\"code\":403}");
	assert_int_equal(t->calls, 1);
	assert_int_equal(t->kind, RESULT_REFUSED);
	assert_non_null(strstr(t->message, "pods is forbidden"));
}

/* A sample that is given up amid a page leaves no request. */
TEST(a_sample_can_be_given_up)
{
	start(t, false);
	server_open(t->fx);
	server_send(t->fx, "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"x\"");
	size_sample_free(t->sample);
	t->sample = NULL;
	assert_false(server_has_request(t->fx));
	assert_int_equal(t->calls, 0);
}
