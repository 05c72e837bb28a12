/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the metrics of workqueues in the Prometheus format, for a program's own /metrics. Names, types and
 * buckets are those of k8s.io/component-base's metrics/prometheus/workqueue. Numbers are written without
 * floating point, so a locale's comma cannot appear in them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reader-lib/informer-workqueue.h"

#define SECOND UINT64_C(1000000000)
#define LINE_MAX_BYTES 256

/* The bounds as Prometheus writes them, and our first bucket that has one: 10^-6 s. */
#define FIRST_BUCKET 2
static const char *const bounds[] = {"1e-06",
				     "9.999999999999999e-06",
				     "9.999999999999999e-05",
				     "0.001",
				     "0.01",
				     "0.1",
				     "1",
				     "10",
				     "100",
				     "1000",
				     "+Inf"};
_Static_assert(FIRST_BUCKET + sizeof(bounds) / sizeof(bounds[0]) == INFORMER_WORKQUEUE_BUCKETS,
	       "the last bucket is that of all");

/* ---- pieces ---- */

/* r: the first result of emit() that is not 0; nothing is written after it. */
struct out {
	int (*emit)(void *context, const char *data, size_t length);
	void *context;
	int r;
};

static void
put(struct out *o, const char *data, size_t length)
{
	if (o->r == 0 && length > 0)
		o->r = o->emit(o->context, data, length);
}

/* The text is shorter than LINE_MAX_BYTES: numbers and our constants. */
__attribute__((format(printf, 2, 3))) static void
put_format(struct out *o, const char *format, ...)
{
	char text[LINE_MAX_BYTES];
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	put(o, text, (size_t)n);
}

/* A label's value: backslash, quote and line feed are escaped. */
static void
put_label(struct out *o, const char *name)
{
	put_format(o, "{name=\"");
	while (*name) {
		size_t plain = strcspn(name, "\\\"\n");

		put(o, name, plain);
		name += plain;
		if (*name) {
			put_format(o, "\\%c", *name == '\n' ? 'n' : *name);
			name++;
		}
	}
	put_format(o, "\"");
}

static void
put_seconds(struct out *o, uint64_t ns)
{
	put_format(o, "%" PRIu64 ".%09" PRIu64 "\n", ns / SECOND, ns % SECOND);
}

/* ---- one metric of one queue ---- */

enum shape { COUNT, SECONDS, HISTOGRAM };

/* at: the place in the struct of the value, or of a histogram's count. */
struct family {
	const char *name;
	const char *type;
	const char *help;
	enum shape shape;
	size_t at;
};

#define AT(field) offsetof(struct informer_workqueue_metrics, field)
static const struct family families[] = {
	{"depth", "gauge", "Keys that wait to be worked on.", COUNT, AT(depth)},
	{"adds_total", "counter", "Keys that were added.", COUNT, AT(adds)},
	{"queue_duration_seconds", "histogram", "How long keys waited until a worker got them.", HISTOGRAM,
	 AT(queue_count)},
	{"work_duration_seconds", "histogram", "How long workers had keys.", HISTOGRAM, AT(work_count)},
	{"unfinished_work_seconds", "gauge", "How long workers have had the keys that they have, together.",
	 SECONDS, AT(unfinished_ns)},
	{"longest_running_processor_seconds", "gauge",
	 "How long the worker that has had its key for longest has had it.", SECONDS, AT(longest_running_ns)},
	{"retries_total", "counter", "Adds with a delay or a rate limit.", COUNT, AT(retries)},
};
/* A histogram is its count, then its sum, then its buckets. */
_Static_assert(AT(queue_sum_ns) == AT(queue_count) + 8 && AT(queue_buckets) == AT(queue_count) + 16, "queue");
_Static_assert(AT(work_sum_ns) == AT(work_count) + 8 && AT(work_buckets) == AT(work_count) + 16, "work");

static void
put_name(struct out *o, const struct family *f, const char *suffix, const char *queue)
{
	put_format(o, "workqueue_%s%s", f->name, suffix);
	put_label(o, queue);
}

static void
put_histogram(struct out *o, const struct family *f, const char *queue, const uint64_t *values)
{
	const uint64_t *buckets = values + 2;

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		put_name(o, f, "_bucket", queue);
		put_format(o, ",le=\"%s\"} %" PRIu64 "\n", bounds[i], buckets[FIRST_BUCKET + i]);
	}
	put_name(o, f, "_sum", queue);
	put_format(o, "} ");
	put_seconds(o, values[1]);
	put_name(o, f, "_count", queue);
	put_format(o, "} %" PRIu64 "\n", values[0]);
}

static void
put_queue(struct out *o, const struct family *f, struct informer_workqueue *queue)
{
	struct informer_workqueue_metrics m = {.size = sizeof(m)};
	const char *name = informer_workqueue_name(queue);
	uint64_t values[2 + INFORMER_WORKQUEUE_BUCKETS];

	informer_workqueue_metrics(queue, &m);
	memcpy(values, (const char *)&m + f->at, f->shape == HISTOGRAM ? sizeof(values) : sizeof(values[0]));
	if (f->shape == HISTOGRAM) {
		put_histogram(o, f, name, values);
		return;
	}
	put_name(o, f, "", name);
	put_format(o, "} ");
	if (f->shape == SECONDS)
		put_seconds(o, values[0]);
	else
		put_format(o, "%" PRIu64 "\n", values[0]);
}

/* ---- all metrics of all queues ---- */

/* Prometheus refuses a page on which two series have the same labels. */
static bool
names_differ(struct informer_workqueue *const *queues, size_t n_queues)
{
	for (size_t i = 0; i < n_queues; i++) {
		const char *name = informer_workqueue_name(queues[i]);

		if (name[0] == '\0')
			return false;
		for (size_t other = 0; other < i; other++) {
			if (strcmp(name, informer_workqueue_name(queues[other])) == 0)
				return false;
		}
	}
	return true;
}

int
informer_workqueue_metrics_text(struct informer_workqueue *const *queues, size_t n_queues,
				int (*emit)(void *context, const char *data, size_t length), void *context)
{
	struct out o = {emit, context, 0};

	if (!emit || (!queues && n_queues > 0) || !names_differ(queues, n_queues))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		const struct family *f = &families[i];

		put_format(&o, "# HELP workqueue_%s %s\n# TYPE workqueue_%s %s\n", f->name, f->help, f->name,
			   f->type);
		for (size_t q = 0; q < n_queues; q++)
			put_queue(&o, f, queues[q]);
	}
	return o.r;
}
