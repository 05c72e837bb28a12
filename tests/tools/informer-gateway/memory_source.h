/* SPDX-License-Identifier: Apache-2.0 */
/* played_store.h as a source of stores: a store wakes its watch at each change. RVs begin at 1. */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_MEMORY_SOURCE_H
#define TESTS_TOOLS_INFORMER_GATEWAY_MEMORY_SOURCE_H

#include "tests/tools/serving/played_store.h"
#include "tools/informer-gateway/views/store_source.h"

#define MEMORY_STORES 8192

struct memory {
	struct world *world;
	struct gw_source source;
	struct memory_store *stores[MEMORY_STORES];
	unsigned open;
	const char *warning;
	bool partial;       /* only default/a is cached */
	bool metadata_only; /* only metadata is cached */
};

struct memory_store {
	struct gw_store store;
	struct memory *memory;
	unsigned slot;
	void (*wake)(void *ctx);
	void *ctx;
};

static inline void
memory_parts(void *ctx, const struct api_resource *resource, struct api_buf *ret)
{
	(void)ctx;
	(void)resource;
	api_buf_puts(ret, "with fieldSelector=spec.nodeName=n1");
}

static inline void
memory_close(struct gw_store *store)
{
	struct memory_store *p = (struct memory_store *)store;

	p->memory->stores[p->slot] = NULL;
	p->memory->open--;
	free(p);
}

static inline void
memory_watch(struct gw_store *store, const char *namespace_, const struct api_query *query,
	     void (*wake)(void *ctx), void *ctx)
{
	struct memory_store *p = (struct memory_store *)store;

	(void)namespace_;
	(void)query;
	p->wake = wake;
	p->ctx = ctx;
}

static inline const char *
memory_warning(struct gw_store *store)
{
	return ((struct memory_store *)store)->memory->warning;
}

static inline int
memory_open(void *ctx, const struct gw_want *want, struct gw_store **ret_store)
{
	struct memory *m = ctx;
	struct memory_store *s;

	if (want->resource != m->world->pods)
		return -ENOENT;
	if (m->partial && !want->narrow && !(want->key && !strcmp(want->key, "default/a")))
		return -EXDEV;
	s = calloc(1, sizeof(*s));
	s->memory = m;
	s->store = (struct gw_store){.api = m->world->store,
				     .metadata_only = m->metadata_only,
				     .close = memory_close,
				     .watch = memory_watch,
				     .warning = memory_warning};
	while (m->stores[s->slot])
		s->slot = (s->slot + 1) % MEMORY_STORES;
	m->stores[s->slot] = s;
	m->open++;
	*ret_store = &s->store;
	return 0;
}

static inline void
memory_init(struct memory *m)
{
	memset(m, 0, sizeof(*m));
	m->world = world_new();
	m->world->rv = m->world->floor = 1;
	m->source = (struct gw_source){
		.ctx = m, .registry = &m->world->registry, .open = memory_open, .parts = memory_parts};
}

static inline void
memory_wake(struct memory *m)
{
	for (unsigned i = 0, left = m->open; left > 0 && i < MEMORY_STORES; i++)
		if (m->stores[i]) {
			left--;
			if (m->stores[i]->wake)
				m->stores[i]->wake(m->stores[i]->ctx);
		}
}

/* Add or replace "default/NAME", with so many more bytes in an annotation. */
static inline void
memory_put(struct memory *m, const char *name, const char *node, size_t bytes)
{
	put_pod_of(m->world, "default", name, NULL, node, bytes);
	memory_wake(m);
}

static inline void
memory_delete(struct memory *m, const char *key)
{
	delete_pod(m->world, key);
	memory_wake(m);
}

#endif
