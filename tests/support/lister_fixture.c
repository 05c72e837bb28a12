/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a writer with three resources and a factory over it, for tests of listers and indexes. Puts what they
 * find into one text.
 */
#include "tests/support/lister_fixture.h"

#include "tests/room.h"

static const char deployments_descriptor[] =
	"{\"group\":\"apps\",\"version\":\"v1\",\"resource\":\"deployments\",\"kind\":\"Deployment\","
	"\"singular\":\"deployment\",\"shortNames\":[\"deploy\"],\"namespaced\":true,"
	"\"indexes\":[{\"name\":\"namespace\",\"rules\":[{\"as\":\"namespace\"}]}]}";
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
	fx->writer = broker_fixture_new();
	broker_fixture_start(fx->writer);
	broker_fixture_do(fx->writer, add_resources, fx);
	fx->inf = broker_fixture_attach(fx->writer, INFORMER_VERIFY);
	lister_fixture_renew(fx, options);
	return fx;
}

void
lister_fixture_renew(struct lister_fixture *fx, const struct informer_factory_options *options)
{
	informer_factory_shutdown(fx->factory);
	assert_int_equal(informer_factory_new(fx->inf, options, &fx->factory), 0);
	fx->pods = informer_shared_lister(lister_fixture_shared(fx, "pods"));
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

struct informer_shared *
lister_fixture_shared(struct lister_fixture *fx, const char *resource)
{
	struct informer_shared *shared;

	assert_int_equal(informer_factory_for(fx->factory, resource, &shared), 0);
	return shared;
}

static const char *
argument(const char *text)
{
	return strcmp(text, "*") == 0 ? NULL : strcmp(text, "\"\"") == 0 ? "" : text;
}

static const char *
ask_list(struct lister_fixture *fx, struct informer_lister *lister, const struct informer_snapshot *snapshot,
	 const char *question)
{
	char ns[64] = "*", selector[128] = "*";
	struct word_list list = {0};

	sscanf(question, "list %63s %127[^\n]", ns, selector);
	return finish(fx, &list, true,
		      informer_lister_list(lister, snapshot, argument(ns), argument(selector),
					   word_list_add_key, &list));
}

static const char *
ask_get(struct lister_fixture *fx, struct informer_lister *lister, const struct informer_snapshot *snapshot,
	const char *key)
{
	const char *slash = strchr(key, '/');
	struct word_list list = {0};
	struct informer_object object;
	char ns[64];
	int r;

	snprintf(ns, sizeof(ns), "%.*s", slash ? (int)(slash - key) : 0, key);
	r = informer_lister_get_z(lister, snapshot, slash ? ns : NULL, slash ? slash + 1 : key, &object);
	if (r == 0)
		word_list_add_key(&list, &object);
	finish(fx, &list, true, r);
	if (r == INFORMER_E_NOT_FOUND)
		informer_error_text(r, fx->text, sizeof(fx->text));
	return fx->text;
}

static const char *
ask_index(struct lister_fixture *fx, struct informer_lister *lister, const struct informer_snapshot *snapshot,
	  const char *question)
{
	const char *equals = strchr(question, '=');
	struct word_list list = {0};
	char name[64];

	if (!equals)
		return finish(fx, &list, true,
			      informer_index_values(lister, snapshot, question, add_value, &list));
	snprintf(name, sizeof(name), "%.*s", (int)(equals - question), question);
	return finish(fx, &list, false,
		      informer_lister_by_index(lister, snapshot, name, equals + 1, strlen(equals + 1),
					       word_list_add_key, &list));
}

const char *
lister_ask(struct lister_fixture *fx, const struct informer_snapshot *snapshot, const char *question)
{
	struct informer_lister *lister = fx->pods;
	const char *colon = strstr(question, ": ");
	struct informer_snapshot now;
	char resource[64];
	const char *text;

	if (!snapshot) {
		assert_int_equal(informer_begin(fx->inf, &now), 0);
		text = lister_ask(fx, &now, question);
		informer_end(&now);
		return text;
	}
	if (colon) {
		snprintf(resource, sizeof(resource), "%.*s", (int)(colon - question), question);
		lister = informer_shared_lister(lister_fixture_shared(fx, resource));
		question = colon + 2;
	}
	if (strncmp(question, "list", 4) == 0)
		return ask_list(fx, lister, snapshot, question);
	if (strncmp(question, "get ", 4) == 0)
		return ask_get(fx, lister, snapshot, question + 4);
	return ask_index(fx, lister, snapshot, question);
}

void
assert_answers(struct lister_fixture *fx, const struct informer_snapshot *snapshot, const char *lines)
{
	char *text = strdup(lines), *rest = text, *question, *answer;

	while ((question = strtok_r(rest, "\n", &rest))) {
		answer = strstr(question, " -> ");
		assert_non_null(answer);
		*answer = '\0';
		answer += strlen(" -> ");
		if (strcmp(lister_ask(fx, snapshot, question), answer) != 0)
			fail_msg("%s: '%s', expected '%s'", question, fx->text, answer);
	}
	free(text);
}
