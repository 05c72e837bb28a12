/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of changes. It grows until its objects exceed the limit and the oldest is older than GW_FRESH_MS. */
#include "tools/informer-gateway/history/change_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/history/arena_object.h"

#define CAPACITY_MIN 64u
/* The first position; lower ones are for prepended changes. */
#define POSITION_BEGIN (1ull << 32)

void
gw_change_log_init(struct gw_change_log *log, const struct gw_log_options *options)
{
	*log = (struct gw_change_log){
		.options = *options, .first = POSITION_BEGIN, .next = POSITION_BEGIN, .floor = UINT64_MAX};
}

static struct gw_logged *
place(const struct gw_change_log *log, uint64_t position)
{
	return &log->ring[position & (log->capacity - 1)];
}

struct api_event *
gw_change_log_at(const struct gw_change_log *log, uint64_t position)
{
	return &place(log, position)->change;
}

/* An object that several changes share counts for each of them. */
static size_t
bytes_of(const struct api_event *change)
{
	size_t bytes = sizeof(struct gw_logged) + gw_object_bytes(change->object);

	if (change->prev && change->prev != change->object)
		bytes += gw_object_bytes(change->prev);
	return bytes;
}

static void
enter(struct gw_change_log *log, uint64_t position, struct api_event change, uint64_t at_ms)
{
	size_t bytes = bytes_of(&change);

	*place(log, position) = (struct gw_logged){change, at_ms};
	log->bytes += bytes;
	api_share_add(log->options.share, bytes);
}

static void
drop_first(struct gw_change_log *log)
{
	struct api_event *change = gw_change_log_at(log, log->first);
	size_t bytes = bytes_of(change);

	log->bytes -= bytes;
	api_share_give_back(log->options.share, bytes);
	log->floor_open = change->again || (log->floor_open && log->floor == change->rv);
	log->floor = change->rv;
	log->first++;
	api_events_done(change, 1);
}

static void
clear(struct gw_change_log *log)
{
	while (log->first < log->next)
		drop_first(log);
	/* the new era's positions, also prepended ones, must differ from all positions of the old era */
	log->first = log->next += POSITION_BEGIN;
}

void
gw_change_log_done(struct gw_change_log *log)
{
	clear(log);
	free(log->ring);
	*log = (struct gw_change_log){0};
}

void
gw_change_log_begin(struct gw_change_log *log, uint64_t rv)
{
	clear(log);
	log->era++;
	log->floor = log->told = rv;
	log->floor_open = log->extended = false;
	log->gap_from = log->gap_to = 0;
}

void
gw_change_log_break(struct gw_change_log *log)
{
	clear(log);
	log->era++;
	log->floor = UINT64_MAX;
	log->told = 0;
}

static void
reserve(struct gw_change_log *log, size_t more)
{
	size_t capacity = log->capacity ? log->capacity : CAPACITY_MIN;
	struct gw_logged *ring;

	while (log->next - log->first + more > capacity)
		capacity *= 2;
	if (capacity == log->capacity)
		return;
	ring = api_alloc(capacity * sizeof(*ring));

	for (uint64_t at = log->first; at < log->next; at++)
		ring[at & (capacity - 1)] = *place(log, at);
	free(log->ring);
	log->ring = ring;
	log->capacity = capacity;
}

uint64_t
gw_change_log_put(struct gw_change_log *log, struct api_event change)
{
	uint64_t position, now = log->options.now_ms();

	reserve(log, 1);
	position = log->next++;
	enter(log, position, change, now);
	gw_change_log_tell(log, change.rv);
	while (log->bytes > log->options.bytes && log->next - log->first > 1 &&
	       place(log, log->first)->at_ms + GW_FRESH_MS <= now)
		drop_first(log);
	return position;
}

struct named {
	const char *key;
	uint64_t position;
};

static int
by_key(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->position > y->position) - (x->position < y->position);
}

void
gw_change_log_forget_before(struct gw_change_log *log)
{
	size_t count = (size_t)(log->next - log->first);
	struct named *all = api_alloc((count + 1) * sizeof(*all));

	for (size_t i = 0; i < count; i++)
		all[i] = (struct named){gw_change_log_at(log, log->first + i)->object->key, log->first + i};
	qsort(all, count, sizeof(*all), by_key);
	for (size_t i = 0; i < count; i++) {
		struct api_event *change = gw_change_log_at(log, all[i].position);

		if ((i == 0 || strcmp(all[i - 1].key, all[i].key) != 0) && change->change != API_ADDED)
			change->unknown = true;
	}
	free(all);
}

void
gw_change_log_prepend(struct gw_change_log *log, struct api_event change)
{
	reserve(log, 1);
	enter(log, --log->first, change, 0);
}

void
gw_change_log_lower(struct gw_change_log *log, uint64_t floor)
{
	log->floor = floor;
	log->floor_open = false;
}

void
gw_change_log_trim(struct gw_change_log *log, size_t bytes)
{
	while (log->bytes > bytes && log->next - log->first > 1)
		drop_first(log);
}

void
gw_change_log_tell(struct gw_change_log *log, uint64_t rv)
{
	if (rv > log->told)
		log->told = rv;
}

void
gw_change_log_gap(struct gw_change_log *log, uint64_t from, uint64_t to)
{
	/* two gaps and the changes between them become one gap, unless the log has forgotten the first gap */
	if (log->gap_to <= log->floor)
		log->gap_from = from;
	log->gap_to = to;
}

/* The first position whose RV is rv or more. */
static uint64_t
lower_bound(const struct gw_change_log *log, uint64_t rv)
{
	uint64_t low = log->first, high = log->next;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (gw_change_log_at(log, middle)->rv < rv)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int
gw_change_log_position(const struct gw_change_log *log, uint64_t rv, uint64_t *ret_position)
{
	uint64_t at;

	if (log->told == 0 || rv < log->floor || (rv == log->floor && log->floor_open))
		return -ESTALE;
	if (rv > log->gap_from && rv < log->gap_to)
		return -ESTALE;
	at = lower_bound(log, rv);
	while (at < log->next && gw_change_log_at(log, at)->rv == rv && !gw_change_log_at(log, at)->again)
		at++;
	*ret_position = at;
	return 0;
}

void
gw_change_log_event(struct gw_change_log *log, uint64_t position, struct api_event *ret_event)
{
	struct api_event *change = gw_change_log_at(log, position);

	if (!change->frames)
		change->frames = api_frames_new(log->options.share);
	*ret_event = *change;
	api_object_ref(change->object);
	if (change->prev)
		api_object_ref(change->prev);
	api_frames_ref(change->frames);
}
