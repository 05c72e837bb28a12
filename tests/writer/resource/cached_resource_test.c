/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the next daemon does with a cached resource, under the same or another configuration. Random histories
 * of objects and configurations go through DeltaFIFO and pipeline. The result is compared with a store that
 * had the last configuration from the start. The test is the API server: it puts each list into the FIFO.
 */

#include <sodium.h>

#include "tests/room.h"
#include "tests/support/allocations.h"
#include "tests/support/arena_fixture.h"
#include "tests/support/config_text.h"
#include "tests/support/store_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/virtual_clock.h"
#include "writer/fifo/delta_fifo_replace.h"
#include "writer/resource/cached_resource.h"
#include "writer/base/message.h"

#define OBJECTS 60u
#define VALUES	5u

static const struct kube_resource pods = {.group = "",
					  .version = "v1",
					  .resource = "pods",
					  .kind = "Pod",
					  .singular = "pod",
					  .namespaced = true};

static uint64_t seed;

static unsigned
chance(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % n);
}

/* ---- the server ---- */

struct server {
	char *objects[OBJECTS];	/* JSON; NULL: absent */
	unsigned version;
};

static void
server_put(struct server *s, unsigned i)
{
	free(s->objects[i]);
	s->version++;
	if (asprintf(&s->objects[i],
		     "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"n%u\",\"uid\":\"u%u\","
		     "\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"v%u\",\"tier\":\"v%u\"},"
		     "\"annotations\":{\"users\":\"v%u,v%u\"},\"managedFields\":[{\"m\":%u}]},"
		     "\"spec\":{\"nodeName\":\"v%u\",\"volumes\":[{\"name\":\"v%u\"},{\"name\":\"v%u\"}]},"
		     "\"status\":{\"phase\":\"v%u\",\"podIPs\":[{\"ip\":\"v%u\"}]}}",
		     i, i % 3, i, s->version, chance(VALUES), chance(VALUES), chance(VALUES), chance(VALUES),
		     s->version, chance(VALUES), chance(VALUES), chance(VALUES), chance(VALUES),
		     chance(VALUES)) < 0)
		abort();
}

static void
server_drop(struct server *s, unsigned i)
{
	free(s->objects[i]);
	s->objects[i] = NULL;
}

/* ---- the daemon's side ---- */

struct side {
	struct arena *arena;
	struct store *store;
	struct virtual_clock clock;
	struct applier *applier;
	struct config config;
	struct cached_resource *resource;
	struct store_fixture look;	/* for comparisons only */
	char asked[64];                 /* the last request */
	struct draft drafted;
	struct server own, *server;
};

static int
keep(void *context, const char *type, size_t type_length, struct draft d)
{
	struct side *side = context;

	(void)type;
	(void)type_length;
	side->drafted = d;
	return 0;
}

/* The object as the server sends it: whole, or its metadata if that is asked for. */
static uint32_t
draft_of(struct side *side, const char *json)
{
	static const struct decoder_events events = {.on_object = keep};
	struct decoder *decoder = decoder_new(DECODE_WATCH, side->arena, store_intern(side->store),
					      side->resource->spec->schema, &events, side, 0);
	static const char head[] = "{\"type\":\"ADDED\",\"object\":";
	bool cut = side->resource->spec->metadata_only;

	assert_int_equal(decoder_feed(decoder, head, strlen(head)), 0);
	assert_int_equal(
		decoder_feed(decoder, json, cut ? (size_t)(strstr(json, ",\"spec\"") - json) : strlen(json)),
		0);
	assert_int_equal(decoder_feed(decoder, "}}", cut ? 2 : 1), 0);
	decoder_free(decoder);
	return side->drafted.ref;
}

static void
run(struct side *side)
{
	while (applier_run(side->applier))
		;
}

static void
set_version(struct side *side)
{
	char version[16];

	snprintf(version, sizeof(version), "%u", side->server->version);
	delta_fifo_set_version(side->resource->fifo, version, strlen(version));
}

/* The objects that a list brings, as readers see them. */
static void
list(struct side *side)
{
	struct delta_item items[OBJECTS];
	size_t count = 0;

	for (unsigned i = 0; i < OBJECTS; i++)
		if (side->server->objects[i])
			items[count++] = delta_fifo_stage(side->resource->fifo,
							  draft_of(side, side->server->objects[i]));
	assert_int_equal(delta_fifo_replace(side->resource->fifo, items, count), 0);
	set_version(side);
	run(side);
}

/* What the daemon knows of the server: the cluster's id ("": hidden), its CA, its URL. */
struct cluster {
	const char *id, *ca, *server;
	const struct kube_impersonation *as;
};
static const struct cluster here = {"", NULL, "http://a", NULL};

static struct resource_spec *
spec_of(const struct config *config, const struct cluster *cluster)
{
	const struct config_index *indexes[CONFIG_MAX_INDEXES];
	struct resource_spec_world world = {.config = config,
					    .server = cluster->server,
					    .ca = cluster->ca,
					    .ca_length = cluster->ca ? strlen(cluster->ca) : 0,
					    .as = cluster->as};
	_cleanup_(message_freep) char *error = NULL;
	struct resource_spec *spec;

	for (size_t i = 0; i < config->n_indexes; i++)
		indexes[i] = &config->indexes[i];
	if (resource_spec_new(&world, &pods, &config->resources[0], indexes, config->n_indexes, &spec,
			      &error) < 0)
		fail_msg("%s", error);
	return spec;
}

static uint64_t memory = UINT64_MAX; /* allocations_left before caching begins */
static bool memory_sufficed;         /* no allocation failed */

/* Cache the resource; what the last daemon had of it is found. Returns as cached_resource_new(). */
static int
cache_of(struct side *side, const struct cluster *cluster)
{
	struct cached_resource_world world = {.config = &side->config,
					      .store = side->store,
					      .applier = side->applier,
					      .clock = &side->clock.clock,
					      .cluster = cluster->id};
	struct resource_spec *spec = spec_of(&side->config, cluster);
	int r;

	if (side->resource) {
		store_unclaim(side->store, side->resource->id);
		cached_resource_free(side->resource);
		side->resource = NULL;
	}
	allocations_left = memory;
	r = cached_resource_new(&world, spec, &side->config.resources[0], &side->resource);
	memory_sufficed = allocations_left != UINT64_MAX;
	allocations_left = UINT64_MAX;
	if (r == 0)
		side->look = (struct store_fixture){
			.arena = side->arena, .store = side->store, .pods = side->resource->id};
	return r;
}

static struct side *
side_new(const char *dir, const char *yaml)
{
	struct side *side = calloc(1, sizeof(*side));

	side->arena = calloc(1, sizeof(*side->arena));
	assert_true(sodium_init() >= 0);
	assert_int_equal(arena_fixture_make(side->arena, 1u << 30), 0);
	assert_int_equal(store_new(side->arena, NULL, NULL, &side->store), 0);
	virtual_clock_init(&side->clock);
	side->applier = applier_new(side->store, &side->clock.clock);
	side->config = config_built(dir, yaml, "--server http://a");
	side->server = &side->own;
	assert_int_equal(cache_of(side, &here), 0);
	return side;
}

static void
side_free(struct side *side)
{
	cached_resource_free(side->resource);
	applier_free(side->applier);
	store_free(side->store);
	arena_close(side->arena);
	free(side->arena);
	config_done(&side->config);
	for (unsigned i = 0; i < OBJECTS; i++)
		server_drop(&side->own, i);
	free(side);
}

/* Reload: the next daemon finds what this daemon has. */
static void
reload(struct side *side, const char *dir, const char *yaml)
{
	struct config was = side->config;

	run(side);
	side->config = config_built(dir, yaml, "--server http://a");
	assert_int_equal(cache_of(side, &here), 0);
	config_done(&was);
	assert_int_equal(store_commit(side->store), 0);
}

static const struct resource *
known(const struct side *side)
{
	return store_resource(side->store, side->look.pods);
}

static int
note_request(void *context, const struct request_params *params, const struct transport_callbacks *callbacks,
	     void *ctx, void **ret_request)
{
	struct side *side = context;

	(void)callbacks, (void)ctx, (void)ret_request;
	snprintf(side->asked, sizeof(side->asked), params->watch ? "WATCH %s" : "LIST",
		 params->resource_version);
	return -ENOMEM; /* nothing is changed */
}

/* The first request to the server. */
static const char *
asked(struct side *side)
{
	side->resource->spec->lister_watcher.base = (struct lister_watcher){.context = side,
									    .ask = note_request};
	side->asked[0] = '\0';
	cached_resource_start(side->resource);
	return side->asked;
}

/* So many objects are known, and a LIST is due. */
static void
assert_listing(struct side *side, unsigned objects)
{
	assert_int_equal(known(side)->state, RESOURCE_LISTING);
	assert_int_equal(known(side)->object_count, objects);
	assert_string_equal(asked(side), "LIST");
}

/* ---- comparing ---- */

static const char *const index_names[] = {"labels", "nodeName", "podIP", "byUser", "phase", "volume", "tier"};
#define INDEXES (sizeof(index_names) / sizeof(*index_names))

static void
assert_same(struct side *a, struct side *b)
{
	char ns[8], name[8], value[16];

	assert_int_equal(known(a)->object_count, known(b)->object_count);
	for (unsigned i = 0; i < OBJECTS; i++) {
		char *x, *y;

		snprintf(ns, sizeof(ns), "n%u", i % 3);
		snprintf(name, sizeof(name), "p%u", i);
		x = store_fixture_json(&a->look, store_fixture_find(&a->look, ns, name));
		y = store_fixture_json(&b->look, store_fixture_find(&b->look, ns, name));
		assert_int_equal(!x, !a->server->objects[i]);
		assert_true((!x && !y) || (x && y));
		if (x)
			assert_string_equal(x, y);
		free(x);
		free(y);
	}
	for (unsigned n = 0; n < INDEXES; n++)
		for (unsigned v = 0; v < VALUES; v++) {
			snprintf(value, sizeof(value), n == 0 ? "app=v%u" : "v%u", v);
			assert_int_equal(store_fixture_count_by_index(&a->look, index_names[n], value),
					 store_fixture_count_by_index(&b->look, index_names[n], value));
		}
	assert_int_equal(store_fixture_verify(&a->look), 0);
	assert_memory_equal(known(a)->fingerprint, known(b)->fingerprint, FINGERPRINT_BYTES);
	assert_int_equal(known(a)->state, RESOURCE_SYNCED);
}

static void
random_config(char *yaml, size_t size)
{
	static const char *const drops[] = {"spec.volumes", "status.phase", "metadata.annotations",
					    "'spec.volumes[*].name'", "status"};
	static const char *const indexes[] = {"'byUser=pods:metadata.annotations.users:split=,'",
					      "'phase=pods:status.phase'",
					      "'volume=pods:spec.volumes[*].name'",
					      "'tier=pods:metadata.labels.tier'",
					      "'phase=pods:spec.nodeName'",
					      "'byUser=pods:metadata.labels.app'"};
	static const unsigned mate[] = {5, 4, 9, 9, 1, 0}; /* the entry of the same name */
	unsigned chosen = 0;
	int at = snprintf(yaml, size, "keepManagedFields: %s\nresources: [{resource: pods%s, drop: [",
			  chance(4) ? "false" : "true", chance(6) ? "" : ", metadataOnly: true");

	for (unsigned i = 0; i < 5; i++)
		if (chance(3) == 0)
			at += snprintf(yaml + at, size - (size_t)at, "%s, ", drops[i]);
	at += snprintf(yaml + at, size - (size_t)at, "]}]\nindexes: [");
	for (unsigned i = 0; i < 6; i++)
		if (chance(2) == 0 && (mate[i] > 5 || !(chosen >> mate[i] & 1))) {
			chosen |= 1u << i;
			at += snprintf(yaml + at, size - (size_t)at, "%s, ", indexes[i]);
		}
	snprintf(yaml + at, size - (size_t)at, "]\n");
}

/* Send one event of a watch. */
static void
happen(struct side *side)
{
	struct server *server = side->server;
	unsigned i = chance(OBJECTS);
	char *last = server->objects[i];

	if (last && chance(3) == 0) {
		server->version++;
		assert_int_equal(delta_fifo_delete(side->resource->fifo, draft_of(side, last)), 0);
		server_drop(server, i);
	} else {
		server_put(server, i);
		assert_int_equal(delta_fifo_put(side->resource->fifo, draft_of(side, server->objects[i])), 0);
	}
	set_version(side);
}

/* Objects in the index phase; -1: no such index. */
static long
with_phase(struct side *side)
{
	long sum = 0;
	char value[16];

	for (unsigned v = 0; v < VALUES; v++) {
		long count;

		snprintf(value, sizeof(value), "v%u", v);
		count = store_fixture_count_by_index(&side->look, "phase", value);
		sum = count < 0 ? -1 : sum + count;
	}
	return sum;
}

/* ---- tests ---- */

#define TEST(name) TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, name)

/* The result is as if the last configuration had always been there. Only another selection is listed. */
TEST(the_result_is_as_with_the_last_configuration_from_the_start)
{
	for (unsigned round = 0; round < 60; round++) {
		char yaml[1024] = "resources: [pods]\n";
		struct side *side, *fresh;
		struct server *server;

		seed = 0x9e3779b97f4a7c15ull * (round + 1);
		print_message("seed %u\n", round);
		side = side_new(*state, yaml);
		server = side->server;
		server->version = 10;
		for (unsigned i = 0; i < OBJECTS; i++)
			if (chance(2))
				server_put(server, i);
		list(side);
		for (unsigned n = 0; n < 12; n++) {
			uint8_t was[FINGERPRINT_BYTES];

			for (unsigned i = chance(10); i > 0; i--)
				happen(side);
			random_config(yaml, sizeof(yaml));
			memcpy(was, known(side)->fingerprint, sizeof(was));
			reload(side, *state, yaml);
			assert_int_equal(side->resource->adopted,
					 memcmp(was, known(side)->fingerprint, sizeof(was)) == 0);
			if (!side->resource->adopted) {
				assert_int_equal(known(side)->state, RESOURCE_LISTING);
				for (unsigned i = chance(3); i > 0; i--)
					server_put(server, chance(OBJECTS)); /* while the list is under way */
				list(side);
			}
			assert_int_equal(known(side)->state, RESOURCE_SYNCED);
		}
		fresh = side_new(*state, yaml);
		fresh->server = server;
		list(fresh);
		assert_same(side, fresh);
		side_free(fresh);
		side_free(side);
	}
}

/* Ten pods, listed at RV 20. */
static struct side *
side_of_ten(const char *dir, const char *yaml)
{
	struct side *side = side_new(dir, yaml);

	seed = 1;
	side->server->version = 10;
	for (unsigned i = 0; i < 10; i++)
		server_put(side->server, i);
	list(side);
	return side;
}

/* New indexes change no object, and need no request to the server. */
TEST(other_indexes_are_filled_without_a_list)
{
	struct side *side = side_of_ten(*state, "resources: [pods]\n");
	uint64_t seq = store_seq(side->store);

	reload(side, *state, "{resources: [pods], indexes: ['phase=pods:status.phase']}\n");
	assert_int_equal(store_seq(side->store), seq);
	assert_int_equal(known(side)->state, RESOURCE_SYNCED);
	assert_int_equal(with_phase(side), 10);
	assert_string_equal(asked(side), "WATCH 20");
	reload(side, *state, "resources: [pods]\n");
	assert_int_equal(with_phase(side), -1);
	assert_string_equal(asked(side), "WATCH 20");
	side_free(side);
}

/* New drops need a list. Until then all content stays, LISTING. Only differences are published. */
TEST(other_drops_are_listed_and_only_differences_published)
{
	static const struct {
		const char *drop;
		unsigned updates;
	} steps[] = {{"status", 10}, {"status.phase", 10}, {"spec.nothing", 10}, {"spec.nothing.more", 0}};
	struct side *side = side_of_ten(*state, "resources: [pods]\n");

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		uint64_t seq = store_seq(side->store);
		char yaml[128];

		snprintf(yaml, sizeof(yaml), "resources: [{resource: pods, drop: [%s]}]\n", steps[i].drop);
		reload(side, *state, yaml);
		assert_int_equal(store_seq(side->store), seq);
		assert_listing(side, 10);
		list(side);
		assert_int_equal(store_seq(side->store), seq + steps[i].updates);
		assert_int_equal(known(side)->state, RESOURCE_SYNCED);
	}
	side_free(side);
}

/* So does a new selection, whose list drops other objects. A daemon started before it lists, too. */
TEST(another_selection_is_listed)
{
	static const char yaml[] = "resources: [{resource: pods, labelSelector: app=v1}]\n";
	struct side *side = side_of_ten(*state, "resources: [pods]\n");
	uint64_t seq = store_seq(side->store);

	for (unsigned i = 0; i < 2; i++) {
		reload(side, *state, yaml);
		assert_listing(side, 10);
	}
	for (unsigned i = 0; i < 4; i++)
		server_drop(side->server, i);
	list(side);
	assert_int_equal(store_seq(side->store), seq + 4);
	assert_int_equal(known(side)->object_count, 6);
	reload(side, *state, yaml);
	assert_string_equal(asked(side), "WATCH 20");
	side_free(side);
}

/* Content of another server, or of another user, goes at once. */
TEST(content_from_elsewhere_goes)
{
	const struct kube_impersonation jane = {.user = (char[]){"jane"}};
	const struct cluster elsewhere[] = {{"", NULL, "http://b", NULL}, {"", NULL, "http://a", &jane}};

	for (unsigned i = 0; i < 2; i++) {
		struct side *side = side_of_ten(*state, "resources: [pods]\n");

		assert_int_equal(cache_of(side, &elsewhere[i]), 0);
		assert_false(side->resource->adopted);
		assert_listing(side, 0);
		side_free(side);
	}
}

/* Whichever allocation fails, the content stays unclaimed in memory, and the next try finds it. */
TEST(a_failed_try_leaves_the_content_to_the_next)
{
	struct side *side = side_of_ten(*state, "resources: [pods]\n");

	for (memory = 0;; memory++) {
		int r = cache_of(side, &here);

		if (memory_sufficed)
			break;
		assert_true(r == 0 || r == -ENOMEM);
		assert_int_equal(store_resource_count(side->store), 1);
		assert_int_equal(known(side)->object_count, 10);
	}
	assert_in_range(memory, 5, 1000);
	assert_true(side->resource->adopted);
	assert_string_equal(asked(side), "WATCH 20");
	side_free(side);
}

/* ---- clusters ---- */

enum verdict { TRUSTED, LISTED };

/* A daemon of cluster `is` finds content of cluster `was`. */
static void
adopt(const char *dir, struct cluster was, struct cluster is, enum verdict verdict)
{
	struct side *side = side_new(dir, "resources:\n- {resource: pods}\n");
	uint8_t content[FINGERPRINT_BYTES];

	cache_of(side, &was); /* content of no earlier daemon */
	assert_false(side->resource->adopted);
	memcpy(content, side->resource->spec->fingerprint, sizeof(content));
	server_put(side->server, 0);
	list(side);
	for (unsigned i = 0; i < 2; i++) { /* the same in the second round */
		cache_of(side, &is);
		assert_int_equal(side->resource->adopted, verdict == TRUSTED);
		assert_int_equal(known(side)->state, verdict == TRUSTED ? RESOURCE_SYNCED : RESOURCE_LISTING);
		assert_int_equal(known(side)->version_length > 0, verdict == TRUSTED);
		assert_int_equal(known(side)->object_count, 1); /* until a list */
		assert_memory_equal(known(side)->fingerprint, content, FINGERPRINT_CONTENT_BYTES);
	}
	side_free(side);
}

/* A known cluster may have another CA. A cluster with a hidden id must have the same CA. */
TEST(the_ca_counts_where_the_cluster_is_hidden)
{
	const struct cluster known_one = {"1-a", "ca", "http://a", NULL},
			     renewed = {"1-a", "new ca", "http://a", NULL},
			     other = {"2-b", "ca", "http://a", NULL}, hidden = {"", "ca", "http://a", NULL},
			     hidden_other = {"", "new ca", "http://a", NULL};
	const char *dir = *state;

	adopt(dir, known_one, known_one, TRUSTED);
	adopt(dir, known_one, other, LISTED);
	adopt(dir, known_one, hidden, TRUSTED);
	adopt(dir, hidden, hidden, TRUSTED);
	adopt(dir, hidden, known_one, LISTED);
	adopt(dir, known_one, renewed, TRUSTED);
	adopt(dir, known_one, hidden_other, LISTED);
	adopt(dir, hidden, hidden_other, LISTED);
}
