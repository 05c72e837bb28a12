/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/tools/informer-gateway/served_objects.h"
#include "tests/tools/serving/made_object.h"

struct api_resource *
served_pods(void)
{
	static struct api_registry registry;

	if (api_registry_count(&registry) == 0)
		api_registry_init(&registry);
	return api_registry_find(&registry, "", "v1", "pods");
}

struct api_object *
served_pod(const char *key, const char *node, uint64_t rv)
{
	struct api_object *object;
	char text[600];

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%.*s\",\"labels\":{\"app\":\"web\"}},"
		 "\"spec\":{\"nodeName\":\"%s\",\"containers\":[]}}",
		 strchr(key, '/') + 1, (int)strcspn(key, "/"), key, node ? node : "");
	object = made_object(served_pods(), text);
	sim_object_stamp(object, rv);
	return object;
}

struct api_event
pod_change(const char *key, const char *from, const char *to, uint64_t rv)
{
	struct api_event change = {.change = !to ? API_DELETED : !from ? API_ADDED : API_MODIFIED, .rv = rv};

	change.object = served_pod(key, to ? to : from, rv);
	if (from && to && strcmp(from, to) != 0)
		change.prev = served_pod(key, from, rv - 1);
	else if (from)
		change.prev = api_object_ref(change.object);
	return change;
}

struct api_share logged_share = {.most = 64u << 20};
uint64_t logged_step_ms = GW_FRESH_MS;

static uint64_t
step(void)
{
	static uint64_t now_ms;

	return now_ms += logged_step_ms;
}

struct gw_log_options
logged_options(size_t bytes)
{
	return (struct gw_log_options){.bytes = bytes, .share = &logged_share, .now_ms = step};
}

int
logged_set_up(void **state)
{
	static struct logged w;
	const struct gw_log_options options = logged_options(1u << 20);

	gw_change_log_init(&w.log, &options);
	gw_interests_init(&w.interests, &w.log);
	gw_change_log_begin(&w.log, 100);
	*state = &w;
	return 0;
}

int
logged_tear_down(void **state)
{
	struct logged *w = *state;

	gw_interests_done(&w->interests);
	gw_change_log_done(&w->log);
	return 0;
}
