/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the other relays, and clients to move; see relays.h. */
#include "tools/informer-gateway/relays.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-gateway/relay_address.h"
#include "tools/informer-gateway/relay_client.h"
#include "tools/informer-gateway/upstream.h"
#include "writer/base/log.h"
#include "writer/base/message.h"

#define TICK_MS 500u

struct relay {
	struct gw_relays *all;
	char url[GW_PEER_URL_MAX];
	struct gw_upstream *way; /* NULL: the place is empty */
	struct gw_ask *ask;
	uint64_t next_ms;
	bool silent; /* said so */
};

struct gw_relays {
	struct gw_front *front;
	const struct gw_relays_config *config;
	struct clock *clock;
	uv_timer_t timer;
	struct gw_relay_addresses *addresses;
	struct relay relays[GW_RELAYS_MAX];
	struct gw_rebalance balance;
	uint64_t resolve_ms, asked;
	bool moving; /* told so */
};

static uint64_t
now_ms(const struct gw_relays *r)
{
	return uv_now(r->timer.loop);
}

/* ---- what a relay says ---- */

/* Sixteen digits; 0: it is none. */
static uint64_t
parse_id(const char *text)
{
	return text && strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16 ? strtoull(text, NULL, 16)
										    : 0;
}

int
gw_relay_word_parse(const char *text, size_t length, struct gw_relay_word *ret)
{
	cJSON *document = cJSON_ParseWithLength(text, length);
	uint64_t id = parse_id(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(document, "id")));
	const cJSON *ready = cJSON_GetObjectItemCaseSensitive(document, "ready"),
		    *clients = cJSON_GetObjectItemCaseSensitive(document, "clients");
	bool good = id && cJSON_IsBool(ready) && cJSON_IsNumber(clients) && clients->valuedouble >= 0 &&
		    clients->valuedouble <= 1e9;

	if (good)
		*ret = (struct gw_relay_word){id, cJSON_IsTrue(ready), (uint64_t)clients->valuedouble};
	cJSON_Delete(document);
	return good ? 0 : -EINVAL;
}

void
gw_relays_page(const struct gw_relays *relays, struct gw_exchange *x, bool ready)
{
	struct api_buf body = {0};

	api_buf_printf(&body, "{\"id\":\"%016" PRIx64 "\",\"ready\":%s,\"clients\":%u}\n", relays->balance.id,
		       ready ? "true" : "false", gw_relay_clients(relays->front));
	gw_reply(x, 200, "application/json", &body);
}

/* ---- asking ---- */

static void
no_word(struct relay *relay, const char *why)
{
	gw_rebalance_forget(&relay->all->balance, (unsigned)(relay - relay->all->relays));
	if (!relay->silent)
		log_warning("relay %s does not say how it is: %s", relay->url, why);
	relay->silent = true;
}

static void
on_word(void *ctx, int code, const char *body, size_t length, const char *error)
{
	struct relay *relay = ctx;
	struct gw_relays *r = relay->all;
	struct gw_relay_word word;
	char status[32];

	relay->ask = NULL;
	snprintf(status, sizeof(status), "its answer is %d", code);
	if (code != 200 || gw_relay_word_parse(body, length, &word) < 0) {
		no_word(relay, code < 0 ? error : code == 200 ? "its answer is none" : status);
		return;
	}
	if (relay->silent)
		log_info("relay %s says again how it is", relay->url);
	relay->silent = false;
	gw_rebalance_heard(&r->balance, (unsigned)(relay - r->relays), &word, now_ms(r));
}

static void
ask(struct gw_relays *r, bool often)
{
	uint64_t now = now_ms(r);

	for (unsigned i = 0; i < GW_RELAYS_MAX; i++) {
		struct relay *relay = &r->relays[i];

		if (!relay->way || relay->ask || now < relay->next_ms)
			continue;
		relay->next_ms = now + (often ? GW_MOVE_PAUSE_MS : GW_RELAY_EACH_MS);
		relay->ask = gw_upstream_get(relay->way, "/relay", NULL, 0, GW_RELAY_ASK_MS, on_word, relay);
	}
}

static void
tell_of_moving(struct gw_relays *r, uint64_t clients, const struct gw_share *share)
{
	bool moving = share->ready > 0 && clients > share->limit;

	if (moving && !r->moving)
		log_info("%" PRIu64 " clients here, and a share is %" PRIu64
			 " (other relays that are ready: %u): some are asked to move",
			 clients, share->share, share->ready);
	if (!moving && r->moving)
		log_info("%" PRIu64 " clients here: no more are asked to move", clients);
	r->moving = moving;
}

static void
on_tick(uv_timer_t *timer)
{
	struct gw_relays *r = timer->data;
	uint64_t now = now_ms(r), clients = gw_relay_clients(r->front);
	struct gw_share share = gw_rebalance_share(&r->balance, clients, now);

	if (gw_front_draining(r->front))
		return;
	if (now >= r->resolve_ms) {
		r->resolve_ms = now + GW_RELAY_RESOLVE_MS;
		gw_relay_addresses_resolve(r->addresses);
	}
	tell_of_moving(r, clients, &share);
	if (gw_rebalance_due(&r->balance, clients, now) &&
	    gw_relay_client_move(r->front, r->config->grace_ms)) {
		r->asked++;
		gw_rebalance_asked(&r->balance, clients, now);
	}
	ask(r, r->moving);
}

/* ---- addresses ---- */

static int
make_way(struct gw_relays *r, const struct gw_peer_name *name, const char *url, struct gw_upstream **ret,
	 char **ret_error)
{
	const struct kube_client_config config = {
		.server = (char *)(uintptr_t)url,
		.origin = (char *)(uintptr_t)"peers",
		.tls_server_name = name->numeric ? NULL : name->host,
		.http1_only = true,
		.compression = KUBE_COMPRESSION_NONE,
		.ca.file = r->config->certificate_authority,
		.client_cert.file = r->config->client_certificate,
		.client_key.file = r->config->client_key,
	};

	return gw_upstream_new(r->timer.loop, r->clock, &config, ret, ret_error);
}

static void
on_found(void *ctx, unsigned place, const struct gw_peer_name *name, const char *url)
{
	struct gw_relays *r = ctx;
	struct relay *relay = &r->relays[place];
	_cleanup_(message_freep) char *error = NULL;

	*relay = (struct relay){.all = r};
	snprintf(relay->url, sizeof(relay->url), "%s", url);
	if (make_way(r, name, url, &relay->way, &error) < 0)
		log_warning("relay %s: %s", url, error ? error : "out of memory");
}

static void
on_gone(void *ctx, unsigned place)
{
	struct gw_relays *r = ctx;
	struct relay *relay = &r->relays[place];

	gw_ask_cancel(relay->ask);
	gw_upstream_free(relay->way);
	*relay = (struct relay){0};
	gw_rebalance_forget(&r->balance, place);
}

/* ---- life ---- */

struct gw_relays *
gw_relays_new(struct gw_front *front, const struct gw_relays_config *config, struct clock *clock)
{
	static const struct gw_relay_address_events events = {on_found, on_gone};
	struct gw_relays *r = api_alloc(sizeof(*r));
	uint64_t id;

	*r = (struct gw_relays){.front = front, .config = config, .clock = clock};
	do
		randombytes_buf(&id, sizeof(id));
	while (id == 0);
	gw_rebalance_init(&r->balance, id);
	uv_timer_init(gw_front_loop(front), &r->timer);
	r->timer.data = r;
	r->resolve_ms = uv_now(r->timer.loop) + GW_RELAY_RESOLVE_MS;
	r->addresses = gw_relay_addresses_new(r->timer.loop, config, &events, r);
	uv_timer_start(&r->timer, on_tick, TICK_MS, TICK_MS);
	return r;
}

static void
on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void
gw_relays_free(struct gw_relays *relays)
{
	if (!relays)
		return;
	gw_relay_addresses_free(relays->addresses);
	for (unsigned i = 0; i < GW_RELAYS_MAX; i++)
		if (relays->relays[i].way)
			on_gone(relays, i);
	uv_close((uv_handle_t *)&relays->timer, on_closed);
}

struct gw_relays_figures
gw_relays_figures(const struct gw_relays *relays)
{
	unsigned clients = gw_relay_clients(relays->front);

	return (struct gw_relays_figures){
		.clients = clients,
		.share = gw_rebalance_share(&relays->balance, clients, now_ms(relays)),
		.asked = relays->asked,
		.moved = relays->balance.moved,
		.came_to_nothing = relays->balance.came_to_nothing,
	};
}
