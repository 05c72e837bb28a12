/* SPDX-License-Identifier: Apache-2.0 */
/*
 * played_store.h as a source of places: a place wakes its watch in the loop's next turn. RVs begin at 1.
 */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_MEMORY_SOURCE_H
#define TESTS_TOOLS_INFORMER_GATEWAY_MEMORY_SOURCE_H

#include "tests/tools/serving/played_store.h"
#include "tools/informer-gateway/views/place_source.h"

#define MEMORY_PLACES 8192

struct memory {
	struct world *world;
	struct gw_source source;
	struct memory_place *places[MEMORY_PLACES];
	unsigned open;
	const char *warning;
	bool partial;	    /* of the resource there is a part: default/a */
	bool metadata_only; /* of its objects there is no more */
};

struct memory_place {
	struct gw_place place;
	struct memory *memory;
	unsigned slot;
	void (*wake)(void *ctx);
	void *ctx;
};

static inline int
memory_open(void *ctx, const struct gw_want *want, struct gw_place **ret_place)
{
	struct memory *m = ctx;
	struct memory_place *p;

	if (want->resource != m->world->pods)
		return -ENOENT;
	if (m->partial && !want->narrow && !(want->key && !strcmp(want->key, "default/a")))
		return -EXDEV;
	p = calloc(1, sizeof(*p));
	p->place.metadata_only = m->metadata_only;
	p->memory = m;
	p->place.store = &m->world->store;
	while (m->places[p->slot])
		p->slot = (p->slot + 1) % MEMORY_PLACES;
	m->places[p->slot] = p;
	m->open++;
	*ret_place = &p->place;
	return 0;
}

static inline void
memory_parts(void *ctx, const struct api_resource *resource, struct api_buf *ret)
{
	(void)ctx;
	(void)resource;
	api_buf_puts(ret, "with fieldSelector=spec.nodeName=n1");
}

static inline void
memory_close(struct gw_place *place)
{
	struct memory_place *p = (struct memory_place *)place;

	p->memory->places[p->slot] = NULL;
	p->memory->open--;
	free(p);
}

static inline void
memory_watch(struct gw_place *place, const char *namespace_, const struct api_query *query,
	     void (*wake)(void *ctx), void *ctx)
{
	struct memory_place *p = (struct memory_place *)place;

	(void)namespace_;
	(void)query;
	p->wake = wake;
	p->ctx = ctx;
}

static inline const char *
memory_warning(struct gw_place *place)
{
	return ((struct memory_place *)place)->memory->warning;
}

static inline void
memory_init(struct memory *m)
{
	memset(m, 0, sizeof(*m));
	m->world = world_new();
	m->world->rv = m->world->floor = 1;
	m->source = (struct gw_source){.ctx = m,
				       .registry = &m->world->registry,
				       .open = memory_open,
				       .parts = memory_parts,
				       .close = memory_close,
				       .watch = memory_watch,
				       .warning = memory_warning};
}

static inline void
memory_wake(struct memory *m)
{
	for (unsigned i = 0, left = m->open; left > 0 && i < MEMORY_PLACES; i++)
		if (m->places[i]) {
			left--;
			if (m->places[i]->wake)
				m->places[i]->wake(m->places[i]->ctx);
		}
}

/* Add or replace "default/NAME", with so many bytes more in an annotation. */
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
