/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts informer-sim with the bench's pods, and fetches from it what needs no client.
 */
#include "tests/bench/sim.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

int
sim_start(const struct bench *b, const char *pods_directory, size_t replicas, size_t nodes, struct sim *ret)
{
	char program[4096], count[24], line[512], *url;
	const char *loading[] = {program,  "--write-kubeconfig", ret->kubeconfig, "--seed", "1",
				 "--load", pods_directory,       "--replicas",    count,    NULL};
	const char *generating[] = {program,
				    "--write-kubeconfig",
				    ret->kubeconfig,
				    "--seed",
				    "1",
				    "--nodes",
				    count,
				    "--pods-per-node",
				    "50",
				    NULL};
	int r;

	snprintf(program, sizeof(program), "%s/informer-sim", b->build);
	snprintf(ret->kubeconfig, sizeof(ret->kubeconfig), "%s/kubeconfig", b->directory);
	snprintf(count, sizeof(count), "%zu", pods_directory ? replicas : nodes);
	r = process_start(&ret->process, pods_directory ? loading : generating, NULL, NULL);
	if (r == 0)
		r = process_line(&ret->process, line, sizeof(line), 120);
	url = r == 0 ? strstr(line, "url=") : NULL;
	if (!url || sscanf(url, "url=%127s", ret->url) != 1) {
		sim_end(ret);
		return r < 0 ? r : -EPROTO;
	}
	return 0;
}

void
sim_end(struct sim *s)
{
	process_end(&s->process, SIGKILL);
	unlink(s->kubeconfig);
}

struct fetch {
	int (*each)(void *context, const char *bytes, size_t length);
	void *context;
	int result;
};

static size_t
on_bytes(char *bytes, size_t size, size_t count, void *context)
{
	struct fetch *f = context;

	f->result = f->each(f->context, bytes, size * count);
	return f->result == 0 ? size * count : 0;
}

int
url_fetch(const char *url, int (*each)(void *context, const char *bytes, size_t length), void *context)
{
	struct fetch f = {each, context, 0};
	CURL *curl = curl_easy_init();
	CURLcode code;

	if (!curl)
		return -ENOMEM;
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &f);
	code = curl_easy_perform(curl);
	curl_easy_cleanup(curl);
	if (f.result < 0)
		return f.result;
	return code == CURLE_OK ? 0 : -EIO;
}

int
sim_fetch(const struct sim *s, const char *path, int (*each)(void *context, const char *bytes, size_t length),
	  void *context)
{
	char url[512];

	snprintf(url, sizeof(url), "%s%s", s->url, path);
	return url_fetch(url, each, context);
}
