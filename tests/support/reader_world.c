/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the world for tests of lookups and objects, and frees it. */
#include "tests/support/reader_world.h"

#include "tests/room.h"

const char pod_of_all_kinds[] =
	"{\"metadata\":{\"name\":\"web-0\",\"namespace\":\"default\",\"uid\":\"u-1\","
	"\"resourceVersion\":\"77\",\"labels\":{\"app\":\"web\",\"a.b/c\":\"d\"},"
	"\"annotations\":{\"long\":\"0123456789012345678901234567890123456789012345678901234567890123456789\""
	"}},\"spec\":{\"nodeName\":\"n1\",\"hostNetwork\":false,\"priority\":-5,\"big\":18446744073709551615,"
	"\"huge\":1e999,\"ratio\":0.25,\"nothing\":null,\"none\":{},\"empty\":[],"
	"\"containers\":[{\"name\":\"c1\",\"image\":\"i1\",\"env\":[{\"name\":\"A\",\"value\":\"1\"}]},"
	"{\"name\":\"c2\",\"image\":\"i2\",\"env\":[]}]},\"text\":\"\\u0000\xc3\xa4\\n\","
	"\"status\":{\"phase\":\"Running\"}}";

void
reader_world_look(struct reader_world *w, const char *name, struct informer_object *ret)
{
	assert_int_equal(informer_get_z(&w->snap, w->pods, "default", name, ret), 0);
}

void
reader_world_renew(struct reader_world *w)
{
	informer_end(&w->snap);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
}

struct reader_world *
reader_world_over(struct broker_fixture *fx, const char *resource, uint32_t flags)
{
	struct reader_world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->fx = fx;
	w->inf = broker_fixture_attach(fx, flags);
	assert_int_equal(informer_resource_open(w->inf, resource, &w->pods), 0);
	return w;
}

struct reader_world *
reader_world_empty(const char *name)
{
	struct broker_fixture *fx = broker_fixture_new();

	broker_fixture_start(fx);
	if (name)
		broker_fixture_pod(fx, name);
	return reader_world_over(fx, "pods", 0);
}

struct reader_world *
reader_world_of(const char *const *pods, uint32_t flags)
{
	struct broker_fixture *fx = broker_fixture_new();
	struct reader_world *w;

	broker_fixture_start(fx);
	broker_fixture_put(fx, pods);
	w = reader_world_over(fx, "pods", flags);
	reader_world_renew(w);
	return w;
}

struct reader_world *
reader_world_new(const char *json)
{
	struct broker_fixture *fx = broker_fixture_new();
	struct reader_world *w;

	broker_fixture_start(fx);
	/* a second, similar pod, so that the daemon shares what it can */
	broker_fixture_pod(fx, "other");
	broker_fixture_put(fx, (const char *const[]){json, NULL});
	w = reader_world_over(fx, "pods", 0);
	reader_world_renew(w);
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

FIXTURE_TEAR_DOWN(reader_world_tear_down, reader_world_free)

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

int
reader_get(struct informer *inf, const char *ns, const char *name)
{
	struct informer_resource *pods;
	struct informer_snapshot snap;
	struct informer_object pod;
	int r = informer_resource_open(inf, "pods", &pods);

	if (r == 0)
		r = informer_begin(inf, &snap);
	if (r < 0)
		return r;
	r = informer_get_z(&snap, pods, ns, name, &pod);
	informer_end(&snap);
	return r;
}

int
reader_check_whole(const struct informer_snapshot *snap, struct informer_resource *pods)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_iter it;
	struct informer_object o;
	uint64_t count = 0;
	int r = informer_list(snap, pods, &it);

	while (r == 0 && (r = informer_next(&it, &o)) > 0) {
		const char *data;
		size_t length;

		r = informer_object_uid(&o, &data, &length);
		if (r == 0 && (length < 4 || memcmp(data, "uid-", 4) != 0))
			r = INFORMER_E_CORRUPT;
		count++;
	}
	if (r == 0)
		r = informer_resource_info(snap, pods, &info);
	return r == 0 && info.object_count != count ? INFORMER_E_CORRUPT : r;
}
