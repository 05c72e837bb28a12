/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts client-go's programs (tests/bench/peer) and asks them what the bench compares with.
 */
#include "tests/bench/client_go.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/sim.h"

/* Until its first line. */
static int
start(const char *const *argv, struct process *p, char *line, size_t size, int timeout_s)
{
	int r = process_start(p, argv, NULL, NULL);

	if (r == 0)
		r = process_line(p, line, size, timeout_s);
	if (r < 0) {
		fprintf(stderr, "bench: %s %s: %s\n", argv[0], argv[1], strerror(-r));
		process_end(p, SIGKILL);
	}
	return r;
}

static int
misunderstood(struct process *p)
{
	process_end(p, SIGKILL);
	return -EPROTO;
}

/* "serving 10000 pods on 127.0.0.1:45711" */
int
go_server_start(const struct bench *b, unsigned pods, struct go_server *ret)
{
	char count[16], line[256], *on;
	const char *argv[] = {b->client_go, "serve",       "-pods", b->pods_directory, "-n", count,
			      "-addr",      "127.0.0.1:0", NULL};
	int r;

	snprintf(count, sizeof(count), "%u", pods);
	r = start(argv, &ret->process, line, sizeof(line), 120);
	if (r < 0)
		return r;
	on = strstr(line, " on ");
	if (!on)
		return misunderstood(&ret->process);
	on[4 + strcspn(on + 4, " ")] = '\0';
	snprintf(ret->url, sizeof(ret->url), "http://%.100s", on + 4);
	return 0;
}

void
go_server_end(struct go_server *s)
{
	process_end(&s->process, SIGKILL);
}

static int
ignore(void *context, const char *bytes, size_t length)
{
	(void)context;
	(void)bytes;
	(void)length;
	return 0;
}

int
go_server_change(const struct go_server *s, unsigned rate, size_t n)
{
	char url[256];

	snprintf(url, sizeof(url), "%s/churn?rate=%u&n=%zu", s->url, rate, n);
	return url_fetch(url, ignore, NULL);
}

static int
append(void *context, const char *bytes, size_t length)
{
	return bytes_append(context, bytes, length);
}

int
go_server_traffic(const struct go_server *s, double *ret_requests, double *ret_bytes)
{
	struct bytes text = {0};
	char url[256];
	int r;

	snprintf(url, sizeof(url), "%s/bench/traffic", s->url);
	r = url_fetch(url, append, &text);
	if (r == 0)
		r = bytes_append(&text, "", 1);
	if (r == 0 && sscanf((char *)text.data, "%lf %lf", ret_requests, ret_bytes) != 2)
		r = -EPROTO;
	bytes_done(&text);
	return r;
}

int
go_informer_start(const struct bench *b, const char *from, const char *what, unsigned ways,
		  struct process *ret, double *ret_pods)
{
	const char *argv[] = {b->client_go, "events", from, what, ways & GO_JSON ? "-json" : NULL, NULL};
	char line[128];
	int r;

	setenv("KUBE_FEATURE_WatchListClient", ways & GO_LIST ? "false" : "true", 1);
	r = start(argv, ret, line, sizeof(line), 300);
	unsetenv("KUBE_FEATURE_WatchListClient");
	if (r < 0)
		return r;
	return sscanf(line, "ready %lf", ret_pods) == 1 ? 0 : misunderstood(ret);
}

int
go_informer_begin(struct process *p)
{
	double answer;

	return process_ask(p, "begin", &answer, 1, 10);
}

int
go_informer_met(struct process *p, size_t n, unsigned seconds, double *ret_count, double *ret_p50,
		double *ret_p99, double *ret_last_us)
{
	double answer[4] = {0};
	char question[64];
	int r;

	snprintf(question, sizeof(question), "await %u %zu", seconds, n);
	r = process_ask(p, question, answer, 4, (int)seconds + 10);
	*ret_count = answer[0];
	*ret_p50 = answer[1];
	*ret_p99 = answer[2];
	*ret_last_us = answer[3];
	return r;
}

int
go_informer_await(struct process *p, size_t n, unsigned seconds, double *ret_count)
{
	double p50, p99, last_us;

	return go_informer_met(p, n, seconds, ret_count, &p50, &p99, &last_us);
}

int
go_rounds_start(const struct bench *b, struct process *p, size_t n, double *ret_heap, double *ret_json)
{
	char count[24], line[128];
	const char *argv[] = {b->client_go, "rounds", "-pods", b->pods_directory, "-n", count, NULL};
	int r;

	snprintf(count, sizeof(count), "%zu", n);
	r = start(argv, p, line, sizeof(line), 180);
	if (r < 0)
		return r;
	return sscanf(line, "ready %lf %lf", ret_heap, ret_json) == 2 ? 0 : misunderstood(p);
}
