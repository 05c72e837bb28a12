/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resource that becomes another one while it is cached: random histories of objects and configurations,
 * through the plan, the DeltaFIFO and the pipeline, against a store that had the last configuration from the
 * start. The API server is this test: what a list would bring is put into the FIFO.
 */

#include <sodium.h>

#include "tests/room.h"
#include "tests/support/store_fixture.h"
#include "tests/support/temp_dir.h"
#include "tests/support/virtual_clock.h"
#include "writer/resource/cached_resource.h"
#include "writer/base/message.h"
#include "writer/config/options.h"
#include "writer/resource/reload_plan.h"
#include "writer/config/config_build.h"

#define OBJECTS 60u
#define VALUES	5u

static const struct kube_resource pods = {
	.group = (char *)(uintptr_t) "",
	.version = (char *)(uintptr_t) "v1",
	.resource = (char *)(uintptr_t) "pods",
	.kind = (char *)(uintptr_t) "Pod",
	.singular = (char *)(uintptr_t) "pod",
	.namespaced = true,
};

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
	char *objects[OBJECTS];	/* JSON, NULL: not there */
	unsigned version;
};

static void
server_put(struct server *s, unsigned i)
{
	free(s->objects[i]);
	s->version++;
	if (asprintf(&s->objects[i],
		     "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"n%u\",\"uid\":\"u%u\","
		     "\"resourceVersion\":\"%u\","
		     "\"labels\":{\"app\":\"v%u\",\"tier\":\"v%u\"},\"annotations\":{\"users\":\"v%u,v%u\"},"
		     "\"managedFields\":[{\"m\":%u}]},"
		     "\"spec\":{\"nodeName\":\"v%u\",\"volumes\":[{\"name\":\"v%u\"},{\"name\":\"v%u\"}]},"
		     "\"status\":{\"phase\":\"v%u\","
		     "\"podIPs\":[{\"ip\":\"v%u\"}]}}",
		     i, i % 3, i, s->version, chance(VALUES), chance(VALUES), chance(VALUES), chance(VALUES),
		     s->version, chance(VALUES), chance(VALUES), chance(VALUES), chance(VALUES),
		     chance(VALUES)) < 0)
		abort();
}

static void
server_done(struct server *s)
{
	for (unsigned i = 0; i < OBJECTS; i++)
		free(s->objects[i]);
}

/* ---- the daemon's side ---- */

struct side {
	struct arena *arena;
	struct store *store;
	struct virtual_clock clock;
	struct applier *applier;
	struct config config;
	struct cached_resource *resource;
	struct store_fixture look;	/* only to look at */
	struct draft drafted;
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

/* As the server sends it: when that is asked for, metadata alone. */
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
	cached_resource_turn(side->resource);
	while (applier_run(side->applier))
		;
}

static void
set_version(struct side *side, const struct server *server)
{
	char version[16];

	snprintf(version, sizeof(version), "%u", server->version);
	delta_fifo_set_version(side->resource->fifo, version, strlen(version));
}

/* What a list brings. */
static void
list(struct side *side, const struct server *server)
{
	struct delta_item items[OBJECTS];
	size_t count = 0;

	for (unsigned i = 0; i < OBJECTS; i++)
		if (server->objects[i])
			items[count++] = delta_fifo_stage(side->resource->fifo,
							  draft_of(side, server->objects[i]));
	assert_int_equal(delta_fifo_replace(side->resource->fifo, items, count), 0);
	set_version(side, server);
}

static struct config
config_of(const char *dir, const char *yaml)
{
	char *argv[] = {"informerd", "--server", "http://a", "--config",
			(char *)(uintptr_t)temp_file(dir, "c.yaml", yaml)};
	_cleanup_(message_freep) char *error = NULL;
	struct options options;
	struct config config;

	assert_int_equal(options_parse(5, argv, &options, &error), 0);
	if (config_build(&options, &config, &error) < 0)
		fail_msg("%s: %s", yaml, error);
	options_done(&options);
	return config;
}

static struct resource_spec *
spec_by_ca(const struct config *config, const char *ca)
{
	const struct config_index *indexes[CONFIG_MAX_INDEXES];
	struct resource_spec_world world = {
		.config = config, .server = "http://a", .ca = ca, .ca_length = ca ? strlen(ca) : 0};
	_cleanup_(message_freep) char *error = NULL;
	struct resource_spec *spec;

	for (size_t i = 0; i < config->n_indexes; i++)
		indexes[i] = &config->indexes[i];
	if (resource_spec_new(&world, &pods, &config->resources[0], indexes, config->n_indexes, &spec,
			      &error) < 0)
		fail_msg("%s", error);
	return spec;
}

static struct resource_spec *
spec_of(const struct config *config)
{
	return spec_by_ca(config, NULL);
}

static struct side *
side_of(const char *dir, const char *yaml, uint64_t max_bytes)
{
	struct side *side = calloc(1, sizeof(*side));
	struct cached_resource_world world = {.config = &side->config, .cluster = ""};

	side->arena = calloc(1, sizeof(*side->arena));
	assert_true(sodium_init() >= 0);
	assert_int_equal(arena_create_private(side->arena, max_bytes), 0);
	assert_int_equal(store_new(side->arena, NULL, NULL, &side->store), 0);
	virtual_clock_init(&side->clock);
	side->applier = applier_new(side->store, &side->clock.clock);
	side->config = config_of(dir, yaml);
	world.store = side->store;
	world.applier = side->applier;
	world.clock = &side->clock.clock;
	assert_int_equal(cached_resource_new(&world, spec_of(&side->config), &side->config.resources[0],
					     &side->resource),
			 0);
	side->look = (struct store_fixture){
		.arena = side->arena, .store = side->store, .pods = side->resource->id};
	return side;
}

static struct side *
side_new(const char *dir, const char *yaml)
{
	return side_of(dir, yaml, 1u << 30);
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
	free(side);
}

/* What a reload does, but for the Reflector. Returns the changes. */
static unsigned
reload(struct side *side, const char *dir, const char *yaml)
{
	struct config next = config_of(dir, yaml);
	const struct kube_resource *resolved[CONFIG_MAX_INDEXES + 1];
	struct reload_plan plan;
	unsigned changes;

	for (size_t i = 0; i <= CONFIG_MAX_INDEXES; i++)
		resolved[i] = &pods;
	assert_int_equal(reload_plan_make(&(struct reload_side){&side->config, resolved},
					  &(struct reload_side){&next, resolved}, &plan),
			 0);
	assert_int_equal(plan.entries[0].from, 0);
	changes = plan.entries[0].changes;
	if (changes)
		cached_resource_change(side->resource, spec_of(&next), changes);
	reload_plan_done(&plan);
	config_done(&side->config);
	side->config = next;
	cached_resource_set_entry(side->resource, &side->config, &side->config.resources[0]);
	return changes;
}

/* ---- comparing ---- */

static const char *const index_names[] = {"labels", "nodeName", "podIP", "byUser", "phase", "volume", "tier"};
#define INDEXES (sizeof(index_names) / sizeof(*index_names))

static void
assert_same(struct side *a, struct side *b, const struct server *server)
{
	char ns[8], name[8], value[16];

	assert_int_equal(store_resource(a->store, a->look.pods)->object_count,
			 store_resource(b->store, b->look.pods)->object_count);
	for (unsigned i = 0; i < OBJECTS; i++) {
		char *x, *y;

		snprintf(ns, sizeof(ns), "n%u", i % 3);
		snprintf(name, sizeof(name), "p%u", i);
		x = store_fixture_json(&a->look, store_fixture_find(&a->look, ns, name));
		y = store_fixture_json(&b->look, store_fixture_find(&b->look, ns, name));
		assert_int_equal(!x, !server->objects[i]);
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
	assert_memory_equal(store_resource(a->store, a->look.pods)->fingerprint,
			    store_resource(b->store, b->look.pods)->fingerprint, FINGERPRINT_BYTES);
	assert_int_equal(store_resource(a->store, a->look.pods)->state, RESOURCE_SYNCED);
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
	static const unsigned mate[] = {5, 4, 9, 9, 1, 0}; /* of the same name */
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

/* One event of a watch. */
static void
happen(struct side *side, struct server *server)
{
	unsigned i = chance(OBJECTS);
	char *last = server->objects[i];

	if (last && chance(3) == 0) {
		server->version++;
		assert_int_equal(delta_fifo_delete(side->resource->fifo, draft_of(side, last)), 0);
		free(last);
		server->objects[i] = NULL;
	} else {
		server_put(server, i);
		assert_int_equal(delta_fifo_update(side->resource->fifo, draft_of(side, server->objects[i])),
				 0);
	}
	set_version(side, server);
}

/* How many objects stand in the index phase; -1: there is none. */
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

/*
 * Whatever happened to objects and configurations, what is there at the end is what it would be had the last
 * configuration been there from the start; and in between nobody saw half of it: the index that comes with a
 * configuration is whole in the commit that shows it.
 */
TEST(the_end_is_as_if_it_had_been_so_from_the_start)
{
	for (unsigned round = 0; round < 60; round++) {
		struct server server = {.version = 10};
		char yaml[1024] = "resources: [pods]\n";
		struct side *side, *fresh;

		seed = 0x9e3779b97f4a7c15ull * (round + 1);
		print_message("seed %u\n", round);
		side = side_new(*state, yaml);
		for (unsigned i = 0; i < OBJECTS; i++)
			if (chance(2))
				server_put(&server, i);
		list(side, &server);
		run(side);
		for (unsigned n = 0; n < 12; n++) {
			unsigned changes;

			for (unsigned i = chance(10); i > 0; i--)
				happen(side, &server);
			if (chance(2))
				run(side);
			random_config(yaml, sizeof(yaml));
			changes = reload(side, *state, yaml);
			run(side); /* what was queued; then the change */
			run(side);
			assert_false(cached_resource_is_changing(side->resource));
			if (changes & RELOAD_LISTS) {
				assert_int_equal(store_resource(side->store, side->look.pods)->state,
						 RESOURCE_LISTING);
				for (unsigned i = chance(3); i > 0; i--)
					server_put(&server, chance(OBJECTS)); /* meanwhile */
				list(side, &server);
				run(side);
			}
			assert_int_equal(store_resource(side->store, side->look.pods)->state,
					 RESOURCE_SYNCED);
		}
		fresh = side_new(*state, yaml);
		list(fresh, &server);
		run(fresh);
		assert_same(side, fresh, &server);
		side_free(side);
		side_free(fresh);
		server_done(&server);
	}
}

/*
 * Another index is no change of any object: nobody is told anything. What is dropped is, of those that had
 * it.
 */
TEST(only_objects_that_change_are_updated)
{
	struct side *side = side_new(*state, "resources: [pods]\n");
	struct server server = {.version = 10};
	uint64_t seq;

	seed = 1;
	for (unsigned i = 0; i < 10; i++)
		server_put(&server, i);
	list(side, &server);
	run(side);
	seq = store_seq(side->store);
	reload(side, *state, "{resources: [pods], indexes: ['phase=pods:status.phase']}\n");
	run(side);
	assert_int_equal(store_seq(side->store), seq);
	assert_int_equal(with_phase(side), 10);
	reload(side, *state, "resources: [{resource: pods, drop: [spec.nothing]}]\n");
	run(side);
	assert_int_equal(store_seq(side->store), seq);
	assert_int_equal(with_phase(side), -1);
	reload(side, *state, "resources: [{resource: pods, drop: [status]}]\n");
	run(side);
	assert_int_equal(store_seq(side->store), seq + 10);
	assert_int_equal(store_fixture_count_by_index(&side->look, "podIP", "v1"), 0);
	side_free(side);
	server_done(&server);
}

/*
 * A list that repeats the versions that are known brings what was dropped until now all the same, and only
 * where there was something.
 */
TEST(a_list_brings_what_was_dropped)
{
	struct side *side = side_new(*state, "resources: [{resource: pods, drop: [status]}]\n");
	struct server server = {.version = 10};
	uint64_t seq;

	seed = 2;
	for (unsigned i = 0; i < 10; i++)
		server_put(&server, i);
	list(side, &server);
	run(side);
	seq = store_seq(side->store);
	reload(side, *state, "resources: [{resource: pods, drop: [spec.nothing]}]\n");
	run(side);
	assert_int_equal(store_resource(side->store, side->look.pods)->state, RESOURCE_LISTING);
	list(side, &server);
	run(side);
	assert_int_equal(store_seq(side->store), seq + 10);
	reload(side, *state, "resources: [pods]\n");
	run(side);
	list(side, &server);
	run(side);
	assert_int_equal(store_seq(side->store), seq + 10);
	assert_int_equal(store_resource(side->store, side->look.pods)->state, RESOURCE_SYNCED);
	side_free(side);
	server_done(&server);
}

/*
 * While something is queued a change waits; of several that wait the last counts, and nothing that one of
 * them needs is left out.
 */
TEST(a_change_waits_for_what_is_queued)
{
	struct side *side = side_new(*state, "resources: [{resource: pods, drop: [status]}]\n");
	struct server server = {.version = 10};

	seed = 3;
	server_put(&server, 1);
	list(side, &server);
	reload(side, *state, "resources: [pods]\n");
	cached_resource_turn(side->resource);
	assert_true(cached_resource_is_changing(side->resource));
	reload(side, *state, "{resources: [pods], indexes: ['phase=pods:status.phase']}\n");
	run(side);
	run(side);
	assert_false(cached_resource_is_changing(side->resource));
	assert_int_equal(store_resource(side->store, side->look.pods)->state, RESOURCE_LISTING);
	list(side, &server);
	run(side);
	assert_int_equal(store_resource(side->store, side->look.pods)->state, RESOURCE_SYNCED);
	assert_int_equal(with_phase(side), 1);
	side_free(side);
	server_done(&server);
}

#define NUMBERS 9000u

/* A pod that takes 45 KB of the arena, and shares nothing of it. */
static void
server_put_large(struct server *s, unsigned i)
{
	size_t size = NUMBERS * 8 + 512, at;
	char *json = malloc(size);

	s->version++;
	at = (size_t)snprintf(json, size,
			      "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"n%u\",\"uid\":\"u%u\","
			      "\"resourceVersion\":\"%u\"},"
			      "\"status\":{\"phase\":\"v%u\"},\"spec\":{\"numbers\":[0",
			      i, i % 3, i, s->version, i % VALUES);
	for (unsigned k = 0; k < NUMBERS; k++)
		at += (size_t)snprintf(json + at, size - at, ",%u", 1000000 + chance(9000000));
	snprintf(json + at, size - at, "]}}");
	s->objects[i] = json;
}

/* What a daemon that came now would find. */
static const struct resource *
published(const struct side *side)
{
	const struct root *root = root_at(&side->arena->view, atomic_load(&side->arena->header->root));

	return root_resource(&side->arena->view, root, side->look.pods);
}

/*
 * What there is no room for is not shown, neither whole nor in part, and the content is not taken for what it
 * is not; with a configuration that fits everything goes on.
 */
TEST(what_does_not_fit_can_be_taken_back)
{
	static const uint8_t nobody[FINGERPRINT_BYTES];
	struct side *side = side_of(*state, "resources: [pods]\n", ARENA_BYTES_MIN), *fresh;
	struct server server = {.version = 10};

	seed = 4;
	for (unsigned i = 0; i < OBJECTS / 2; i++)
		server_put_large(&server, i);
	list(side, &server);
	run(side);
	reload(side, *state,
	       "{resources: [{resource: pods, drop: [status.phase]}], indexes: "
	       "['number=pods:spec.numbers[*]']}\n");
	for (unsigned turn = 0; turn < 5; turn++) {
		run(side);
		virtual_clock_advance(&side->clock, 60000);
		store_commit(side->store);
		assert_true(cached_resource_is_changing(side->resource));
		assert_memory_equal(published(side)->fingerprint, nobody, sizeof(nobody));
		assert_int_equal(store_fixture_count_by_index(&side->look, "number", "0"), -1);
		assert_int_equal(store_fixture_verify(&side->look), 0);
	}
	server_put(&server, 1); /* it waits behind what does not fit */
	delta_fifo_update(side->resource->fifo, draft_of(side, server.objects[1]));
	set_version(side, &server);
	run(side);
	reload(side, *state, "resources: [{resource: pods, drop: [status.phase]}]\n");
	run(side);
	run(side);
	assert_false(cached_resource_is_changing(side->resource));
	assert_memory_equal(published(side)->fingerprint, side->resource->spec->fingerprint,
			    FINGERPRINT_BYTES);
	fresh = side_new(*state, "resources: [{resource: pods, drop: [status.phase]}]\n");
	list(fresh, &server);
	run(fresh);
	assert_same(side, fresh, &server);
	side_free(side);
	side_free(fresh);
	server_done(&server);
}

/* ---- what the next daemon makes of it ---- */

/* The cluster is known by its id or hidden (""), and vouched for by a CA. */
struct cluster {
	const char *id, *ca;
};

static void
cache_of(struct side *side, const struct cluster *cluster)
{
	struct cached_resource_world world = {.config = &side->config,
					      .store = side->store,
					      .applier = side->applier,
					      .clock = &side->clock.clock,
					      .cluster = cluster->id};

	if (side->resource) {
		store_unclaim(side->store, side->resource->id);
		cached_resource_free(side->resource);
	}
	assert_int_equal(cached_resource_new(&world, spec_by_ca(&side->config, cluster->ca),
					     &side->config.resources[0], &side->resource),
			 0);
}

enum verdict { TRUSTED, LISTED };

/* Content of `was`, met by a daemon of `is`; `former`: by the release whose fingerprints had the CA in them.
 */
static void
adopt(const char *dir, struct cluster was, bool former, struct cluster is, enum verdict verdict)
{
	struct side *side = side_new(dir, "resources:\n- {resource: pods}\n");
	struct server server = {0};
	uint8_t content[FINGERPRINT_BYTES];

	cache_of(side, &was); /* of nobody before */
	assert_false(side->resource->adopted);
	memcpy(content, side->resource->spec->fingerprint, sizeof(content));
	server_put(&server, 0);
	list(side, &server);
	run(side);
	if (former)
		store_set_fingerprint(side->store, side->resource->id,
				      side->resource->spec->former_fingerprint);
	cache_of(side, &is);
	assert_int_equal(side->resource->adopted, verdict == TRUSTED);
	assert_int_equal(store_resource(side->store, side->resource->id)->state,
			 verdict == TRUSTED ? RESOURCE_SYNCED : RESOURCE_LISTING);
	assert_int_equal(store_resource(side->store, side->resource->id)->object_count, 1); /* until a list */
	assert_memory_equal(store_resource(side->store, side->resource->id)->fingerprint, content,
			    FINGERPRINT_CONTENT_BYTES);
	cache_of(side, &is); /* and so it is from then on */
	assert_int_equal(side->resource->adopted, verdict == TRUSTED);
	server_done(&server);
	side_free(side);
}

/*
 * A cluster whose id is known may have another CA; where it is hidden the CA must be the same. So it is for
 * what an older release left.
 */
TEST(the_ca_counts_where_the_cluster_is_hidden)
{
	const struct cluster known = {"1-a", "ca"}, renewed = {"1-a", "new ca"}, other = {"2-b", "ca"},
			     hidden = {"", "ca"}, hidden_other = {"", "new ca"};
	const char *dir = *state;

	for (int former = 0; former <= 1; former++) {
		adopt(dir, known, former, known, TRUSTED);
		adopt(dir, known, former, other, LISTED);
		adopt(dir, known, former, hidden, TRUSTED);
		adopt(dir, hidden, former, hidden, TRUSTED);
		adopt(dir, hidden, former, known, LISTED);
	}
	adopt(dir, known, false, renewed, TRUSTED);
	adopt(dir, known, false, hidden_other, LISTED);
	adopt(dir, hidden, false, hidden_other, LISTED);
}
