/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of a workqueue: a table, a line, and a list of keys that are being processed.
 */
#include "reader-lib/workqueue/work_keys.h"

#include <string.h>

int
work_keys_init(struct work_keys *keys, const struct allocator *memory)
{
	keys->memory = *memory;
	return key_table_init(&keys->table, memory, offsetof(struct work_key, key));
}

void
work_keys_done(struct work_keys *keys)
{
	struct key_node *node;

	while ((node = key_table_take(&keys->table)))
		allocator_put(&keys->memory, node);
	key_table_done(&keys->table);
}

static struct work_key *
key_of_node(struct key_node *node)
{
	return (struct work_key *)(void *)node;
}

struct work_key *
work_keys_find(struct work_keys *keys, const char *key, size_t length)
{
	return key_of_node(
		key_table_find(&keys->table, key_table_hash(&keys->table, key, length), key, length));
}

struct work_key *
work_keys_get(struct work_keys *keys, const char *key, size_t length)
{
	return key_of_node(key_table_get(&keys->table, key, length));
}

void
work_keys_drop_if_idle(struct work_keys *keys, struct work_key *k)
{
	if (k->dirty || k->processing || k->delayed.at || k->failures)
		return;
	key_table_remove(&keys->table, &k->node);
	allocator_put(&keys->memory, k);
}

/* A key that waits already goes to the end of its new priority. */
static void
raise_priority(struct work_keys *keys, struct work_key *k, int8_t priority)
{
	if (priority <= k->line.priority)
		return;
	if (!k->processing)
		work_line_remove(&keys->line, &k->line);
	k->line.priority = priority;
	if (!k->processing)
		work_line_append(&keys->line, &k->line);
}

bool
work_keys_make_dirty(struct work_keys *keys, struct work_key *k, int8_t priority, uint64_t now_ns)
{
	if (k->dirty) {
		raise_priority(keys, k, priority);
		return false;
	}
	k->dirty = true;
	k->dirty_ns = now_ns;
	k->line.priority = priority;
	keys->dirty++;
	keys->counts.adds++;
	if (k->processing)
		return false;
	work_line_append(&keys->line, &k->line);
	return true;
}

static void
histogram_observe(struct histogram *h, uint64_t ns)
{
	uint64_t bound = 10;
	unsigned i = 0;

	for (; i < INFORMER_WORKQUEUE_BUCKETS - 1 && ns > bound; i++)
		bound *= 10;
	h->buckets[i]++;
	h->count++;
	h->sum_ns += ns;
}

/* Counts as cumulative buckets. */
static void
histogram_read(const struct histogram *h, uint64_t *ret_count, uint64_t *ret_sum_ns,
	       uint64_t ret_buckets[INFORMER_WORKQUEUE_BUCKETS])
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < INFORMER_WORKQUEUE_BUCKETS; i++)
		ret_buckets[i] = sum += h->buckets[i];
	*ret_count = h->count;
	*ret_sum_ns = h->sum_ns;
}

struct work_key *
work_keys_take(struct work_keys *keys, uint64_t now_ns)
{
	struct in_line *first = work_line_first(&keys->line);
	struct work_key *k;

	if (!first)
		return NULL;
	work_line_remove(&keys->line, first);
	k = work_key_of_line(first);
	keys->dirty--;
	k->dirty = false;
	k->processing = true;
	k->started_ns = now_ns;
	lane_append(&keys->busy, &k->line);
	histogram_observe(&keys->counts.queue, since(now_ns, k->dirty_ns));
	return k;
}

bool
work_keys_finish(struct work_keys *keys, struct work_key *k, uint64_t now_ns)
{
	bool again = k->dirty;

	histogram_observe(&keys->counts.work, since(now_ns, k->started_ns));
	lane_remove(&keys->busy, &k->line);
	k->processing = false;
	if (again)
		work_line_append(&keys->line, &k->line);
	work_keys_drop_if_idle(keys, k);
	return again;
}

void
work_keys_metrics(const struct work_keys *keys, uint64_t now_ns,
		  struct informer_workqueue_metrics *ret_metrics)
{
	struct informer_workqueue_metrics m = {0};

	m.depth = keys->dirty;
	m.adds = keys->counts.adds;
	m.retries = keys->counts.retries;
	histogram_read(&keys->counts.queue, &m.queue_count, &m.queue_sum_ns, m.queue_buckets);
	histogram_read(&keys->counts.work, &m.work_count, &m.work_sum_ns, m.work_buckets);
	for (struct in_line *node = keys->busy.first; node; node = node->next) {
		uint64_t ns = since(now_ns, work_key_of_line(node)->started_ns);

		m.unfinished_ns += ns;
		m.longest_running_ns = ns > m.longest_running_ns ? ns : m.longest_running_ns;
	}
	*ret_metrics = m;
}
