/* SPDX-License-Identifier: Apache-2.0 */
/* Reads some objects of a resource into a scratch store, and counts the rest, for `informerd --estimate`. */
#include "writer/resource/size_sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/decode/decoder_schema.h"
#include "writer/reflect/resource_request.h"

#define HALF (SIZE_SAMPLE_OBJECTS / 2)

struct size_sample {
	struct source source, keys; /* keys: the source of pages that are only counted */
	struct store *store;
	unsigned resource;
	bool whole, counting;
	size_sample_done_fn *on_done;
	void *context;
	struct resource_request request; /* the sample, then one page after another */

	uint64_t seen;                      /* objects in the pages so far */
	uint64_t stored;                    /* in the scratch store */
	uint64_t half_stored;               /* HALF once so many are stored */
	uint64_t used, half_used, end_used; /* bytes in use: before, after half of it, at its end */
	bool page_ended;
	char *continue_token; /* of the page read last; NULL: none, or the last page */
	int64_t remaining;
	struct size_estimate estimate;
};

bool
size_sample_is_whole(const char *field_selector)
{
	return field_selector && strstr(field_selector, "spec.nodeName=");
}

/* Bytes in use that a reader of the newest root can reach. */
static int
measure(struct size_sample *s, uint64_t *ret_used)
{
	struct store_stats stats;
	int r = store_commit(s->store);

	store_stats(s->store, &stats);
	*ret_used = stats.used_bytes - stats.retired_bytes;
	return r;
}

/* ---- the decoder's reports ---- */

/* Takes the draft. */
static int
store_object(struct size_sample *s, struct draft d)
{
	bool same;
	uint32_t found = store_look(s->store, s->resource, d.ref, &same);
	int r = same ? 0 : store_put(s->store, s->resource, d, found);

	if (same || r < 0)
		draft_discard(s->source.arena, s->source.intern, d);
	else
		s->stored++;
	if (r == 0 && !same && s->stored == HALF) {
		r = measure(s, &s->half_used);
		s->half_stored = s->stored;
	}
	return r;
}

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct size_sample *s = context;

	(void)type;
	(void)type_length;
	s->seen++;
	if (!s->counting)
		return store_object(s, d);
	draft_discard(s->source.arena, s->source.intern, d);
	return 0;
}

static int
on_bad_object(void *context, const char *why)
{
	struct size_sample *s = context;

	(void)why;
	s->seen++;
	return 0;
}

static int
on_list_end(void *context, const char *resource_version, const char *continue_token, int64_t remaining)
{
	struct size_sample *s = context;
	size_t length;
	bool has_items;

	(void)resource_version;
	decoder_list_kind(s->request.decoder, &length, &has_items);
	if (!has_items)
		return resource_request_end(&s->request, RESULT_FAILED,
					    "the answer is no list: it has no items");
	if (s->continue_token && strcmp(s->continue_token, continue_token) == 0)
		return resource_request_end(&s->request, RESULT_FAILED,
					    "the server gives the same continue token again and again");
	free(s->continue_token);
	s->continue_token = *continue_token ? strdup(continue_token) : NULL;
	if (*continue_token && !s->continue_token)
		return -ENOMEM;
	s->remaining = *continue_token ? remaining : 0;
	s->page_ended = true;
	return 0;
}

/* ---- requests ---- */

static void on_end(void *owner, struct request_result *ended);

static int
ask(struct size_sample *s)
{
	struct request_params params = {.continue_token = s->continue_token, .metadata_only = s->counting};

	if (s->whole && !s->counting)
		params.resource_version = "0";
	else
		params.limit = SIZE_SAMPLE_OBJECTS;
	s->page_ended = false;
	return resource_request_ask(&s->request, &params);
}

static int
begin(struct size_sample *s, const struct source *source)
{
	static const struct decoder_events events = {
		.on_object = on_object, .on_bad_object = on_bad_object, .on_list_end = on_list_end};
	static const struct resource_request_owner calls = {.what = "list", .on_end = on_end};
	int r;

	s->estimate.read_bytes += s->request.progress.bytes;
	resource_request_done(&s->request);
	s->request = (struct resource_request){.source = source, .calls = &calls, .owner = s};
	r = resource_request_read(&s->request, DECODE_LIST, &events);
	return r < 0 ? r : ask(s);
}

/* From now on count pages. A page may be of whole objects, where the server has nothing else. */
static int
begin_to_count(struct size_sample *s)
{
	s->counting = true;
	s->keys = s->source;
	s->keys.api_version = s->keys.kind = NULL;
	s->keys.wire = NULL;
	s->keys.schema = decoder_schema_new_for_keys();
	return s->keys.schema ? begin(s, &s->keys) : -ENOMEM;
}

/* The sample is complete, and `seen` is its number of objects. */
static int
end_sample(struct size_sample *s)
{
	struct size_estimate *e = &s->estimate;
	int r = measure(s, &s->end_used);

	e->sampled = s->seen;
	e->wire_bytes = s->request.progress.bytes;
	e->arena_bytes = s->end_used > s->used ? s->end_used - s->used : 0;
	if (s->half_stored == 0 || s->stored == s->half_stored) { /* there is no second half */
		s->half_stored = 0;
		s->half_used = s->used;
	}
	return r;
}

/* All objects are counted. */
static void
extrapolate(struct size_sample *s, uint64_t objects)
{
	struct size_estimate *e = &s->estimate;
	uint64_t rest, stored = s->stored - s->half_stored;

	e->objects = objects < UINT32_MAX ? objects : UINT32_MAX;
	rest = e->objects - e->sampled;
	if (e->sampled > 0)
		e->wire_bytes += e->wire_bytes / e->sampled * rest;
	if (stored > 0 && s->end_used > s->half_used)
		e->arena_bytes += (s->end_used - s->half_used) * rest / stored;
}

/* A page has ended well. Returns 1 when the estimate is complete, 0 while another request runs. */
static int
proceed(struct size_sample *s)
{
	int r = s->counting ? 0 : end_sample(s);

	if (r < 0)
		return r;
	if (s->remaining <= 0 && s->continue_token)
		return s->counting ? ask(s) : begin_to_count(s);
	extrapolate(s, s->seen + (s->remaining < UINT32_MAX ? (uint64_t)s->remaining : UINT32_MAX));
	return 1;
}

static void
on_end(void *owner, struct request_result *ended)
{
	struct size_sample *s = owner;
	int r = 1;

	if (ended->kind == RESULT_OTHER_SYNTAX) {
		s->estimate.read_bytes += s->request.progress.bytes;
		s->seen = s->request.progress.bytes = 0;
		r = ask(s);
	} else if (ended->kind == RESULT_OK && !s->page_ended) {
		request_result_set(ended, RESULT_FAILED, "the answer is no list");
	} else if (ended->kind == RESULT_OK) {
		r = proceed(s);
	}
	if (r == 0)
		return;
	if (r < 0)
		request_result_set(ended, RESULT_NO_SPACE, "the sample cannot be kept: %s", strerror(-r));
	s->estimate.read_bytes += s->request.progress.bytes;
	s->on_done(s->context, ended, &s->estimate);
}

/* ---- public functions ---- */

int
size_sample_start(const struct source *source, struct store *store, unsigned resource, bool whole,
		  size_sample_done_fn *on_done, void *context, struct size_sample **ret)
{
	struct size_sample *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->source = *source;
	s->store = store;
	s->resource = resource;
	s->whole = whole;
	s->on_done = on_done;
	s->context = context;
	r = measure(s, &s->used);
	if (r == 0)
		r = begin(s, &s->source);
	if (r < 0)
		size_sample_free(s);
	else
		*ret = s;
	return r;
}

void
size_sample_free(struct size_sample *s)
{
	if (!s)
		return;
	resource_request_done(&s->request);
	decoder_schema_free(s->keys.schema);
	free(s->continue_token);
	free(s);
}

uint64_t
size_sample_seen(const struct size_sample *sample)
{
	return sample->seen;
}
