/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of workqueues in Prometheus' text format. */
#include "tests/room.h"
#include "tests/support/workqueue_world.h"

struct page {
	char text[16384];
	size_t length;
	size_t room; /* the emit function returns 7 when this is used up */
};

static int
page_emit(void *context, const char *data, size_t length)
{
	struct page *p = context;

	if (p->length + length > p->room)
		return 7;
	memcpy(p->text + p->length, data, length);
	p->length += length;
	p->text[p->length] = '\0';
	return 0;
}

static void
use_name(struct workqueue_world *w, const char *name)
{
	struct informer_workqueue_options o = workqueue_world_options(w);

	o.name = name;
	workqueue_world_queue(w, &o);
}

#define BUCKETS(family, a, b, c)                                                                             \
	family "_bucket{name=\"pods\",le=\"1e-06\"} " a "\n" family                                          \
	       "_bucket{name=\"pods\",le=\"9.999999999999999e-06\"} " a "\n" family                          \
	       "_bucket{name=\"pods\",le=\"9.999999999999999e-05\"} " a "\n" family                          \
	       "_bucket{name=\"pods\",le=\"0.001\"} " a "\n" family "_bucket{name=\"pods\",le=\"0.01\"} " a  \
	       "\n" family "_bucket{name=\"pods\",le=\"0.1\"} " b "\n" family                                \
	       "_bucket{name=\"pods\",le=\"1\"} " b "\n" family "_bucket{name=\"pods\",le=\"10\"} " b        \
	       "\n" family "_bucket{name=\"pods\",le=\"100\"} " b "\n" family                                \
	       "_bucket{name=\"pods\",le=\"1000\"} " b "\n" family "_bucket{name=\"pods\",le=\"+Inf\"} " c   \
	       "\n"

#define TEST(f) TEST_CASE_OF(struct workqueue_world *w, workqueue_world_set_up, workqueue_world_tear_down, f)

/* Names, types, label and buckets are those of k8s.io/component-base. */
TEST(the_metrics_are_those_of_kubernetes_programs)
{
	struct page p = {.room = sizeof(p.text) - 1};

	use_name(w, "pods");
	assert_string_equal(informer_workqueue_name(w->q), "pods");
	/* a waits 0, b 50 ms; c waits 2,000.05 s and is worked on for 0 */
	play(w, "+a +b +c <a 50ms <b 2000s c +late@3600s +waits");
	assert_int_equal(informer_workqueue_metrics_text(&w->q, 1, page_emit, &p), 0);
	assert_string_equal(
		p.text,
		"# HELP workqueue_depth Keys that wait to be worked on.\n"
		"# TYPE workqueue_depth gauge\n"
		"workqueue_depth{name=\"pods\"} 1\n"
		"# HELP workqueue_adds_total Keys that were added.\n"
		"# TYPE workqueue_adds_total counter\n"
		"workqueue_adds_total{name=\"pods\"} 4\n"
		"# HELP workqueue_queue_duration_seconds How long keys waited until a worker got them.\n"
		"# TYPE workqueue_queue_duration_seconds histogram\n" BUCKETS(
			"workqueue_queue_duration_seconds", "1", "2",
			"3") "workqueue_queue_duration_seconds_sum{name=\"pods\"} 2000.100000000\n"
			     "workqueue_queue_duration_seconds_count{name=\"pods\"} 3\n"
			     "# HELP workqueue_work_duration_seconds How long workers had keys.\n"
			     "# TYPE workqueue_work_duration_seconds histogram\n" BUCKETS(
				     "workqueue_work_duration_seconds", "1", "1",
				     "1") "workqueue_work_duration_seconds_sum{name=\"pods\"} 0.000000000\n"
					  "workqueue_work_duration_seconds_count{name=\"pods\"} 1\n"
					  "# HELP workqueue_unfinished_work_seconds How long workers have "
					  "had the keys that they have, together.\n"
					  "# TYPE workqueue_unfinished_work_seconds gauge\n"
					  "workqueue_unfinished_work_seconds{name=\"pods\"} 4000.050000000\n"
					  "# HELP workqueue_longest_running_processor_seconds How long the "
					  "worker that has had its key for longest has had it.\n"
					  "# TYPE workqueue_longest_running_processor_seconds gauge\n"
					  "workqueue_longest_running_processor_seconds{name=\"pods\"} "
					  "2000.050000000\n"
					  "# HELP workqueue_retries_total Adds with a delay or a rate "
					  "limit.\n"
					  "# TYPE workqueue_retries_total counter\n"
					  "workqueue_retries_total{name=\"pods\"} 1\n");
	play(w, ">a >b");
}

/* With several queues each family comes once, with a line for each queue. */
TEST(several_queues_share_each_family)
{
	struct informer_workqueue_options o = workqueue_world_options(w);
	struct informer_workqueue *queues[2];
	struct page p = {.room = sizeof(p.text) - 1};

	use_name(w, "one");
	o.name = "two";
	queues[0] = w->q;
	assert_int_equal(informer_workqueue_new(&o, &queues[1]), 0);
	assert_int_equal(informer_workqueue_add(queues[1], "a", 1), 0);
	assert_int_equal(informer_workqueue_metrics_text(queues, 2, page_emit, &p), 0);
	assert_non_null(strstr(p.text, "# TYPE workqueue_depth gauge\n"
				       "workqueue_depth{name=\"one\"} 0\n"
				       "workqueue_depth{name=\"two\"} 1\n"
				       "# HELP workqueue_adds_total "));
	assert_null(strstr(strstr(p.text, "# TYPE workqueue_depth") + 1, "# TYPE workqueue_depth"));
	informer_workqueue_free(queues[1]);
}

/* A name may have any bytes; those that would end the label are escaped. */
TEST(names_are_escaped)
{
	struct page p = {.room = sizeof(p.text) - 1};
	char longest[1001];

	use_name(w, "a\"b\\c\nd{}");
	assert_int_equal(informer_workqueue_metrics_text(&w->q, 1, page_emit, &p), 0);
	assert_non_null(strstr(p.text, "workqueue_depth{name=\"a\\\"b\\\\c\\nd{}\"} 0\n"));
	memset(longest, 'x', 1000);
	longest[1000] = '\0';
	use_name(w, longest);
	p.length = 0;
	p.room = 2000;
	assert_int_equal(informer_workqueue_metrics_text(&w->q, 1, page_emit, &p), 7);
	assert_non_null(strstr(p.text, longest));
	assert_string_equal(informer_workqueue_name(w->q), longest);
}

/* The result of the emit function ends the output and is returned. */
TEST(the_emit_function_may_stop_the_output)
{
	struct page p = {.room = sizeof(p.text) - 1};
	size_t whole;

	use_name(w, "pods");
	assert_int_equal(informer_workqueue_metrics_text(&w->q, 1, page_emit, &p), 0);
	whole = p.length;
	for (p.room = 0; p.room < whole; p.room += 97) {
		p.length = 0;
		assert_int_equal(informer_workqueue_metrics_text(&w->q, 1, page_emit, &p), 7);
		assert_true(p.length <= p.room);
	}
}

/* Queues whose series could not be told apart are refused. */
TEST(queues_without_names_of_their_own_are_refused)
{
	struct page p = {.room = sizeof(p.text) - 1};
	struct informer_workqueue *twice[2], *none = NULL;

	assert_string_equal(informer_workqueue_name(w->q), "");
	assert_string_equal(informer_workqueue_name(NULL), "");
	assert_int_equal(informer_workqueue_metrics_text(&w->q, 1, page_emit, &p), -EINVAL);
	assert_int_equal(informer_workqueue_metrics_text(&none, 1, page_emit, &p), -EINVAL);
	use_name(w, "pods");
	twice[0] = twice[1] = w->q;
	assert_int_equal(informer_workqueue_metrics_text(twice, 2, page_emit, &p), -EINVAL);
	assert_int_equal(informer_workqueue_metrics_text(NULL, 1, page_emit, &p), -EINVAL);
	assert_int_equal(informer_workqueue_metrics_text(&w->q, 1, NULL, &p), -EINVAL);
	assert_int_equal(p.length, 0);
	assert_int_equal(informer_workqueue_metrics_text(NULL, 0, page_emit, &p), 0);
}
