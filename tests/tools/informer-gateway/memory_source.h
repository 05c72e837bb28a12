/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source over arrays: pods that a test puts and deletes, and every change there ever was. A place wakes
 * its watch in the loop's next turn.
 */
#ifndef TESTS_TOOLS_INFORMER_GATEWAY_MEMORY_SOURCE_H
#define TESTS_TOOLS_INFORMER_GATEWAY_MEMORY_SOURCE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/place_source.h"
#include "tools/serving/doc.h"

#define MEMORY_PLACES 8192

struct memory {
	struct gw_source source;
	struct api_registry registry;
	const struct api_resource *pods;
	uint64_t rv; /* 0: the first list is not in */
	struct api_object **objects;
	size_t count, capacity;
	struct api_event *events; /* each with its references */
	size_t event_count, event_capacity;
	size_t floor; /* events before it are forgotten */
	struct memory_place *places[MEMORY_PLACES];
	unsigned open;
	const char *warning;
	bool none; /* nothing is cached */
	size_t taken_at; /* views end early, behind so many objects; 0: they do not */
};

struct memory_place {
	struct gw_place place;
	struct api_store store;
	struct memory *memory;
	unsigned slot;
	void (*wake)(void *ctx);
	void *ctx;
};

struct api_view {
	struct api_object **objects;
	size_t count, at, end;
};

static inline uint64_t
memory_rv(void *ctx, const struct api_resource *resource)
{
	(void)resource;
	return ((struct memory *)ctx)->rv;
}

static inline int
memory_by_key(const void *a, const void *b)
{
	return strcmp((*(struct api_object *const *)a)->key, (*(struct api_object *const *)b)->key);
}

static inline int
memory_view(void *ctx, const struct api_resource *resource, uint64_t rv, struct api_view **ret_view,
	    uint64_t *ret_rv, uint64_t *ret_position)
{
	struct memory *m = ctx;
	struct api_view *v;

	(void)resource;
	if (m->rv == 0)
		return -EAGAIN;
	if (rv && rv != m->rv)
		return -ESTALE;
	v = api_alloc(sizeof(*v));
	*v = (struct api_view){.objects = api_alloc((m->count + 1) * sizeof(*v->objects)), .count = m->count,
				.end = m->taken_at && m->taken_at < m->count ? m->taken_at : m->count};
	for (size_t i = 0; i < m->count; i++)
		v->objects[i] = api_object_ref(m->objects[i]);
	if (v->count)
		qsort(v->objects, v->count, sizeof(*v->objects), memory_by_key);
	*ret_view = v;
	*ret_rv = m->rv;
	if (ret_position)
		*ret_position = m->event_count;
	return 0;
}

static inline void
memory_seek(struct api_view *v, const char *key)
{
	for (v->at = 0; v->at < v->count && strcmp(v->objects[v->at]->key, key) < 0;)
		v->at++;
}

static inline struct api_object *
memory_next(struct api_view *v)
{
	return v->at < v->end ? api_object_ref(v->objects[v->at++]) : NULL;
}

static inline int
memory_view_error(struct api_view *v)
{
	return v->end < v->count && v->at >= v->end ? -ESTALE : 0;
}

static inline void
memory_view_close(struct api_view *v)
{
	for (size_t i = 0; i < v->count; i++)
		api_object_unref(v->objects[i]);
	free(v->objects);
	free(v);
}

static inline size_t
memory_find(const struct memory *m, const char *key)
{
	size_t i = 0;

	while (i < m->count && strcmp(m->objects[i]->key, key) != 0)
		i++;
	return i;
}

static inline struct api_object *
memory_get(void *ctx, const struct api_resource *resource, const char *key)
{
	struct memory *m = ctx;
	size_t i = memory_find(m, key);

	(void)resource;
	return i < m->count ? api_object_ref(m->objects[i]) : NULL;
}

static inline int
memory_position(void *ctx, const struct api_resource *resource, uint64_t rv, uint64_t *ret_position,
		uint64_t *ret_floor)
{
	const struct memory *m = ctx;
	size_t at = m->event_count;

	(void)resource;
	while (at > 0 && m->events[at - 1].rv > rv)
		at--;
	*ret_position = at;
	*ret_floor = m->floor ? m->events[m->floor - 1].rv : 1;
	return at < m->floor || rv < *ret_floor ? -ESTALE : 0;
}

static inline int
memory_events(void *ctx, const struct api_resource *resource, uint64_t *position, struct api_event *events,
	      unsigned max, uint64_t *ret_rv)
{
	const struct memory *m = ctx;
	unsigned n = 0;

	(void)resource;
	if (*position < m->floor)
		return -ESTALE;
	for (; n < max && *position < m->event_count; n++, ++*position) {
		const struct api_event *e = &m->events[*position];

		events[n] = *e;
		events[n].object = api_object_ref(e->object);
		events[n].prev = e->prev ? api_object_ref(e->prev) : NULL;
		events[n].frames = api_frames_ref(e->frames);
	}
	*ret_rv = m->rv;
	return (int)n;
}

static inline int
memory_open(void *ctx, const struct gw_want *want, struct gw_place **ret_place)
{
	struct memory *m = ctx;
	struct memory_place *p;

	if (m->none || want->resource != m->pods)
		return -ENOENT;
	p = api_alloc(sizeof(*p));
	*p = (struct memory_place){.memory = m};
	p->store = (struct api_store){.ctx = m,
				      .rv = memory_rv,
				      .view = memory_view,
				      .view_seek = memory_seek,
				      .view_next = memory_next,
				      .view_error = memory_view_error,
				      .view_close = memory_view_close,
				      .get = memory_get,
				      .position = memory_position,
				      .events = memory_events};
	p->place.store = &p->store;
	while (m->places[p->slot])
		p->slot = (p->slot + 1) % MEMORY_PLACES;
	m->places[p->slot] = p;
	m->open++;
	*ret_place = &p->place;
	return 0;
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
	api_registry_init(&m->registry);
	m->pods = api_registry_find(&m->registry, "", "v1", "pods");
	m->rv = 1;
	m->source = (struct gw_source){.ctx = m,
				       .registry = &m->registry,
				       .open = memory_open,
				       .close = memory_close,
				       .watch = memory_watch,
				       .warning = memory_warning};
}

static inline void
memory_note(struct memory *m, enum api_change change, struct api_object *object, struct api_object *prev)
{
	if (m->event_count == m->event_capacity) {
		m->event_capacity = m->event_capacity ? m->event_capacity * 2 : 64;
		m->events = api_realloc(m->events, m->event_capacity * sizeof(*m->events));
	}
	m->events[m->event_count++] = (struct api_event){.change = change,
							 .rv = m->rv,
							 .object = object,
							 .prev = prev,
							 .frames = api_frames_new()};
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
	struct api_object_error why;
	struct api_doc_error error;
	struct api_buf text = {0};
	struct api_object *object;
	struct api_doc doc = {0};
	size_t i;

	api_buf_printf(&text,
		       "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
		       "\"default\",\"annotations\":{\"a\":\"",
		       name);
	for (size_t n = 0; n < bytes; n++)
		api_buf_puts(&text, "x");
	api_buf_printf(&text, "\"}},\"spec\":{\"nodeName\":\"%s\"}}", node);
	if (api_doc_parse(&doc, text.data, text.len, NULL, &error) < 0 ||
	    api_object_new(m->pods, &doc, &object, &why) < 0)
		abort();
	api_object_stamp(object, ++m->rv);
	api_doc_done(&doc);
	api_buf_done(&text);
	i = memory_find(m, object->key);
	if (i < m->count) {
		struct api_object *prev = m->objects[i];

		m->objects[i] = object;
		memory_note(m, API_MODIFIED, api_object_ref(object), prev);
		return;
	}
	if (m->count == m->capacity) {
		m->capacity = m->capacity ? m->capacity * 2 : 64;
		m->objects = api_realloc(m->objects, m->capacity * sizeof(struct api_object *));
	}
	m->objects[m->count++] = object;
	memory_note(m, API_ADDED, api_object_ref(object), NULL);
}

static inline void
memory_delete(struct memory *m, const char *key)
{
	size_t i = memory_find(m, key);
	struct api_object *prev = m->objects[i];

	m->objects[i] = m->objects[--m->count];
	m->rv++;
	memory_note(m, API_DELETED, prev, api_object_ref(prev));
}

static inline void
memory_done(struct memory *m)
{
	for (size_t i = 0; i < m->count; i++)
		api_object_unref(m->objects[i]);
	for (size_t i = 0; i < m->event_count; i++)
		api_events_done(&m->events[i], 1);
	free(m->objects);
	free(m->events);
	api_registry_done(&m->registry);
}

#endif
