/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two configurations for daemon_reload.c, field by field and entry by entry, pairs old entries
 * with new ones, and says in words what would change.
 */
#include "writer/resource/reload_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "writer/base/growing.h"

/* ---- fields ----------------------------------------------------------------------- */

enum field_form { TEXT, PLAIN, LIST };

struct field {
	const char *name;
	enum field_form form;
	bool later;
	size_t offset, size;	/* LIST: of the pointer, and of an element */
	size_t count_offset;	/* LIST */
};

#define AT(member) offsetof(struct config, member), sizeof(((struct config *)0)->member)
#define TEXT_FIELD(name, member, later) { name, TEXT, later, AT(member), 0 }
#define PLAIN_FIELD(name, member, later) { name, PLAIN, later, AT(member), 0 }
#define LIST_FIELD(name, member, count, later) { name, LIST, later, offsetof(struct config, member), \
	sizeof(*((struct config *)0)->member), offsetof(struct config, count) }
#define LATER true
#define NOW false

static const struct field fields[] = {
	TEXT_FIELD("kubeconfig", choice.kubeconfig, LATER),
	TEXT_FIELD("context", choice.context, LATER),
	TEXT_FIELD("cluster", choice.cluster, LATER),
	TEXT_FIELD("user", choice.user, LATER),
	TEXT_FIELD("server", choice.server, LATER),
	TEXT_FIELD("certificateAuthority", choice.certificate_authority, LATER),
	PLAIN_FIELD("insecureSkipTlsVerify", choice.insecure_skip_tls_verify, LATER),
	TEXT_FIELD("tlsServerName", choice.tls_server_name, LATER),
	TEXT_FIELD("clientCertificate", choice.client_certificate, LATER),
	TEXT_FIELD("clientKey", choice.client_key, LATER),
	TEXT_FIELD("as", choice.as, LATER),
	TEXT_FIELD("asUid", choice.as_uid, LATER),
	PLAIN_FIELD("disableCompression", choice.disable_compression, LATER),
	PLAIN_FIELD("compression", choice.compression, LATER),
	PLAIN_FIELD("requestTimeout", choice.request_timeout_ms, LATER),
	TEXT_FIELD("schema", schema, LATER),
	TEXT_FIELD("socket", socket, LATER),
	TEXT_FIELD("arena.dir", arena_dir, LATER),
	TEXT_FIELD("arena.name", arena_name, LATER),
	PLAIN_FIELD("access.maxReaders", max_readers, LATER),
	TEXT_FIELD("metricsAddress", metrics_address, LATER),
	PLAIN_FIELD("arena.maxBytes", arena_max_bytes, NOW),
	PLAIN_FIELD("arena.holdBytes", hold_bytes, NOW),
	PLAIN_FIELD("arena.holdSeconds", hold_seconds, NOW),
	LIST_FIELD("access.uids", allow_uids, n_allow_uids, NOW),
	LIST_FIELD("access.gids", allow_gids, n_allow_gids, NOW),
	PLAIN_FIELD("events.queueEntries", queue_entries, NOW),
	PLAIN_FIELD("events.maxQueueEntries", max_queue_entries, NOW),
	PLAIN_FIELD("events.queueBytes", queue_bytes, NOW),
	PLAIN_FIELD("events.queueSeconds", queue_seconds, NOW),
	PLAIN_FIELD("events.maxQueueMemory", max_queue_memory, NOW),
	PLAIN_FIELD("consumers.perUser", consumers_per_user, NOW),
	PLAIN_FIELD("consumers.total", consumers_total, NOW),
	PLAIN_FIELD("consumers.days", consumer_days, NOW),
	PLAIN_FIELD("watchTimeout", watch_timeout_ms, NOW),
	PLAIN_FIELD("checkEvery", check_every_ms, NOW),
	PLAIN_FIELD("backoff.initial", backoff.first_ms, NOW),
	PLAIN_FIELD("backoff.max", backoff.max_ms, NOW),
	PLAIN_FIELD("backoff.reset", backoff.reset_ms, NOW),
	PLAIN_FIELD("allowSecrets", allow_secrets, NOW),
	PLAIN_FIELD("logLevel", log_level, NOW),
};
#define N_FIELDS (sizeof(fields) / sizeof(*fields))
static const char as_groups[] = "asGroups";
_Static_assert(N_FIELDS + 1 <= RELOAD_FIELDS, "reload_plan: room for every field");

static bool
same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool
same_texts(char *const *a, size_t n_a, char *const *b, size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

static const void *
value_at(const struct config *config, size_t offset)
{
	return (const char *)config + offset;
}

static bool
same_field(const struct field *f, const struct config *a, const struct config *b)
{
	const void *x = value_at(a, f->offset), *y = value_at(b, f->offset);
	size_t n;

	switch (f->form) {
	case TEXT:
		return same_text(*(char *const *)x, *(char *const *)y);
	case PLAIN:
		return memcmp(x, y, f->size) == 0;
	case LIST:
		n = *(const size_t *)value_at(a, f->count_offset);
		return n == *(const size_t *)value_at(b, f->count_offset) &&
		       (n == 0 || memcmp(*(const void *const *)x, *(const void *const *)y, n * f->size) == 0);
	}
	return true;
}

static void
compare_fields(const struct config *before, const struct config *after, struct reload_plan *plan)
{
	for (size_t i = 0; i < N_FIELDS; i++) {
		if (same_field(&fields[i], before, after))
			continue;
		if (fields[i].later)
			plan->later[plan->n_later++] = fields[i].name;
		else
			plan->now[plan->n_now++] = fields[i].name;
	}
	if (!same_texts(before->choice.as_groups, before->choice.n_as_groups,
			after->choice.as_groups, after->choice.n_as_groups))
		plan->later[plan->n_later++] = as_groups;
}

static void
exchange(void *a, void *b, size_t size)
{
	char kept[sizeof(struct server_choice)];

	memcpy(kept, a, size);
	memcpy(a, b, size);
	memcpy(b, kept, size);
}

void
reload_keep_later(struct config *before, struct config *after)
{
	exchange(&before->choice, &after->choice, sizeof(before->choice));
	for (size_t i = 0; i < N_FIELDS; i++)
		if (fields[i].later && fields[i].offset >= sizeof(before->choice)) /* it stands first */
			exchange((char *)before + fields[i].offset, (char *)after + fields[i].offset,
				 fields[i].size);
}
_Static_assert(offsetof(struct config, choice) == 0, "reload_plan: the connection goes as a whole");

/* ---- entries ------------------------------------------------------------------------ */

/* Do two names mean one resource? Where it is not known what they mean, what was written has to do. */
static bool
same_resource(const struct reload_side *a, size_t i, const char *a_name, const struct reload_side *b,
	      size_t k, const char *b_name)
{
	const struct kube_resource *x = a->resolved[i], *y = b->resolved[k];

	if (x && y)
		return strcmp(x->group, y->group) == 0 && strcmp(x->resource, y->resource) == 0;
	return strcasecmp(a_name, b_name) == 0;
}

static bool
same_entry(const struct reload_side *a, size_t i, const struct reload_side *b, size_t k)
{
	return same_resource(a, i, a->config->resources[i].resource, b, k, b->config->resources[k].resource);
}

/*
 * Of the old entries that none continues: the one of this resource, and namespace if it has to be the
 * same.
 */
static size_t
find_old(const struct reload_side *before, const struct reload_side *after, size_t k, bool same_namespace,
	 const bool *taken)
{
	for (size_t i = 0; i < before->config->n_resources; i++)
		if (!taken[i] && same_entry(before, i, after, k) &&
		    (!same_namespace || same_text(before->config->resources[i].namespace_,
						  after->config->resources[k].namespace_)))
			return i;
	return RELOAD_NEW;
}

static bool
has_drop(const struct config_resource *entry, const char *drop)
{
	for (size_t i = 0; i < entry->n_drops; i++)
		if (strcmp(entry->drops[i], drop) == 0)
			return true;
	return false;
}

/* The drop itself, or a drop of something that it is a part of. */
static bool
is_dropped(const struct config_resource *entry, const char *path)
{
	for (size_t i = 0; i < entry->n_drops; i++) {
		size_t length = strlen(entry->drops[i]);

		if (strncmp(entry->drops[i], path, length) == 0 &&
		    (path[length] == '\0' || path[length] == '.' || path[length] == '['))
			return true;
	}
	return false;
}

static unsigned
compare_bodies(const struct config *before, const struct config_resource *a, const struct config *after,
	       const struct config_resource *b)
{
	unsigned changes = 0;

	if (a->metadata_only != b->metadata_only)
		changes |= b->metadata_only ? RELOAD_DROPS : RELOAD_KEEPS;
	if (before->keep_managed_fields != after->keep_managed_fields)
		changes |= after->keep_managed_fields ? RELOAD_KEEPS : RELOAD_DROPS;
	for (size_t i = 0; i < a->n_drops; i++)
		if (!is_dropped(b, a->drops[i]))
			changes |= RELOAD_KEEPS;
	for (size_t i = 0; i < b->n_drops; i++)
		if (!is_dropped(a, b->drops[i]))
			changes |= RELOAD_DROPS;
	if (changes == 0 && !same_texts(a->drops, a->n_drops, b->drops, b->n_drops)) {
		/*
		 * what is dropped is the same, but how that is said decides what a daemon that comes after us
		 * adopts
		 */
		changes = RELOAD_WORDS;
		for (size_t i = 0; i < a->n_drops; i++)
			if (!has_drop(b, a->drops[i]))
				changes = RELOAD_DROPS;
	}
	return changes;
}

/* The next index over this entry's resource, at or behind i; n_indexes: none. */
static size_t
next_index(const struct reload_side *side, size_t entry, size_t i)
{
	const struct config *config = side->config;

	while (i < config->n_indexes &&
	       !same_resource(side, config->n_resources + i, config->indexes[i].resource, side, entry,
			      config->resources[entry].resource))
		i++;
	return i;
}

static bool
same_index(const struct config_index *a, const struct config_index *b)
{
	return strcmp(a->name, b->name) == 0 && same_text(a->split, b->split) &&
	       same_texts(a->paths, a->n_paths, b->paths, b->n_paths);
}

static bool
same_indexes(const struct reload_side *before, size_t i, const struct reload_side *after, size_t k)
{
	size_t a = 0, b = 0;

	for (;; a++, b++) {
		a = next_index(before, i, a);
		b = next_index(after, k, b);
		if (a == before->config->n_indexes || b == after->config->n_indexes)
			return a == before->config->n_indexes && b == after->config->n_indexes;
		if (!same_index(&before->config->indexes[a], &after->config->indexes[b]))
			return false;
	}
}

static bool
same_tombstones(const struct config_tombstones *a, const struct config_tombstones *b)
{
	return a->count_said == b->count_said && a->count == b->count && a->bytes == b->bytes &&
	       a->seconds == b->seconds;
}

static unsigned
compare_entries(const struct reload_side *before, size_t i, const struct reload_side *after, size_t k)
{
	const struct config_resource *a = &before->config->resources[i], *b = &after->config->resources[k];
	const struct kube_resource *x = before->resolved[i], *y = after->resolved[k];
	unsigned changes = compare_bodies(before->config, a, after->config, b);

	if (!same_text(a->namespace_, b->namespace_) || !same_text(a->label_selector, b->label_selector) ||
	    !same_text(a->field_selector, b->field_selector) ||
	    (x && y && strcmp(x->version, y->version) != 0))
		changes |= RELOAD_SELECTION;
	if (!same_indexes(before, i, after, k))
		changes |= RELOAD_INDEXES;
	if (a->on_demand != b->on_demand)
		changes |= RELOAD_WORDS;
	if (a->watch_list != b->watch_list || a->page_size != b->page_size || a->version != b->version ||
	    a->wire != b->wire)
		changes |= RELOAD_CHOICES;
	if (!same_tombstones(&a->tombstones, &b->tombstones) ||
	    !same_tombstones(&before->config->tombstones, &after->config->tombstones))
		changes |= RELOAD_TOMBSTONES;
	if (a->optional != b->optional)
		changes |= RELOAD_OPTIONAL;
	return changes;
}

int
reload_plan_make(const struct reload_side *before, const struct reload_side *after, struct reload_plan *ret)
{
	size_t n_before = before->config->n_resources, n_after = after->config->n_resources;
	bool *taken = calloc(n_before + 1, sizeof(*taken));
	struct reload_plan plan = {
		.entries = calloc(n_after + 1, sizeof(*plan.entries)), .n_entries = n_after,
		.gone = calloc(n_before + 1, sizeof(*plan.gone)),
	};

	if (!taken || !plan.entries || !plan.gone) {
		free(taken);
		reload_plan_done(&plan);
		return -ENOMEM;
	}
	compare_fields(before->config, after->config, &plan);
	for (size_t k = 0; k < n_after; k++) {
		plan.entries[k].from = find_old(before, after, k, true, taken);
		if (plan.entries[k].from != RELOAD_NEW)
			taken[plan.entries[k].from] = true;
	}
	for (size_t k = 0; k < n_after; k++) {
		struct reload_entry *entry = &plan.entries[k];

		if (entry->from == RELOAD_NEW)
			entry->from = find_old(before, after, k, false, taken);
		if (entry->from == RELOAD_NEW)
			continue;
		taken[entry->from] = true;
		entry->changes = compare_entries(before, entry->from, after, k);
	}
	for (size_t i = 0; i < n_before; i++)
		if (!taken[i])
			plan.gone[plan.n_gone++] = i;
	free(taken);
	*ret = plan;
	return 0;
}

void
reload_plan_done(struct reload_plan *plan)
{
	free(plan->entries);
	free(plan->gone);
	memset(plan, 0, sizeof(*plan));
}

/* ---- saying it ------------------------------------------------------------------------ */

bool
reload_plan_is_empty(const struct reload_plan *plan)
{
	for (size_t k = 0; k < plan->n_entries; k++)
		if (plan->entries[k].from == RELOAD_NEW || plan->entries[k].changes != 0)
			return false;
	return plan->n_now == 0 && plan->n_gone == 0;
}

static bool
add(struct bytes *text, const char *words)
{
	return bytes_append(text, words, strlen(words)) == 0;
}

static bool
add_list(struct bytes *text, const char *const *words, size_t count)
{
	bool ok = true;

	for (size_t i = 0; i < count; i++)
		ok = ok && add(text, i ? ", " : "") && add(text, words[i]);
	return ok;
}

static bool
add_entry(struct bytes *text, const struct config_resource *entry, const char *const *words, size_t count)
{
	bool ok = add(text, text->length ? "; " : "") && add(text, entry->resource);

	if (entry->namespace_)
		ok = ok && add(text, " in ") && add(text, entry->namespace_);
	return ok && add(text, ": ") && add_list(text, words, count);
}

static bool
add_changes(struct bytes *text, const struct config_resource *entry, unsigned changes)
{
	static const char *const names[] = {
		"selection",          "more is kept",   "more is dropped", "indexes",
		"on demand or order", "way of listing", "tombstones",      "optional"};
	const char *words[sizeof(names) / sizeof(*names)];
	size_t count = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (changes >> i & 1)
			words[count++] = names[i];
	return count == 0 || add_entry(text, entry, words, count);
}

static char *
take(struct bytes *text, bool ok)
{
	if (ok && bytes_append(text, "", 1) == 0)
		return (char *)text->data;
	bytes_done(text);
	return NULL;
}

char *
reload_plan_text(const struct reload_plan *plan, const struct config *before, const struct config *after)
{
	static const char *const new_entry[] = {"new"}, *const gone[] = {"gone"};
	struct bytes text = {0};
	bool ok = add_list(&text, plan->now, plan->n_now);

	for (size_t k = 0; ok && k < plan->n_entries; k++)
		ok = plan->entries[k].from == RELOAD_NEW
			     ? add_entry(&text, &after->resources[k], new_entry, 1)
			     : add_changes(&text, &after->resources[k], plan->entries[k].changes);
	for (size_t i = 0; ok && i < plan->n_gone; i++)
		ok = add_entry(&text, &before->resources[plan->gone[i]], gone, 1);
	return take(&text, ok);
}

char *
reload_plan_later_text(const struct reload_plan *plan)
{
	struct bytes text = {0};

	return take(&text, add_list(&text, plan->later, plan->n_later));
}
