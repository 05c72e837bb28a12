/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes pods by way of their JSON.
 */
#include "tests/tools/informer-gateway/served_objects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

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
	struct api_object_error error;
	struct api_doc_error bad;
	struct api_object *object;
	struct api_doc doc = {0};
	char text[600];

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%.*s\",\"labels\":{\"app\":\"web\"}},"
		 "\"spec\":{"
		 "\"nodeName\":\"%s\",\"containers\":[]}}",
		 strchr(key, '/') + 1, (int)strcspn(key, "/"), key, node ? node : "");
	assert_int_equal(api_doc_parse(&doc, text, strlen(text), NULL, &bad), 0);
	assert_int_equal(api_object_new(served_pods(), &doc, &object, &error), 0);
	api_object_stamp(object, rv);
	api_doc_done(&doc);
	return object;
}

struct gw_change
pod_change(const char *key, const char *from, const char *to, uint64_t rv)
{
	struct gw_change change = {.change = !to ? API_DELETED : !from ? API_ADDED : API_MODIFIED, .rv = rv};

	change.object = served_pod(key, to ? to : from, rv);
	if (from && to && strcmp(from, to) != 0)
		change.prev = served_pod(key, from, rv - 1);
	else if (from)
		change.prev = api_object_ref(change.object);
	return change;
}
