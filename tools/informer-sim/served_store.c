/* SPDX-License-Identifier: Apache-2.0 */
/* Each function calls the store's function of the same name; a view is a struct sim_view. */
#include "tools/informer-sim/served_store.h"

#include <errno.h>
#include <stdlib.h>

struct api_view {
	struct sim_view view;
};

static uint64_t
newest(void *ctx, const struct api_resource *resource)
{
	(void)resource; /* all resources share one RV */
	return sim_store_rv(ctx);
}

static int
view(void *ctx, const struct api_resource *resource, uint64_t rv, struct api_view **ret_view,
     uint64_t *ret_rv, uint64_t *ret_position)
{
	struct sim_view made;
	int r = sim_store_view(ctx, resource, rv, &made, ret_position);

	if (r < 0)
		return r;
	*ret_view = api_alloc(sizeof(**ret_view));
	(*ret_view)->view = made;
	*ret_rv = made.rv;
	return 0;
}

static void
view_seek(struct api_view *v, const char *key)
{
	sim_view_seek(&v->view, key);
}

static struct api_object *
view_next(struct api_view *v)
{
	struct api_object *object = sim_view_next(&v->view);

	return object ? api_object_ref(object) : NULL;
}

static void
view_close(struct api_view *v)
{
	sim_view_done(&v->view);
	free(v);
}

static struct api_object *
get(void *ctx, const struct api_resource *resource, const char *key)
{
	return sim_store_get(ctx, resource, key);
}

static int
position(void *ctx, const struct api_resource *resource, uint64_t rv, uint64_t *ret_position,
	 uint64_t *ret_floor)
{
	return sim_store_position(ctx, resource, rv, ret_position, ret_floor);
}

static int
events(void *ctx, const struct api_resource *resource, uint64_t *at, struct api_event *batch, unsigned max,
       uint64_t *ret_rv)
{
	return sim_store_events(ctx, resource, at, batch, max, ret_rv);
}

struct api_store
sim_store_served(struct sim_store *store)
{
	return (struct api_store){.ctx = store,
				  .rv = newest,
				  .view = view,
				  .view_seek = view_seek,
				  .view_next = view_next,
				  .view_close = view_close,
				  .get = get,
				  .position = position,
				  .events = events};
}
