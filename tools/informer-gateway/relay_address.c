/* SPDX-License-Identifier: Apache-2.0 */
/* Names and their addresses; see relay_address.h. */
#include "tools/informer-gateway/relay_address.h"

#include <stdlib.h>
#include <string.h>

#include "tools/serving/buf.h"
#include "writer/base/log.h"

struct name {
	struct gw_relay_addresses *all;
	struct gw_peer_name parts;
	uv_getaddrinfo_t request;
	bool resolving, failed;
};

struct place {
	const struct name *name; /* NULL: nobody's */
	char url[GW_PEER_URL_MAX];
	bool seen;
};

struct gw_relay_addresses {
	uv_loop_t *loop;
	const struct gw_relay_address_events *events;
	void *ctx;
	struct name *names;
	size_t count;
	unsigned resolving;
	bool freed;
	struct place places[GW_RELAYS_MAX];
};

static void
free_all(struct gw_relay_addresses *all)
{
	for (size_t i = 0; i < all->count; i++)
		gw_peer_name_done(&all->names[i].parts);
	free(all->names);
	free(all);
}

static void
see(struct gw_relay_addresses *all, const struct name *name, const char *url)
{
	struct place *empty = NULL;

	for (unsigned i = 0; i < GW_RELAYS_MAX; i++) {
		struct place *p = &all->places[i];

		if (!p->name && !empty)
			empty = p;
		if (p->name && !strcmp(p->url, url)) {
			p->seen |= p->name == name;
			return;
		}
	}
	if (!empty)
		return; /* more relays than places */
	*empty = (struct place){.name = name, .seen = true};
	strcpy(empty->url, url);
	all->events->found(all->ctx, (unsigned)(empty - all->places), &name->parts, url);
}

static void
take(struct gw_relay_addresses *all, const struct name *name, const struct addrinfo *found)
{
	char url[GW_PEER_URL_MAX];

	for (unsigned i = 0; i < GW_RELAYS_MAX; i++)
		all->places[i].seen = false;
	for (const struct addrinfo *a = found; a; a = a->ai_next)
		if (gw_peer_url(&name->parts, a, url))
			see(all, name, url);
	for (unsigned i = 0; i < GW_RELAYS_MAX; i++) {
		struct place *p = &all->places[i];

		if (p->name != name || p->seen)
			continue;
		p->name = NULL;
		all->events->gone(all->ctx, i);
	}
}

static void
on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
	struct name *name = request->data;
	struct gw_relay_addresses *all = name->all;

	name->resolving = false;
	all->resolving--;
	if (!all->freed && status == 0)
		take(all, name, found);
	if (!all->freed && status < 0 && !name->failed)
		log_warning("peer %s: %s", name->parts.host, uv_strerror(status));
	name->failed = status < 0;
	uv_freeaddrinfo(found);
	if (all->freed && all->resolving == 0)
		free_all(all);
}

void
gw_relay_addresses_resolve(struct gw_relay_addresses *all)
{
	static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};

	for (size_t i = 0; i < all->count; i++) {
		struct name *name = &all->names[i];

		if (name->resolving)
			continue;
		name->request.data = name;
		name->resolving = uv_getaddrinfo(all->loop, &name->request, on_resolved, name->parts.host,
						 name->parts.port, &hints) == 0;
		all->resolving += name->resolving;
	}
}

struct gw_relay_addresses *
gw_relay_addresses_new(uv_loop_t *loop, const struct gw_relays_config *config,
		       const struct gw_relay_address_events *events, void *ctx)
{
	struct gw_relay_addresses *all = api_alloc(sizeof(*all));

	*all = (struct gw_relay_addresses){.loop = loop, .events = events, .ctx = ctx};
	all->names = api_alloc(config->peers.count * sizeof(*all->names));
	for (size_t i = 0; i < config->peers.count; i++) {
		struct name *name = &all->names[all->count];

		*name = (struct name){.all = all};
		if (gw_peer_name_parse(config->peers.items[i], &name->parts, NULL) == 0)
			all->count++; /* the configuration was checked */
	}
	gw_relay_addresses_resolve(all);
	return all;
}

void
gw_relay_addresses_free(struct gw_relay_addresses *all)
{
	if (!all)
		return;
	all->freed = true;
	for (size_t i = 0; i < all->count; i++)
		if (all->names[i].resolving)
			(void)uv_cancel((uv_req_t *)&all->names[i].request);
	if (all->resolving == 0)
		free_all(all);
}
