/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery, handed on and kept; see kept_documents.h. */
#include "tools/informer-gateway/kept_documents.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "tools/informer-gateway/absent_reply.h"
#include "tools/informer-gateway/forward_headers.h"

#define PEER_BYTES 16u

struct peer {
	unsigned char hash[PEER_BYTES];
};

struct document {
	TAILQ_ENTRY(document) link; /* who was asked for last is first */
	char *target, *accept, *etag, *type;
	struct api_buf body;
	uint64_t shown_ms; /* when upstream last said so */
	struct peer peers[GW_KEPT_PEERS];
	unsigned peer_count, next_peer;
};

struct gw_kept_documents {
	struct gw_upstream *upstream;
	TAILQ_HEAD(document_list, document) documents;
	unsigned char key[crypto_generichash_KEYBYTES];
	struct gw_kept_counters counters;
};

/* One question under way. */
struct asking {
	struct gw_kept_documents *kept;
	struct gw_exchange *x;
	struct transport_request *request;
	struct clock_timer timer;
	struct peer peer;
	int code;
	char *etag, *type;
	struct api_buf body;
};

bool
gw_is_discovery(const char *target)
{
	size_t length = strcspn(target, "?");
	unsigned slashes = 0;

	while (length > 1 && target[length - 1] == '/')
		length--;
	for (size_t i = 0; i < length; i++)
		slashes += target[i] == '/';
	return (length == 8 && strncmp(target, "/version", 8) == 0) ||
	       (length > 9 && strncmp(target, "/openapi/", 9) == 0) ||
	       (length >= 5 && strncmp(target, "/apis", 5) == 0 && (length == 5 || target[5] == '/') &&
		slashes <= 3) ||
	       (length >= 4 && strncmp(target, "/api", 4) == 0 && (length == 4 || target[4] == '/') &&
		slashes <= 2);
}

/* ---- documents ------------------------------------------------------------------------------ */

static char *
copy(const char *text)
{
	return api_strndup(text, strlen(text));
}

static void
document_free(struct gw_kept_documents *kept, struct document *document)
{
	TAILQ_REMOVE(&kept->documents, document, link);
	kept->counters.bytes -= document->body.len;
	kept->counters.documents--;
	free(document->target);
	free(document->accept);
	free(document->etag);
	free(document->type);
	api_buf_done(&document->body);
	free(document);
}

static const char *
accept_of(const struct gw_exchange *x)
{
	const char *accept = api_request_header(&x->api, "Accept");

	return accept ? accept : "";
}

static struct document *
find(struct gw_kept_documents *kept, const struct gw_exchange *x)
{
	struct document *document;

	TAILQ_FOREACH(document, &kept->documents, link)
	if (strcmp(document->target, x->target) == 0 && strcmp(document->accept, accept_of(x)) == 0)
		return document;
	return NULL;
}

static unsigned
place_of(const struct document *document, const struct peer *peer)
{
	unsigned i = 0;

	while (i < document->peer_count && memcmp(document->peers[i].hash, peer->hash, PEER_BYTES) != 0)
		i++;
	return i;
}

static bool
was_shown_to(const struct document *document, const struct peer *peer)
{
	return document && place_of(document, peer) < document->peer_count;
}

static void
remember(struct document *document, const struct peer *peer)
{
	if (was_shown_to(document, peer))
		return;
	document->peers[document->next_peer] = *peer;
	document->next_peer = (document->next_peer + 1) % GW_KEPT_PEERS;
	if (document->peer_count < GW_KEPT_PEERS)
		document->peer_count++;
}

static void
forget(struct document *document, const struct peer *peer)
{
	if (was_shown_to(document, peer))
		memset(&document->peers[place_of(document, peer)], 0, sizeof(*peer));
}

/* What upstream says now, instead of what it said before. Who may see the one may see the other. */
static struct document *
keep(struct asking *a)
{
	struct gw_kept_documents *kept = a->kept;
	struct document *document = api_alloc(sizeof(*document)), *before = find(kept, a->x);

	*document = before ? *before : (struct document){0};
	document->target = copy(a->x->target);
	document->accept = copy(accept_of(a->x));
	document->etag = copy(a->etag);
	document->type = copy(a->type);
	document->body = a->body;
	a->body = (struct api_buf){0};
	if (before)
		document_free(kept, before);
	TAILQ_INSERT_HEAD(&kept->documents, document, link);
	kept->counters.documents++;
	kept->counters.bytes += document->body.len;
	while (kept->counters.bytes > GW_KEPT_BYTES_MAX)
		document_free(kept, TAILQ_LAST(&kept->documents, document_list));
	return document;
}

/* ---- answers -------------------------------------------------------------------------------- */

static uint64_t
now_ms(const struct gw_kept_documents *kept)
{
	struct clock *clock = gw_upstream_clock(kept->upstream);

	return clock->now_ms(clock);
}

static void
reply(struct gw_exchange *x, struct document *document)
{
	const char *theirs = api_request_header(&x->api, "If-None-Match");
	bool same = *document->etag && theirs && strcmp(theirs, document->etag) == 0;
	struct api_buf body = {0};

	if (*document->etag)
		gw_reply_header(x, "ETag", document->etag);
	gw_reply_header(x, "Vary", "Accept");
	if (!same)
		api_buf_put(&body, document->body.data, document->body.len);
	gw_reply(x, same ? 304 : 200, document->type, &body);
}

static void
asking_free(struct asking *a)
{
	clock_clear(gw_upstream_clock(a->kept->upstream), &a->timer);
	transport_cancel(a->request);
	free(a->etag);
	free(a->type);
	api_buf_done(&a->body);
	free(a);
}

static void
on_gone(void *ctx)
{
	asking_free(ctx);
}

/* Upstream is not to be had: what it said before, for whom it said it. */
static void
reply_from_memory(struct asking *a, const char *why)
{
	struct gw_exchange *x = a->x;
	struct gw_kept_documents *kept = a->kept;
	struct document *document = find(kept, x);
	char warning[160];

	if (!was_shown_to(document, &a->peer)) {
		gw_reply_absent(x, why);
		return;
	}
	snprintf(warning, sizeof(warning),
		 "299 - \"the API server cannot be asked: this is what it said %llu s ago\"",
		 (unsigned long long)(now_ms(kept) - document->shown_ms) / 1000);
	gw_reply_header(x, "Warning", warning);
	kept->counters.from_memory++;
	reply(x, document);
}

static void
reply_as_answered(struct asking *a)
{
	struct document *document = find(a->kept, a->x);

	if (a->code == 200)
		document = keep(a);
	if ((a->code == 200 || a->code == 304) && document) {
		a->kept->counters.unchanged += a->code == 304;
		document->shown_ms = now_ms(a->kept);
		remember(document, &a->peer);
		TAILQ_REMOVE(&a->kept->documents, document, link);
		TAILQ_INSERT_HEAD(&a->kept->documents, document, link);
		reply(a->x, document);
		return;
	}
	if (document)
		forget(document, &a->peer);
	gw_reply(a->x, (unsigned)a->code, a->type, &a->body);
}

/* ---- the question --------------------------------------------------------------------------- */

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct asking *a = ctx;

	a->code = response->status;
	a->etag = copy(response->etag);
	a->type = copy(response->content_type);
}

static int
on_data(void *ctx, const void *data, size_t len)
{
	struct asking *a = ctx;

	if (len > GW_KEPT_DOCUMENT_MAX - a->body.len)
		return -EMSGSIZE;
	api_buf_put(&a->body, data, len);
	return 0;
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct asking *a = ctx;

	a->request = NULL;
	if (result < 0 || a->code == 429 || a->code >= 500)
		reply_from_memory(a, result < 0 ? message : "it is busy, or fails");
	else
		reply_as_answered(a);
	asking_free(a);
}

static void
on_late(void *ctx)
{
	struct asking *a = ctx;

	reply_from_memory(a, "it does not answer");
	asking_free(a);
}

static bool
is(const char *line, const char *name)
{
	return strncasecmp(line, name, strlen(name)) == 0;
}

/* Who asks: the bearer, and whom it impersonates. */
static struct peer
peer_of(const struct gw_kept_documents *kept, const struct gw_header_lines *lines)
{
	crypto_generichash_state state;
	struct peer peer;

	crypto_generichash_init(&state, kept->key, sizeof(kept->key), PEER_BYTES);
	for (unsigned i = 0; i < lines->count; i++)
		if (is(lines->lines[i], "Authorization:") || is(lines->lines[i], "Impersonate-"))
			crypto_generichash_update(&state, (const unsigned char *)lines->lines[i],
						  strlen(lines->lines[i]) + 1);
	crypto_generichash_final(&state, peer.hash, PEER_BYTES);
	return peer;
}

static void
ask(struct gw_kept_documents *kept, struct gw_exchange *x, const struct gw_header_lines *lines)
{
	static const struct transport_callbacks callbacks = {on_response, on_data, on_done};
	const struct document *document = find(kept, x);
	struct asking *a = api_alloc(sizeof(*a));
	const char *headers[GW_FORWARD_MAX + 1] = {NULL};
	struct transport_order order = {
		.path_and_query = x->target,
		.flags = TRANSPORT_PLAIN | TRANSPORT_UNTIMED,
		.etag = document && *document->etag ? document->etag : NULL,
		.headers = headers,
	};
	unsigned n = 0;

	*a = (struct asking){.kept = kept, .x = x, .peer = peer_of(kept, lines)};
	for (unsigned i = 0; i < lines->count; i++) /* what is kept is whole, and as it is without packing */
		if (!is(lines->lines[i], "Accept-Encoding:") && !is(lines->lines[i], "If-") &&
		    !is(lines->lines[i], "Range:"))
			headers[n++] = lines->lines[i];
	kept->counters.asked++;
	gw_on_gone(x, on_gone, a);
	if (transport_send(gw_upstream_bare(kept->upstream), &order, &callbacks, a, &a->request) < 0) {
		gw_reply_absent(x, "this request cannot be handed on");
		asking_free(a);
		return;
	}
	clock_set(gw_upstream_clock(kept->upstream), &a->timer,
		  was_shown_to(document, &a->peer) ? GW_KEPT_WAIT_MS : GW_KEPT_ANSWER_MS, on_late, a);
}

bool
gw_kept_documents_answer(struct gw_kept_documents *kept, struct gw_exchange *x)
{
	struct gw_header_lines lines = {0};
	struct gw_forward_fault fault;

	if (strcmp(x->api.method, "GET") != 0 || !gw_is_discovery(x->target) ||
	    !api_request_header(&x->api, "Authorization"))
		return false;
	if (gw_forward_request_of(x->api.connection, &lines, &fault) < 0) {
		api_status_set(&x->api.status, fault.code, fault.reason, "%s", fault.message);
		gw_reply_status(x);
		return true;
	}
	ask(kept, x, &lines);
	gw_header_lines_done(&lines);
	return true;
}

/* ---- all of it ------------------------------------------------------------------------------ */

struct gw_kept_documents *
gw_kept_documents_new(struct gw_upstream *upstream)
{
	struct gw_kept_documents *kept = api_alloc(sizeof(*kept));

	*kept = (struct gw_kept_documents){.upstream = upstream};
	TAILQ_INIT(&kept->documents);
	randombytes_buf(kept->key, sizeof(kept->key));
	return kept;
}

void
gw_kept_documents_free(struct gw_kept_documents *kept)
{
	struct document *document;

	if (!kept)
		return;
	while ((document = TAILQ_FIRST(&kept->documents)))
		document_free(kept, document);
	free(kept);
}

const struct gw_kept_counters *
gw_kept_documents_counters(const struct gw_kept_documents *kept)
{
	return &kept->counters;
}
