/*
 * One resource that is cached.
 */
#include "writer/cached_resource.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shm-layout/path.h"
#include "shm-layout/value.h"
#include "writer/descriptor.h"
#include "writer/kube/rbac.h"
#include "writer/log.h"
#include "writer/message.h"
#include "writer/redefinition.h"

/* A WATCH's objects carry these two, a LIST's do not: they stand in the descriptor. */
static const char *const always_dropped[] = { "apiVersion", "kind" };

static void
on_contact(void *context)
{
	const struct cached_resource *c = context;
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	if (c->id < RESOURCE_MAX)
		atomic_store_explicit(&store_arena(c->store)->header->contact_boot_ns[c->id],
				      (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec, memory_order_relaxed);
}

static void
on_failure(void *context, int code, const char *reason, const char *message)
{
	struct cached_resource *c = context;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	c->doubted |= redefinition_may_be(&c->kube, code);
	trouble_meet(&c->trouble, code, reason, message, (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
}

static void
on_success(void *context)
{
	struct cached_resource *c = context;

	trouble_end(&c->trouble);
}

void
cached_resource_tell(struct cached_resource *c)
{
	char *news = trouble_news(&c->trouble);

	/* Without room for it, it is tried again. */
	if (news && store_set_status(c->store, c->id, news) == 0)
		trouble_was_told(&c->trouble);
	free(news);
}

/* The daemon before told of trouble, and not of its end. */
static bool
is_in_trouble(const struct cached_resource *c)
{
	static const char name[] = "recovered";
	uint32_t status = store_resource(c->store, c->id)->status;
	bool recovered;

	return status && value_bool(value_field(value_of_block(&store_arena(c->store)->view, status), name, sizeof(name) - 1,
						path_fingerprint(name, sizeof(name) - 1)), &recovered) && !recovered;
}

static void
on_popped(void *context)
{
	struct cached_resource *c = context;

	if (c->reflector)
		reflector_relax(c->reflector);
}

/* What the configuration leaves out of bodies; free() the array alone. NULL without memory. */
static const char **
drops_of(const struct config *config, const struct config_resource *entry, size_t *ret_count)
{
	const char **drops = calloc(entry->n_drops + 1, sizeof(*drops));
	size_t count = 0;

	if (!drops)
		return NULL;
	if (!config->keep_managed_fields)
		drops[count++] = "metadata.managedFields";
	for (size_t i = 0; i < entry->n_drops; i++)
		drops[count++] = entry->drops[i];
	*ret_count = count;
	return drops;
}

static int
make_schema(struct cached_resource *c, const char *const *drops, size_t drop_count, char **ret_error)
{
	size_t extra = sizeof(always_dropped) / sizeof(always_dropped[0]);
	const char **all = calloc(drop_count + extra, sizeof(*all));
	int bad = -1;

	if (!all)
		return -ENOMEM;
	memcpy(all, always_dropped, sizeof(always_dropped));
	if (drop_count > 0)
		memcpy(all + extra, drops, drop_count * sizeof(*drops));
	c->schema = decoder_schema_new(all, drop_count + extra, &bad);
	if (!c->schema && bad >= 0)
		message_set(ret_error, -EINVAL, "%s: drop: '%s' is no possible path", c->entry->origin, all[bad]);
	free(all);
	return c->schema ? 0 : bad >= 0 ? -EINVAL : -ENOMEM;
}

/* What this entry says about deletions, else what the file says for all, else the default. */
static struct tombstone_limits
limits_of(const struct config *config, const struct config_resource *entry)
{
	const struct config_tombstones *said[] = {&config->tombstones, &entry->tombstones};
	struct tombstone_limits limits = STORE_TOMBSTONES;

	for (size_t i = 0; i < 2; i++) {
		if (said[i]->count_said)
			limits.count = said[i]->count;
		if (said[i]->bytes)
			limits.bytes = said[i]->bytes;
		if (said[i]->seconds)
			limits.age_ns = said[i]->seconds * 1000000000ull;
	}
	return limits;
}

/*
 * Whether the RV that stands beside the content may be gone on from. What came from another cluster, or from one that was not known, is
 * LISTING from now on; where the cluster is hidden, the fingerprint alone must do.
 */
static bool
trust_adopted(const struct cached_resource *c, bool kept, const char *cluster_id)
{
	const struct resource *known = store_resource(c->store, c->id);
	uint8_t cluster[FINGERPRINT_CLUSTER_BYTES];
	bool same;

	fingerprint_cluster(cluster_id, cluster);
	same = !*cluster_id || memcmp(known->cluster, cluster, sizeof(cluster)) == 0;
	if (!same && kept && known->version_length > 0) {
		log_warning("%s: what is in memory was not known to be of the cluster that answers now; listing anew", c->name);
		store_set_version(c->store, c->id, "", 0);
		store_set_state(c->store, c->id, RESOURCE_LISTING);
	}
	if (!same)
		store_set_cluster(c->store, c->id, cluster);
	return kept && same && known->state == RESOURCE_SYNCED && known->version_length > 0;
}

static int
add_to_store(struct cached_resource *c, const struct cached_resource_world *world, const char *const *drops,
	     size_t drop_count, const struct config_index *const *indexes, size_t index_count, char **ret_error)
{
	_cleanup_(message_freep) char *json = NULL;
	uint8_t fingerprint[FINGERPRINT_BYTES];
	struct fingerprint_source source = {
		.server = world->server, .ca = world->ca, .ca_length = world->ca_length, .as = world->as, .resource = &c->kube,
		.namespace_ = c->entry->namespace_, .label_selector = c->entry->label_selector,
		.field_selector = c->entry->field_selector, .drops = drops, .drop_count = drop_count, .metadata_only = c->entry->metadata_only,
	};
	struct descriptor_source descriptor = {
		.resource = &c->kube, .namespace_ = c->entry->namespace_, .label_selector = c->entry->label_selector,
		.field_selector = c->entry->field_selector, .drops = drops, .drop_count = drop_count,
		.metadata_only = c->entry->metadata_only, .on_demand = c->entry->on_demand, .indexes = indexes,
		.index_count = index_count,
	};
	int r;

	r = descriptor_build(&descriptor, &json, ret_error);
	if (r == 0)
		r = fingerprint_make(&source, fingerprint);
	if (r == 0)
		r = store_add_resource(world->store, json, fingerprint, &c->id);
	if (r < 0)
		return r;
	store_set_tombstone_limits(world->store, c->id, limits_of(world->config, c->entry));
	c->adopted = trust_adopted(c, r == 1, world->cluster);
	return 0;
}

static struct reflector_choices
choices_of(const struct config_resource *entry)
{
	return (struct reflector_choices){
		.watch_list = entry->watch_list != CONFIG_NO, .page_size = entry->page_size, .version = entry->version,
	};
}

static int
make_feed(struct cached_resource *c, const struct cached_resource_world *world)
{
	_cleanup_(message_freep) char *hint = rbac_hint_line(&c->kube, c->entry->namespace_);
	_cleanup_(message_freep) char *text = NULL;
	struct known_objects known;
	struct feed feed;
	struct reflector_options options = { .feed = &feed, .timing = world->timing, .choices = choices_of(c->entry) };

	if (hint && asprintf(&text, "grant informerd this RBAC rule: %s", hint) < 0)
		text = NULL;
	options.refusal_hint = text;
	c->known = (struct store_known){ world->store, c->id };
	known = store_known_objects(&c->known);
	c->fifo = delta_fifo_new(&known);
	if (!c->fifo || kube_lister_watcher_init(&c->source, world->transport, &c->kube, c->entry->namespace_,
						 c->entry->label_selector, c->entry->field_selector) < 0)
		return -ENOMEM;
	c->source.metadata_only = c->entry->metadata_only;
	feed = (struct feed){
		.name = c->name, .kind = c->entry->metadata_only ? "PartialObjectMetadata" : c->kube.kind,
		.custom = !c->entry->metadata_only && strchr(c->kube.group, '.') != NULL, .source = &c->source.base, .fifo = c->fifo, .arena = store_arena(world->store),
		.intern = store_intern(world->store), .schema = c->schema, .clock = world->clock,
		.on_contact = on_contact, .on_failure = on_failure, .on_success = on_success, .context = c,
	};
	c->reflector = reflector_new(&options);
	if (!c->reflector)
		return -ENOMEM;
	if (pipeline_add(world->pipeline, c->id, c->name, c->fifo, on_popped, c) < 0)
		return -ENOMEM;
	c->pipeline = world->pipeline;
	return 0;
}

int
cached_resource_new(const struct cached_resource_world *world, const struct kube_resource *kube,
		    const struct config_resource *entry, const struct config_index *const *indexes, size_t index_count,
		    struct cached_resource **ret, char **ret_error)
{
	struct cached_resource *c = calloc(1, sizeof(*c));
	const char **drops = NULL;
	size_t drop_count = 0;
	int r = -ENOMEM;

	if (!c)
		return -ENOMEM;
	c->entry = entry;
	c->store = world->store;
	c->group_name = kube_resource_group_name(kube);
	if (!c->group_name || kube_resource_copy(kube, &c->kube) < 0)
		goto out;
	c->name = NULL;
	if (asprintf(&c->name, "%s%s%s", c->group_name, entry->namespace_ ? " in " : "",
		     entry->namespace_ ? entry->namespace_ : "") < 0) {
		c->name = NULL;
		goto out;
	}
	drops = drops_of(world->config, entry, &drop_count);
	if (!drops)
		goto out;
	r = make_schema(c, drops, drop_count, ret_error);
	if (r == 0)
		r = add_to_store(c, world, drops, drop_count, indexes, index_count, ret_error);
	if (r == 0 && is_in_trouble(c))
		trouble_adopt(&c->trouble);
	if (r == 0)
		r = make_feed(c, world);
out:
	free(drops);
	if (r < 0)
		cached_resource_free(c);
	else
		*ret = c;
	return r;
}

void
cached_resource_free(struct cached_resource *c)
{
	if (!c)
		return;
	reflector_free(c->reflector);
	if (c->pipeline)
		pipeline_remove(c->pipeline, c->fifo);
	trouble_done(&c->trouble);
	kube_lister_watcher_done(&c->source);
	delta_fifo_free(c->fifo);
	decoder_schema_free(c->schema);
	kube_resource_done(&c->kube);
	free(c->name);
	free(c->group_name);
	free(c);
}

void
cached_resource_set_entry(struct cached_resource *c, const struct config *config, const struct config_resource *entry)
{
	c->entry = entry;
	store_set_tombstone_limits(c->store, c->id, limits_of(config, entry));
	reflector_set_choices(c->reflector, choices_of(entry));
}

void
cached_resource_start(struct cached_resource *c)
{
	const struct resource *known = store_resource(c->store, c->id);
	char version[RESOURCE_VERSION_MAX];
	size_t length;

	if (c->started)
		return;
	c->started = true;
	length = c->adopted ? known->version_length : 0;

	memcpy(version, known->version, length);
	reflector_start(c->reflector, version, length);
}

void
cached_resource_distrust(struct cached_resource *c, const char *cluster)
{
	uint8_t hash[FINGERPRINT_CLUSTER_BYTES];

	fingerprint_cluster(cluster, hash);
	pipeline_distrust(c->pipeline, c->fifo);
	store_set_cluster(c->store, c->id, hash);
	c->adopted = false;
	if (c->started)
		reflector_relist(c->reflector, OUTCOME_OTHER_CLUSTER);
}

void
cached_resource_renumber(struct cached_resource *c, unsigned id)
{
	_Atomic uint64_t *contact = store_arena(c->store)->header->contact_boot_ns;

	if (id < RESOURCE_MAX && c->id < RESOURCE_MAX)
		atomic_store_explicit(&contact[id], atomic_load_explicit(&contact[c->id], memory_order_relaxed),
				      memory_order_relaxed);
	c->id = id;
	c->known.resource = id;
	pipeline_renumber(c->pipeline, c->fifo, id);
}

bool
cached_resource_is_synced(const struct cached_resource *c)
{
	return store_resource(c->store, c->id)->state == RESOURCE_SYNCED;
}

bool
cached_resource_is_dormant(const struct cached_resource *c)
{
	return !c->started;
}

bool
cached_resource_starts_by_itself(const struct cached_resource *c)
{
	return !c->entry->on_demand || c->adopted || store_resource(c->store, c->id)->object_count > 0;
}
