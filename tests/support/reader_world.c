/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pod to look at.
 */
#include "tests/support/reader_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const char pod_of_all_kinds[] =
	"{\"metadata\":{\"name\":\"web-0\",\"namespace\":\"default\",\"uid\":\"u-1\",\"resourceVersion\":"
	"\"77\","
	"\"labels\":{\"app\":\"web\",\"a.b/"
	"c\":\"d\"},\"annotations\":{\"long\":\"01234567890123456789012345678901234567890123456789012345"
	"67890123456789\"}},\"spec\":{\"nodeName\":\"n1\",\"hostNetwork\":false,\"priority\":-5,\"big\":"
	"18446744073709551615,"
	"\"huge\":1e999,\"ratio\":0.25,\"nothing\":null,\"none\":{},\"empty\":[],"
	"\"containers\":[{\"name\":\"c1\",\"image\":\"i1\",\"env\":[{\"name\":\"A\",\"value\":\"1\"}]},"
	"{\"name\":\"c2\",\"image\":\"i2\",\"env\":[]}]},\"text\":\"\\u0000\xc3\xa4\\n\",\"status\":{"
	"\"phase\":\"Running\"}}";

void
reader_world_look(struct reader_world *w, const char *name, struct informer_object *ret)
{
	assert_int_equal(informer_get_z(&w->snap, w->pods, "default", name, ret), 0);
}

struct reader_world *
reader_world_new(const char *json)
{
	struct reader_world *w = calloc(1, sizeof(*w));

	w->fx = broker_fixture_new();
	broker_fixture_start(w->fx);
	/* a second one like it, so that the daemon shares what can be shared */
	broker_fixture_pod(w->fx, "other");
	broker_fixture_put(w->fx, (const char *const[]){json, NULL});
	w->inf = broker_fixture_attach(w->fx, 0);
	assert_int_equal(informer_resource_open(w->inf, "pods", &w->pods), 0);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	reader_world_look(w, "web-0", &w->pod);
	return w;
}

void
reader_world_free(struct reader_world *w)
{
	informer_end(&w->snap);
	informer_detach(w->inf);
	broker_fixture_free(w->fx);
	free(w);
}

const char *
reader_world_json(char *buffer, const struct informer_object *object)
{
	size_t length = 0;

	assert_int_equal(informer_object_json(object, buffer, READER_WORLD_TEXT, &length), 0);
	assert_true(length < READER_WORLD_TEXT);
	return buffer;
}

void
assert_text(int r, const char *data, size_t length, const char *expected)
{
	assert_int_equal(r, 0);
	assert_int_equal(length, strlen(expected));
	assert_memory_equal(data, expected, length);
}

struct informer_path *
reader_world_path(struct reader_world *w, const char *text)
{
	struct informer_path *path;

	assert_int_equal(informer_path_compile(w->inf, text, strlen(text), &path), 0);
	return path;
}
