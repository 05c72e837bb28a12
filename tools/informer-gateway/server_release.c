/* SPDX-License-Identifier: Apache-2.0 */
/* /version, as informerd knows it; see server_release.h. */
#include "tools/informer-gateway/server_release.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "reader-lib/informer.h"
#include "tools/schema/proto_release.h"
#include "tools/schema/proto_schema.h"
#include "tools/serving/discovery_documents.h"

struct waiting {
	TAILQ_ENTRY(waiting) link;
	struct gw_server_release *release;
	struct gw_exchange *x;
};

struct gw_server_release {
	uv_loop_t *loop;
	uv_work_t work;
	char *(*report)(void *ctx);
	void *ctx;
	char *said; /* the work's, while it is under way */
	bool asking, freed;
	uint64_t known_ms; /* since when; 0: not at all */
	TAILQ_HEAD(, waiting) waiting;
};

static void
answer(struct gw_exchange *x)
{
	struct api_buf body = {0};

	api_version_document("informer-gateway", &body);
	gw_reply(x, 200, "application/json", &body);
}

char *
gw_informerd_report(void *path)
{
	const struct informer_options options = {
		.size = sizeof(options),
		.socket_path = path,
		.reader_name = "informer-gateway",
	};
	struct informer *informer;
	char *text = NULL, *copy = NULL;

	if (informer_attach(&options, &informer) < 0)
		return NULL;
	if (informer_stat_json(informer, GW_RELEASE_ASK_MS, &text, NULL) == 0) {
		copy = strdup(text);
		informer_free(informer, text);
	}
	informer_detach(informer);
	return copy;
}

/* ---- the question ---- */

static void
in_thread(uv_work_t *work)
{
	struct gw_server_release *release = work->data;

	release->said = release->report(release->ctx);
}

static void
learn(struct gw_server_release *release)
{
	cJSON *report = cJSON_Parse(release->said ? release->said : "");
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(report, "release"));
	unsigned number = text ? proto_release_of(text, "1") : 0;

	if (number) {
		proto_schema_fit(proto_schema_builtin(), number);
		release->known_ms = uv_now(release->loop) + 1;
	}
	cJSON_Delete(report);
	free(release->said);
	release->said = NULL;
}

static void
in_loop(uv_work_t *work, int status)
{
	struct gw_server_release *release = work->data;
	struct waiting *first;

	(void)status;
	release->asking = false;
	learn(release);
	while ((first = TAILQ_FIRST(&release->waiting))) {
		TAILQ_REMOVE(&release->waiting, first, link);
		gw_on_gone(first->x, NULL, NULL);
		answer(first->x);
		free(first);
	}
	if (release->freed)
		free(release);
}

static void
gone(void *ctx)
{
	struct waiting *w = ctx;

	TAILQ_REMOVE(&w->release->waiting, w, link);
	free(w);
}

static bool
is_fresh(const struct gw_server_release *release)
{
	return release->known_ms && uv_now(release->loop) - (release->known_ms - 1) < GW_RELEASE_KEEP_MS;
}

/* Whether it is being asked for. */
static bool
ask(struct gw_server_release *release)
{
	release->work.data = release;
	if (!release->asking)
		release->asking = uv_queue_work(release->loop, &release->work, in_thread, in_loop) == 0;
	return release->asking;
}

bool
gw_server_release_page(struct gw_server_release *release, struct gw_exchange *x)
{
	struct waiting *w;

	if (strcmp(x->api.url, "/version") != 0 ||
	    (strcmp(x->api.method, "GET") != 0 && strcmp(x->api.method, "HEAD") != 0))
		return false;
	if (is_fresh(release) || !ask(release)) {
		answer(x);
		return true;
	}
	w = api_alloc(sizeof(*w));
	*w = (struct waiting){.release = release, .x = x};
	TAILQ_INSERT_TAIL(&release->waiting, w, link);
	gw_on_gone(x, gone, w);
	return true;
}

/* ---- its life ---- */

struct gw_server_release *
gw_server_release_new(uv_loop_t *loop, char *(*report)(void *ctx), void *ctx)
{
	struct gw_server_release *release = api_alloc(sizeof(*release));

	*release = (struct gw_server_release){.loop = loop, .report = report, .ctx = ctx};
	TAILQ_INIT(&release->waiting);
	return release;
}

void
gw_server_release_free(struct gw_server_release *release)
{
	if (!release)
		return;
	release->freed = true;
	if (!release->asking)
		free(release);
}
