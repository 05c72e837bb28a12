/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --estimate: one resource after another is sampled (size_sample.h) into a scratch arena, whose file has no
 * name. Nobody's lock, arena or socket is touched.
 */
#include "writer/daemon/daemon_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "shm-layout/time_ns.h"
#include "writer/base/file.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/daemon/estimate_report.h"
#include "writer/resource/size_sample.h"

#define SCRATCH_BYTES (1u << 30)
#define PROGRESS_NS 2000000000ull
#define LOOK_MS 100u
#define DEFAULT_PAGE 500u /* of the Reflector */

struct estimating {
	struct daemon *d;
	const bool *optional;
	struct arena arena;
	struct store *store;
	uint64_t used; /* of the store, when it was last looked at */
	struct estimate estimate;
	struct resource_spec **specs; /* by entry; kept to the end, as informerd keeps what decoders learn */
	int exit_code;
	/* the resource that is sampled now: */
	struct estimate_line *line;
	struct resource_spec *spec;
	struct wire wire;
	struct size_sample *sample;
	bool done;
};

/* ---- the scratch arena ---- */

static int
open_scratch(struct estimating *t)
{
	int directory = t->d->local.place.directory;
	uint8_t master[TAG_MASTER_BYTES];
	char name[64];
	int r;

	snprintf(name, sizeof(name), "informer-estimate-%ld", (long)getpid());
	randombytes_buf(master, sizeof(master));
	r = arena_create(&t->arena, directory, name, 1, SCRATCH_BYTES, master, NULL);
	if (r < 0)
		return r;
	unlinkat(directory, name, 0);
	r = store_new(&t->arena, NULL, NULL, &t->store);
	if (r < 0)
		arena_close(&t->arena);
	return r;
}

static void
close_scratch(struct estimating *t)
{
	store_free(t->store);
	arena_close(&t->arena);
}

static uint64_t
used_bytes(const struct estimating *t)
{
	struct store_stats stats;

	store_stats(t->store, &stats);
	return stats.used_bytes - stats.retired_bytes;
}

/* Anonymous memory of this process; 0: not known. */
static uint64_t
private_bytes(void)
{
	_cleanup_(message_freep) char *text = NULL;
	uint64_t kib = 0;
	const char *at;
	size_t length;

	if (file_read("/proc/self/status", 65536, &text, &length, NULL) < 0)
		return 0;
	at = strstr(text, "RssAnon:");
	return at && sscanf(at, "RssAnon: %" SCNu64, &kib) == 1 ? kib << 10 : 0;
}

/* ---- one resource ---- */

static void
fail(struct estimating *t, const char *problem, int exit_code, const char *why)
{
	t->line->problem = problem;
	if (t->exit_code < exit_code)
		t->exit_code = exit_code;
	if (why)
		log_error("%s: %s", t->line->name, why);
}

/* The requests of a first start, as the Reflector decides. */
static void
set_requests(struct estimating *t, const struct config_resource *entry)
{
	bool protobuf = wire_comes_in_protobuf(&t->wire);
	unsigned page = entry->page_size ? entry->page_size : DEFAULT_PAGE;
	uint64_t objects = t->line->size.objects;

	if (entry->watch_list == CONFIG_YES || (entry->watch_list != CONFIG_NO && protobuf)) {
		t->line->watch_lists = 1;
		return;
	}
	t->line->watches = 1;
	t->line->lists = entry->version == REFLECTOR_VERSION_LATEST && objects > 0
				 ? (objects + page - 1) / page
				 : 1;
}

static void
on_sampled(void *context, const struct request_result *ended, const struct size_estimate *estimate)
{
	struct estimating *t = context;
	_cleanup_(message_freep) char *why = NULL;

	t->done = true;
	uv_stop(&t->d->loop);
	if (ended->kind == RESULT_OK) {
		t->line->size = *estimate;
		t->estimate.bytes += estimate->read_bytes;
		return;
	}
	message_format(&why, "%s%s%s", ended->message ? ended->message : "out of memory",
		       ended->code == 403 && t->spec->refusal_hint ? "; " : "",
		       ended->code == 403 && t->spec->refusal_hint ? t->spec->refusal_hint : "");
	if (ended->kind == RESULT_REFUSED)
		fail(t,
		     ended->code == 403   ? "refused (403)"
		     : ended->code == 404 ? "absent (404)"
					  : "refused (401)",
		     DAEMON_USAGE, why);
	else
		fail(t, "no answer that can be used", DAEMON_UNANSWERED, why);
}

/* Run the loop until the sample is there; say every 2 seconds how far it is. */
static void
await_sample(struct estimating *t)
{
	uint64_t told = time_ns(CLOCK_MONOTONIC);

	while (!t->done && daemon_wait_some(t->d, LOOK_MS)) {
		if (time_ns(CLOCK_MONOTONIC) - told < PROGRESS_NS)
			continue;
		told = time_ns(CLOCK_MONOTONIC);
		fprintf(stderr, "informerd: %s: %" PRIu64 " objects so far\n", t->line->name,
			size_sample_seen(t->sample));
	}
}

static int
sample_spec(struct estimating *t, const struct config_resource *entry)
{
	struct source source = resource_spec_source(t->spec);
	unsigned id;
	int r = store_add_resource(t->store, t->spec->descriptor, t->spec->fingerprint, &id);

	if (r >= 0)
		r = store_commit(t->store);
	if (r < 0)
		return r;
	t->estimate.base_bytes += used_bytes(t) - t->used;
	wire_init(&t->wire, &t->d->clock.clock, entry->wire, t->d->schema, t->spec->api_version,
		  t->spec->kube.kind, t->spec->metadata_only);
	source.arena = &t->arena;
	source.intern = store_intern(t->store);
	source.wire = &t->wire;
	source.clock = &t->d->clock.clock;
	t->done = false;
	r = size_sample_start(&source, t->store, id, size_sample_is_whole(entry->field_selector), on_sampled,
			      t, &t->sample);
	if (r == 0)
		await_sample(t);
	size_sample_free(t->sample);
	t->sample = NULL;
	t->used = used_bytes(t);
	return r;
}

static void
sample_entry(struct estimating *t, const struct kube_resource *const *resolved, size_t i)
{
	const struct config_resource *entry = &t->d->config->resources[i];
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (!resolved[i]) {
		fail(t, "absent: the API server does not have it", t->optional[i] ? DAEMON_OK : DAEMON_USAGE,
		     NULL);
		return;
	}
	r = daemon_make_spec(t->d, resolved, i, &t->specs[i], &error);
	t->spec = t->specs[i];
	if (r < 0) {
		fail(t, "cannot be cached as configured", DAEMON_USAGE, error ? error : strerror(-r));
		return;
	}
	message_format(&t->line->name, "%s", t->spec->name);
	t->line->on_demand = entry->on_demand;
	t->line->is_pods = strcmp(t->spec->group_name, "pods") == 0 && !entry->metadata_only;
	r = sample_spec(t, entry);
	if (r < 0)
		fail(t, "no room for a sample", DAEMON_RUNTIME, strerror(-r));
	else if (!t->line->problem)
		set_requests(t, entry);
}

/* ---- all of them ---- */

static void
run(struct estimating *t, const struct kube_resource *const *resolved)
{
	struct daemon *d = t->d;
	struct transport_stats stats;

	transport_stats(d->transport, &stats);
	t->estimate.name_requests = stats.requests_started;
	for (size_t i = 0; i < t->estimate.count && !d->stopping; i++) {
		t->line = &t->estimate.lines[i];
		message_format(&t->line->name, "%s", d->config->resources[i].resource);
		sample_entry(t, resolved, i);
	}
	transport_stats(d->transport, &stats);
	t->estimate.requests = stats.requests_started;
	t->estimate.private_bytes = private_bytes();
	if (d->stopping) /* by a signal */
		return;
	estimate_print(&t->estimate, stdout);
	daemon_stop(d, fflush(stdout) == 0 ? t->exit_code : DAEMON_RUNTIME);
}

void
daemon_estimate(struct daemon *d, const bool optional[])
{
	struct estimating t = {.d = d, .optional = optional};
	const struct kube_resource **resolved = known_names_of(&d->known, d->config);
	int r;

	clock_clear(&d->clock.clock, &d->discovery_retry); /* for absent resources */
	t.estimate.count = d->config->n_resources;
	t.estimate.configured = d->config->arena_max_bytes;
	t.estimate.lines = calloc(t.estimate.count, sizeof(struct estimate_line));
	t.specs = calloc(t.estimate.count, sizeof(struct resource_spec *));
	r = resolved && t.estimate.lines && t.specs ? open_scratch(&t) : -ENOMEM;
	if (r < 0) {
		log_error("an arena for samples cannot be made in %s: %s",
			  d->config->arena_dir ? d->config->arena_dir : DEFAULT_ARENA_DIR, strerror(-r));
		daemon_stop(d, DAEMON_RUNTIME);
	} else {
		run(&t, resolved);
		for (size_t i = 0; i < t.estimate.count; i++)
			resource_spec_free(t.specs[i]);
		close_scratch(&t);
	}
	free(t.specs);
	for (size_t i = 0; t.estimate.lines && i < t.estimate.count; i++)
		free(t.estimate.lines[i].name);
	free(t.estimate.lines);
	free(resolved);
}
