/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/kind_fixture.h"

#include "tests/room.h"

static void
add(struct broker_fixture *fx, void *context)
{
	const struct kind_fixture *k = context;
	uint8_t fingerprint[32] = {0};
	char descriptor[2048];

	snprintf((char *)fingerprint, sizeof(fingerprint), "%s", k->kind);
	snprintf(descriptor, sizeof(descriptor),
		 "{\"group\":\"%s\",\"version\":\"v1\",\"resource\":\"%s\",\"kind\":\"%s\",\"singular\":\"\","
		 "\"shortNames\":[],\"namespaced\":%s,\"indexes\":[%s]}",
		 k->group, k->resource, k->kind, k->cluster_scoped ? "false" : "true",
		 k->indexes ? k->indexes : "");
	assert_int_equal(store_add_resource(fx->store->store, descriptor, fingerprint, &fx->store->pods), 0);
	for (size_t i = 0; i < 4 && k->objects[i]; i++)
		assert_int_equal(store_fixture_put(fx->store, k->objects[i]), 0);
	assert_true(store_commit(fx->store->store) >= 0);
}

void
kind_fixture_add(struct broker_fixture *fx, const struct kind_fixture *kind)
{
	broker_fixture_do(fx, add, (void *)(uintptr_t)kind);
}

struct reader_world *
kind_fixture_world(const struct kind_fixture *kinds, size_t count)
{
	struct broker_fixture *fx = broker_fixture_new();
	struct reader_world *w;

	for (size_t i = 0; i < count; i++)
		kind_fixture_add(fx, &kinds[i]);
	broker_fixture_start(fx);
	w = reader_world_over(fx, "pods.v1", INFORMER_VERIFY);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	return w;
}
