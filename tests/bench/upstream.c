/* SPDX-License-Identifier: Apache-2.0 */
/* Starts upstream's API server and asks its pages; see upstream.h. */
#include "tests/bench/upstream.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <curl/curl.h>

#include "tests/bench/daemon_side.h"
#include "tests/bench/remove_tree.h"

#define TOKEN "bench"
#define START_S 900    /* 50,000 pods are written one by one */
#define REST_MS 300    /* it rests when it spent next to nothing for so long */
#define REST_US 6000.0 /* what is next to nothing: etcd's clock ticks on */
#define REST_WITHIN_S 30u

const char *
upstream_missing(const struct bench *b)
{
	char program[4096];

	snprintf(program, sizeof(program), "%s/apiserver", b->build);
	return access(program, X_OK) == 0 ? NULL
					  : "build/apiserver is not there: tests/apiserver/build.sh makes it";
}

void
upstream_end(struct upstream *u)
{
	process_end(&u->process, SIGKILL);
	if (u->directory[0])
		remove_tree(u->directory);
}

int
upstream_start(const struct bench *b, size_t pods, struct upstream *ret)
{
	const char *const more[UPSTREAM_MORE] = {NULL};

	return upstream_start_with(b, pods, more, ret);
}

int
upstream_start_with(const struct bench *b, size_t pods, const char *const more[UPSTREAM_MORE],
		    struct upstream *ret)
{
	char program[4096], replicas[24], line[512], *url;
	size_t real = pods_count(b->pods), each = (pods + real - 1) / real;
	const char *argv[12 + UPSTREAM_MORE] = {
		program,      "--load",       b->pods_directory,    "--replicas",    replicas,
		"--data-dir", ret->directory, "--write-kubeconfig", ret->kubeconfig, "--token",
		TOKEN};
	int r;

	for (unsigned i = 0; i < UPSTREAM_MORE && more[i]; i++)
		argv[11 + i] = more[i];
	*ret = (struct upstream){.pods = each * real};
	snprintf(program, sizeof(program), "%s/apiserver", b->build);
	snprintf(replicas, sizeof(replicas), "%zu", each);
	snprintf(ret->directory, sizeof(ret->directory), "%s/upstream", b->directory);
	snprintf(ret->kubeconfig, sizeof(ret->kubeconfig), "%s/kubeconfig", ret->directory);
	r = process_start(&ret->process, argv, NULL, NULL);
	if (r == 0)
		r = process_line(&ret->process, line, sizeof(line), START_S);
	url = r == 0 ? strstr(line, "url=") : NULL;
	if (!url || sscanf(url, "url=%127s", ret->url) != 1) {
		upstream_end(ret);
		return r < 0 ? r : -EPROTO;
	}
	return 0;
}

/* ---- its pages ---- */

static size_t
keep(char *bytes, size_t size, size_t count, void *context)
{
	return bytes_append(context, bytes, size * count) == 0 ? size * count : 0;
}

/* GET, or POST, a page of JSON; the caller's to delete. NULL: it did not answer. */
static cJSON *
ask(const struct upstream *u, bool post, const char *path)
{
	char url[512], ca[192];
	struct bytes text = {0};
	struct curl_slist *headers = curl_slist_append(NULL, "Authorization: Bearer " TOKEN);
	CURL *curl = curl_easy_init();
	CURLcode code = CURLE_FAILED_INIT;
	cJSON *json = NULL;

	snprintf(url, sizeof(url), "%s%s", u->url, path);
	snprintf(ca, sizeof(ca), "%s/certs/apiserver.crt", u->directory);
	if (curl && headers) {
		curl_easy_setopt(curl, CURLOPT_URL, url);
		curl_easy_setopt(curl, CURLOPT_CAINFO, ca);
		curl_easy_setopt(curl, CURLOPT_PROXY, "");
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
		curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
		curl_easy_setopt(curl, CURLOPT_WRITEDATA, &text);
		if (post) {
			curl_easy_setopt(curl, CURLOPT_POST, 1L);
			curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, 0L);
		}
		code = curl_easy_perform(curl);
	}
	if (code == CURLE_OK)
		json = cJSON_ParseWithLength((const char *)text.data, text.length);
	else
		fprintf(stderr, "bench: %s: %s\n", url, curl_easy_strerror(code));
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	bytes_done(&text);
	return json;
}

int
upstream_cost(struct upstream *u, struct upstream_cost *ret)
{
	uint64_t end = now_ns() + REST_WITHIN_S * 1000000000ull;
	double before;
	cJSON *stats;

	do {
		before = process_cpu_us(u->process.pid);
		nanosleep(&(struct timespec){0, REST_MS * 1000000L}, NULL);
		ret->cpu_us = process_cpu_us(u->process.pid);
	} while (ret->cpu_us - before > REST_US && now_ns() < end);
	stats = ask(u, false, "/sim/stats");
	ret->bytes = cJSON_GetNumberValue(cJSON_GetObjectItem(stats, "bytesSent"));
	cJSON_Delete(stats);
	return ret->bytes > 0 ? 0 : -EPROTO;
}

int
upstream_change(struct upstream *u, unsigned rate, size_t n)
{
	char path[160];
	cJSON *stats;

	snprintf(path, sizeof(path), "/sim/churn?rate=%u&count=%zu&stamp=peer.example%%2Fts", rate, n);
	stats = ask(u, true, path);
	cJSON_Delete(stats);
	return stats ? 0 : -EPROTO;
}

static int
by_rv(const void *a, const void *b)
{
	const struct upstream_commit *x = a, *y = b;

	return (x->rv > y->rv) - (x->rv < y->rv);
}

int
upstream_commits(struct upstream *u, struct upstream_commit **ret, size_t *ret_count)
{
	cJSON *made = ask(u, false, "/sim/commits"), *one;
	size_t count = (size_t)cJSON_GetArraySize(made), i = 0;
	struct upstream_commit *commits = calloc(count ? count : 1, sizeof(*commits));

	if (!made || !commits) {
		cJSON_Delete(made);
		free(commits);
		return made ? -ENOMEM : -EPROTO;
	}
	cJSON_ArrayForEach(one, made)
	{
		commits[i].rv = (uint64_t)cJSON_GetNumberValue(cJSON_GetArrayItem(one, 0));
		commits[i++].us = (int64_t)cJSON_GetNumberValue(cJSON_GetArrayItem(one, 1));
	}
	cJSON_Delete(made);
	qsort(commits, count, sizeof(*commits), by_rv);
	*ret = commits;
	*ret_count = count;
	return 0;
}
