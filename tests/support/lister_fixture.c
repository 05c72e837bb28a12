/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a writer with three resources and a factory over it, for tests of listers and indexes, and turns
 * what they find into one text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/lister_fixture.h"

static const char deployments_descriptor[] =
	"{\"group\":\"apps\",\"version\":\"v1\",\"resource\":\"deployments\",\"kind\":\"Deployment\","
	"\"singular\":\"deployment\","
	"\"shortNames\":[\"deploy\"],\"namespaced\":true,\"indexes\":[{\"name\":\"namespace\",\"rules\":[{"
	"\"as\":\"namespace\"}]}]}";
static const char nodes_descriptor[] =
	"{\"group\":\"\",\"version\":\"v1\",\"resource\":\"nodes\",\"kind\":\"Node\",\"singular\":\"node\","
	"\"shortNames\":[\"no\"],\"namespaced\":false,\"indexes\":[{\"name\":\"namespace\",\"rules\":[{"
	"\"as\":\"namespace\"}]}]}";
static const uint8_t deployments_fingerprint[32] = "deployments of a fixture";
static const uint8_t nodes_fingerprint[32] = "nodes of a fixture";

static void
add_resources(struct broker_fixture *writer, void *context)
{
	struct lister_fixture *fx = context;

	assert_int_equal(store_add_resource(writer->store->store, deployments_descriptor,
					    deployments_fingerprint, &fx->deployments),
			 0);
	assert_int_equal(
		store_add_resource(writer->store->store, nodes_descriptor, nodes_fingerprint, &fx->nodes), 0);
	assert_int_equal(store_commit(writer->store->store), 0);
}

struct lister_fixture *
lister_fixture_new(const struct informer_factory_options *options)
{
	struct lister_fixture *fx = calloc(1, sizeof(*fx));

	assert_non_null(fx);
	fx->writer = broker_fixture_of_readers();
	broker_fixture_start(fx->writer);
	broker_fixture_do(fx->writer, add_resources, fx);
	fx->inf = broker_fixture_attach(fx->writer, INFORMER_VERIFY);
	lister_fixture_renew(fx, options);
	return fx;
}

void
lister_fixture_renew(struct lister_fixture *fx, const struct informer_factory_options *options)
{
	struct informer_shared *shared;

	informer_factory_shutdown(fx->factory);
	assert_int_equal(informer_factory_new(fx->inf, options, &fx->factory), 0);
	assert_int_equal(informer_factory_for(fx->factory, "pods", &shared), 0);
	fx->pods = informer_shared_lister(shared);
}

void
lister_fixture_free(struct lister_fixture *fx)
{
	informer_factory_shutdown(fx->factory);
	informer_detach(fx->inf);
	broker_fixture_free(fx->writer);
	free(fx);
}

struct put {
	unsigned resource;
	const char *json;
	const char *ns, *name;
};

static void
put(struct broker_fixture *writer, void *context)
{
	const struct put *p = context;
	struct store_fixture *store = writer->store;
	unsigned pods = store->pods;

	store->pods = p->resource;
	if (p->json)
		assert_int_equal(store_fixture_put(store, p->json), 0);
	else
		assert_int_equal(store_fixture_delete(store, p->ns, p->name), 0);
	store->pods = pods;
	for (unsigned i = 0; i < store_resource_count(store->store); i++)
		store_set_state(store->store, i, RESOURCE_SYNCED);
	assert_int_equal(store_commit(store->store), 0);
}

void
lister_fixture_put(struct lister_fixture *fx, unsigned resource, const char *json)
{
	broker_fixture_do(fx->writer, put, &(struct put){.resource = resource, .json = json});
}

void
lister_fixture_pod(struct lister_fixture *fx, const char *ns, const char *name, const char *users,
		   const char *app)
{
	char text[1024], part[256] = "";

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\",\"uid\":\"uid-%s-%s\"", name, ns, ns,
		 name);
	if (users)
		snprintf(part, sizeof(part), ",\"annotations\":{\"users\":\"%s\"}", users);
	strcat(text, part);
	part[0] = '\0';
	if (app)
		snprintf(part, sizeof(part), ",\"labels\":{\"app\":\"%s\"}", app);
	strcat(text, part);
	strcat(text, "},\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Running\"}}");
	lister_fixture_put(fx, fx->writer->store->pods, text);
}

void
lister_fixture_delete(struct lister_fixture *fx, const char *ns, const char *name)
{
	broker_fixture_do(fx->writer, put,
			  &(struct put){.resource = fx->writer->store->pods, .ns = ns, .name = name});
}

/* ---- words ---- */

static void
add_word(struct word_list *list, const char *data, size_t length)
{
	assert_true(list->count < sizeof(list->words) / sizeof(list->words[0]));
	list->words[list->count++] = strndup(data, length);
}

int
word_list_add_key(void *context, const struct informer_object *object)
{
	char key[512];
	size_t length;

	assert_int_equal(informer_object_key(object, key, sizeof(key), &length), 0);
	add_word(context, key, length);
	return 0;
}

static int
add_value(void *context, const char *value, size_t length)
{
	add_word(context, value, length);
	return 0;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void
word_list_join(struct word_list *list, bool sorted, char *text, size_t size)
{
	if (sorted)
		qsort(list->words, list->count, sizeof(list->words[0]), compare);
	text[0] = '\0';
	for (size_t i = 0; i < list->count; i++) {
		size_t used = strlen(text);

		assert_true(used + strlen(list->words[i]) + 2 < size);
		snprintf(text + used, size - used, "%s%s", i ? " " : "", list->words[i]);
		free(list->words[i]);
	}
	list->count = 0;
}

static const char *
finish(struct lister_fixture *fx, struct word_list *list, bool sorted, int r)
{
	word_list_join(list, sorted, fx->text, sizeof(fx->text));
	if (r < 0)
		snprintf(fx->text, sizeof(fx->text), "error %s", informer_error_name(r));
	return fx->text;
}

const char *
lister_fixture_list(struct lister_fixture *fx, const struct informer_snapshot *snapshot, const char *ns,
		    const char *selector)
{
	struct word_list list = {0};
	int r = informer_lister_list(fx->pods, snapshot, ns, selector, word_list_add_key, &list);

	return finish(fx, &list, true, r);
}

const char *
lister_fixture_by_index(struct lister_fixture *fx, const struct informer_snapshot *snapshot,
			const char *index, const char *value)
{
	struct word_list list = {0};
	int r = informer_lister_by_index(fx->pods, snapshot, index, value, strlen(value), word_list_add_key,
					 &list);

	return finish(fx, &list, false, r);
}

const char *
lister_fixture_values(struct lister_fixture *fx, const struct informer_snapshot *snapshot, const char *index)
{
	struct word_list list = {0};
	int r = informer_index_values(fx->pods, snapshot, index, add_value, &list);

	return finish(fx, &list, true, r);
}

const char *
lister_fixture_list_now(struct lister_fixture *fx, const char *ns, const char *selector)
{
	struct informer_snapshot snapshot;
	const char *text;

	assert_int_equal(informer_begin(fx->inf, &snapshot), 0);
	text = lister_fixture_list(fx, &snapshot, ns, selector);
	informer_end(&snapshot);
	return text;
}

const char *
lister_fixture_by_index_now(struct lister_fixture *fx, const char *index, const char *value)
{
	struct informer_snapshot snapshot;
	const char *text;

	assert_int_equal(informer_begin(fx->inf, &snapshot), 0);
	text = lister_fixture_by_index(fx, &snapshot, index, value);
	informer_end(&snapshot);
	return text;
}

const char *
lister_fixture_values_now(struct lister_fixture *fx, const char *index)
{
	struct informer_snapshot snapshot;
	const char *text;

	assert_int_equal(informer_begin(fx->inf, &snapshot), 0);
	text = lister_fixture_values(fx, &snapshot, index);
	informer_end(&snapshot);
	return text;
}
