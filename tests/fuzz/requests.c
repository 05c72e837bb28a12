/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any path, parameters and Accept, a line each: a request of a list or a watch is refused by a Status, or
 * answered to the end. A list has its measured length. A watch sends only selected objects.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/tools/serving/played_store.h"

#include "tools/informer-sim/list_measure.h"
#include "tools/serving/answer.h"
#include "tools/serving/api_watch.h"
#include "tools/serving/discovery_documents.h"

static struct world *world;

static void
set_up(void)
{
	world = world_new();
	for (unsigned i = 0; i < 9; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%u", i);
		put_pod(world, i % 2 ? "shop" : "other", name, i % 3 ? "web" : "db", i % 4 ? "n1" : "n2");
	}
	delete_pod(world, "shop/p3");
	put_pod(world, "shop", "p1", "db", "n1");
	world->floor = 103;
}

static void
refused(struct ask *ask)
{
	_cleanup_(api_buf_done) struct api_buf body = {0};

	must(ask->api.status.code >= 400 && ask->api.status.message);
	api_answer_status(&ask->api, &body);
	api_status_done(&ask->api.status);
}

static void
list(struct ask *ask, const struct api_query *query)
{
	uint64_t items, bytes, read = 0;
	struct api_list *l;
	char block[100];
	ssize_t n;

	if (api_list_open(&ask->api, query, &world->store, false, &l) < 0) {
		refused(ask);
		return;
	}
	sim_list_measure(l, &items, &bytes);
	while ((n = api_list_read(l, block, sizeof(block))) != 0)
		read += n > 0 ? (uint64_t)n : 0;
	must(ask->api.shape.kind == API_TABLE || read == bytes);
	must(!query->limit || ask->api.shape.kind == API_TABLE || (query->rv_given && !query->rv) ||
	     items <= query->limit);
	api_list_close(l);
}

static void
watch(struct ask *ask, struct api_query *query)
{
	const struct api_watch_options options = {.bookmark_ms = 60000, .timeout_ms = 1800000};
	struct api_watch *w;
	struct api_frame *frame;
	unsigned lines = 0;

	must(api_watch_open(&ask->api, query, &world->store, &options, 1, &w) == 0);
	while (api_watch_next(w, 1, &frame) == API_WATCH_LINE) {
		api_frame_unref(frame);
		must(++lines < 100);
	}
	api_watch_free(w);
}

static void
one(const char *path_text, const char *query_text, const char *accept)
{
	struct ask ask = {.api = {.value = asked_value,
				  .method = "GET",
				  .url = path_text,
				  .watch_list = true,
				  .offer = {.protobuf = true, .drop = true}},
			  .query = query_text,
			  .accept = accept};
	_cleanup_(api_path_done) struct api_path path = {0};
	_cleanup_(api_buf_done) struct api_buf page = {0};
	_cleanup_(api_query_done) struct api_query query = {0};

	api_path_parse(path_text, &path);
	if (api_request_locate(&ask.api, &path, &world->registry) < 0)
		ask.api.resource = world->pods; /* its parameters are tested all the same */
	api_discovery_answer(&ask.api, &world->registry, true, &page);
	if (api_request_choose_shape(&ask.api) < 0 || api_query_parse(&ask.api, &query) < 0)
		refused(&ask);
	else if (query.watch)
		watch(&ask, &query);
	else if (ask.api.resource == world->pods)
		list(&ask, &query);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *rest = text, *path, *query;

	if (!world)
		set_up();
	path = strsep(&rest, "\n");
	query = strsep(&rest, "\n");
	one(path, query ? query : "", rest && *rest ? rest : NULL);
	free(text);
	must(world->views == 0);
	return 0;
}
