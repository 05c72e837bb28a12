/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets up one resource for the daemon: makes its DeltaFIFO and Reflector, adds it to store and applier, and
 * reports its failures to readers.
 */
#include "writer/resource/cached_resource.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/path.h"
#include "shm-layout/value_field.h"
#include "writer/base/log.h"
#include "shm-layout/time_ns.h"
#include "writer/decode/decoder_schema.h"
#include "writer/reflect/watch.h"
#include "writer/resource/redefinition.h"

static void
on_contact(void *context)
{
	const struct cached_resource *c = context;

	if (c->id < RESOURCE_MAX)
		atomic_store_explicit(&store_arena(c->store)->header->contact_boot_ns[c->id],
				      time_ns(CLOCK_BOOTTIME), memory_order_relaxed);
}

void
cached_resource_hear(struct cached_resource *c, uint64_t ago_ms)
{
	uint64_t ago = ago_ms * 1000000, now = time_ns(CLOCK_BOOTTIME);
	struct reflector_status status;
	_Atomic uint64_t *contact;

	if (c->id >= RESOURCE_MAX || !c->reflector || ago_ms > UINT32_MAX || ago > now)
		return;
	reflector_get_status(c->reflector, &status);
	contact = &store_arena(c->store)->header->contact_boot_ns[c->id];
	if (status.state == REFLECTOR_WATCHING && !status.paused &&
	    atomic_load_explicit(contact, memory_order_relaxed) < now - ago)
		atomic_store_explicit(contact, now - ago, memory_order_relaxed);
}

static void
on_failure(void *context, int code, const char *reason, const char *message)
{
	struct cached_resource *c = context;

	c->recheck |= redefinition_may_be(&c->spec->kube, code);
	reflector_error_meet(&c->trouble, code, reason, message, time_ns(CLOCK_REALTIME));
}

static void
on_success(void *context)
{
	struct cached_resource *c = context;

	reflector_error_end(&c->trouble);
}

void
cached_resource_tell(struct cached_resource *c)
{
	char *news = reflector_error_news(&c->trouble);

	/* Without room for the message, the next call tries again. */
	if (news && store_set_status(c->store, c->id, news) == 0)
		reflector_error_published(&c->trouble);
	free(news);
}

/* True if the previous run reported an error to readers, and not its end. */
static bool
is_in_trouble(const struct cached_resource *c)
{
	static const char name[] = "recovered";
	uint32_t status = store_resource(c->store, c->id)->status;
	bool recovered;

	return status &&
	       value_bool(value_field(value_of_block(&store_arena(c->store)->view, status), name,
				      sizeof(name) - 1, shape_fingerprint(name, sizeof(name) - 1)),
			  &recovered) &&
	       !recovered;
}

static void
on_popped(void *context)
{
	struct cached_resource *c = context;

	if (c->reflector)
		reflector_relax(c->reflector);
}

/* Tombstone limits: the entry's, else the file's, else the defaults. */
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

/* Give this resource's content from another CA the current fingerprint. True if there is such content. */
static bool
renew_fingerprints(const struct cached_resource *c)
{
	const uint8_t *ours = c->spec->fingerprint;
	bool other_ca = false;

	for (unsigned id = 0; id < store_resource_count(c->store); id++) {
		const uint8_t *its = store_resource(c->store, id)->fingerprint;

		if (memcmp(its, ours, FINGERPRINT_CONTENT_BYTES) != 0 ||
		    memcmp(its, ours, FINGERPRINT_BYTES) == 0)
			continue;
		store_set_fingerprint(c->store, id, ours);
		other_ca = true;
	}
	return other_ca;
}

/*
 * True if a WATCH can resume at the stored RV. Content of another or unknown cluster becomes LISTING. If the
 * cluster's id is hidden, the CA decides.
 */
static bool
trust_adopted(const struct cached_resource *c, bool kept, bool other_ca, const char *cluster_id)
{
	const struct resource *known = store_resource(c->store, c->id);
	uint8_t cluster[FINGERPRINT_CLUSTER_BYTES];
	bool same;

	fingerprint_cluster(cluster_id, cluster);
	same = *cluster_id ? memcmp(known->cluster, cluster, sizeof(cluster)) == 0 : !other_ca;
	if (!same && kept && known->version_length > 0) {
		log_warning("%s: the cached objects may be of another cluster than the one that answers "
			    "now; listing anew",
			    c->spec->name);
		store_set_version(c->store, c->id, "", 0);
		store_set_state(c->store, c->id, RESOURCE_LISTING);
	}
	if (!same)
		store_set_cluster(c->store, c->id, cluster);
	return kept && same && known->state == RESOURCE_SYNCED && known->version_length > 0;
}

static int
add_to_store(struct cached_resource *c, const struct config *config, const char *cluster)
{
	bool other_ca = renew_fingerprints(c);
	int r = store_add_resource(c->store, c->spec->descriptor, c->spec->fingerprint, &c->id);

	if (r < 0)
		return r;
	if (r == 2)
		log_info("%s: the configuration selects or keeps something else than what is in memory; "
			 "listing anew",
			 c->spec->name);
	c->added = true;
	store_set_tombstone_limits(c->store, c->id, limits_of(config, c->entry));
	if (r == 0 && c->id < RESOURCE_MAX) /* another resource may have had this position */
		atomic_store_explicit(&store_arena(c->store)->header->contact_boot_ns[c->id], 0,
				      memory_order_relaxed);
	c->adopted = trust_adopted(c, r > 0, other_ca, cluster);
	return 0;
}

static struct list_choices
choices_of(const struct config_resource *entry)
{
	return (struct list_choices){
		.watch_list = entry->watch_list != CONFIG_NO,
		.watch_list_in_json = entry->watch_list == CONFIG_YES,
		.page_size = entry->page_size,
		.version = entry->version,
	};
}

static struct reflector_timing
timing_of(const struct config *config)
{
	return (struct reflector_timing){
		.watch_timeout_s = (unsigned)((config->watch_timeout_ms + 999) / 1000),
		.backoff = config->backoff,
	};
}

/* The Reflector's options, from the spec; *source is the caller's. */
static struct reflector_options
options_of(struct cached_resource *c, struct source *source)
{
	struct resource_spec *spec = c->spec;

	*source = resource_spec_source(spec);
	source->fifo = c->fifo;
	source->arena = store_arena(c->store);
	source->intern = store_intern(c->store);
	source->wire = &c->wire;
	source->clock = c->clock;
	source->on_contact = on_contact;
	source->on_failure = on_failure;
	source->on_success = on_success;
	source->context = c;
	return (struct reflector_options){
		.source = source, .refusal_hint = spec->refusal_hint, .choices = choices_of(c->entry)};
}

/* True if all received events are shown, at an RV that the server gave. */
static bool
is_up_to_date(const struct cached_resource *c)
{
	const struct resource *known = store_resource(c->store, c->id);
	struct reflector_status status;

	reflector_get_status(c->reflector, &status);
	return status.state == REFLECTOR_WATCHING && known->state == RESOURCE_SYNCED &&
	       watch_can_resume(known->version, known->version_length) && delta_fifo_is_empty(c->fifo);
}

static int
begin_check(void *context, consistency_done_fn *on_done, void *to, struct consistency_check **ret)
{
	struct cached_resource *c = context;

	if (!is_up_to_date(c))
		return -EAGAIN;
	return consistency_check_start(&c->spec->lister_watcher.base, c->store, &c->id, on_done, to, ret);
}

static void
on_differs(void *context)
{
	reflector_relist(((struct cached_resource *)context)->reflector, RESULT_DIFFERS);
}

static int
make_feed(struct cached_resource *c, const struct cached_resource_world *world)
{
	struct reflector_options options;
	struct source source;

	c->fifo = delta_fifo_new(c->store, c->id);
	if (!c->fifo)
		return -ENOMEM;
	options = options_of(c, &source);
	options.timing = timing_of(world->config);
	c->reflector = reflector_new(&options);
	if (!c->reflector || applier_add(world->applier, c->id, c->fifo, on_popped, c) < 0)
		return -ENOMEM;
	c->applier = world->applier;
	c->checks.name = c->spec->name;
	c->checks.clock = c->clock;
	c->checks.owner = (struct check_schedule_owner){begin_check, on_differs, c};
	check_schedule_set(&c->checks, world->config->check_every_ms);
	return 0;
}

int
cached_resource_new(const struct cached_resource_world *world, struct resource_spec *spec,
		    const struct config_resource *entry, struct cached_resource **ret)
{
	struct cached_resource *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		resource_spec_free(spec);
		return -ENOMEM;
	}
	c->spec = spec;
	c->entry = entry;
	c->store = world->store;
	c->clock = world->clock;
	wire_init(&c->wire, world->clock, entry->wire, world->schema, spec->api_version, spec->kube.kind,
		  spec->metadata_only);
	r = add_to_store(c, world->config, world->cluster);
	if (r == 0 && is_in_trouble(c))
		reflector_error_adopt(&c->trouble);
	if (r == 0)
		r = make_feed(c, world);
	if (r < 0 && c->added)
		store_unclaim(c->store, c->id); /* the next try claims it again */
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
	check_schedule_done(&c->checks);
	reflector_free(c->reflector);
	if (c->applier)
		applier_remove(c->applier, c->fifo);
	reflector_error_done(&c->trouble);
	delta_fifo_free(c->fifo);
	resource_spec_free(c->spec);
	free(c);
}

/* ---- start and status ------------------------------------------------------------------ */

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
	check_schedule_stop(&c->checks);
	applier_distrust(c->applier, c->fifo);
	store_set_cluster(c->store, c->id, hash);
	c->adopted = false;
	if (c->started)
		reflector_relist(c->reflector, RESULT_OTHER_CLUSTER);
}

void
cached_resource_meet_release(struct cached_resource *c)
{
	wire_ask_again(&c->wire);
	decoder_schema_forget_texts(c->spec->schema);
}

void
cached_resource_give_back(struct cached_resource *c)
{
	decoder_schema_give_back(c->spec->schema);
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
