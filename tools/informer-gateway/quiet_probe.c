/* SPDX-License-Identifier: Apache-2.0 */
/* A short watch that tells whether anything happened; see quiet_probe.h. */
#include "tools/informer-gateway/quiet_probe.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"

#define LINE_MAX_BYTES (2u << 20)

struct gw_quiet_probe {
	struct transport_request *request;
	const struct gw_quiet_probe_callbacks *callbacks;
	void *ctx;
	int status;
	uint64_t last;
	struct api_buf line;
	bool telling;   /* in a callback … */
	bool cancelled; /* … from which it was cancelled: freed behind it */
};

uint64_t
gw_rv_number(const char *text)
{
	uint64_t number = 0;

	if (!text || *text < '1' || *text > '9')
		return 0;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
			return 0;
	return *text ? 0 : number;
}

static void
probe_free(struct gw_quiet_probe *probe)
{
	api_buf_done(&probe->line);
	free(probe);
}

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct gw_quiet_probe *probe = ctx;

	probe->status = response->status;
}

/* One event. Negative: no more can be learnt here. */
static int
take_line(struct gw_quiet_probe *probe)
{
	cJSON *event = cJSON_ParseWithLength(probe->line.data, probe->line.len);
	const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(event, "object"), "metadata");
	const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "type"));
	uint64_t rv = gw_rv_number(
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metadata, "resourceVersion")));
	bool bookmark = type && strcmp(type, "BOOKMARK") == 0,
	     good = type && rv && strcmp(type, "ERROR") != 0;

	cJSON_Delete(event);
	if (!good)
		return -EPROTO;
	if (bookmark)
		probe->callbacks->quiet(probe->ctx, rv, probe->last);
	else if (rv > probe->last)
		probe->last = rv;
	return 0;
}

static int
on_data(void *ctx, const void *data, size_t len)
{
	struct gw_quiet_probe *probe = ctx;
	const char *at = data, *end = at + len;
	int r = probe->status == 200 ? 0 : -EPROTO;

	while (r == 0 && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = newline ? (size_t)(newline + 1 - at) : (size_t)(end - at);

		if (n > LINE_MAX_BYTES - probe->line.len)
			return -EMSGSIZE;
		api_buf_put(&probe->line, at, n);
		at += n;
		if (!newline)
			break;
		probe->telling = true;
		r = take_line(probe);
		probe->telling = false;
		api_buf_reset(&probe->line);
		if (probe->cancelled) {
			probe_free(probe);
			return -ECANCELED;
		}
	}
	return r;
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct gw_quiet_probe *probe = ctx;

	(void)result;
	(void)message;
	probe->callbacks->ended(probe->ctx);
	probe_free(probe);
}

struct gw_quiet_probe *
gw_quiet_probe_start(struct gw_upstream *upstream, const char *path, uint64_t from,
		     const struct gw_quiet_probe_callbacks *callbacks, void *ctx)
{
	static const struct transport_callbacks ways = {on_response, on_data, on_done};
	struct gw_quiet_probe *probe = api_alloc(sizeof(*probe));
	_cleanup_(api_buf_done) struct api_buf url = {0};

	*probe = (struct gw_quiet_probe){.callbacks = callbacks, .ctx = ctx, .last = from};
	api_buf_printf(&url, "%s?watch=true&allowWatchBookmarks=true&resourceVersion=%llu&timeoutSeconds=%u",
		       path, (unsigned long long)from, GW_QUIET_PROBE_S);
	if (transport_get(gw_upstream_own(upstream), url.data,
			  TRANSPORT_WATCH | TRANSPORT_METADATA | TRANSPORT_DROP_MANAGED, &ways, probe,
			  &probe->request) < 0) {
		probe_free(probe);
		return NULL;
	}
	return probe;
}

void
gw_quiet_probe_cancel(struct gw_quiet_probe *probe)
{
	if (!probe || probe->cancelled)
		return;
	transport_cancel(probe->request);
	probe->cancelled = true;
	if (!probe->telling)
		probe_free(probe);
}
