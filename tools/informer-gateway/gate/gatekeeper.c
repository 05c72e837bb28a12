/* SPDX-License-Identifier: Apache-2.0 */
/* From an exchange to a decision, a count and an audit line; see gatekeeper.h. */
#include "tools/informer-gateway/gate/gatekeeper.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "tools/informer-gateway/access/access_watch.h"
#include "tools/informer-gateway/gate/audit_line.h"
#include "tools/informer-gateway/gate/refusal.h"
#include "tools/informer-gateway/http/exchange_private.h"
#include "tools/informer-gateway/http/listener.h"
#include "tools/informer-gateway/http/quota.h"
#include "tools/informer-gateway/http/request_form.h"

#define NOT_FOR_IT "this listener is not for it"

struct gw_gatekeeper {
	struct gw_access *access;
	struct gw_quota quotas[GW_LIMIT_KINDS]; /* counted by identity */
	struct gw_audit_log *audit;
};

/* The state of an exchange from its check to its end: gw_exchange.access. */
struct entry {
	struct gw_gatekeeper *keeper;
	struct gw_exchange *x;
	gw_next *next;
	const struct gw_listener_config *listener;
	char name[GW_NAME_MAX];
	struct gw_attributes attributes;
	struct gw_attributes kubelets_own[2]; /* what the kubelet has reviewed for GET /pods */
	bool resource;     /* the attributes are of a resource */
	bool kubelets;     /* a subresource that the kubelet serves, as log */
	bool impersonates; /* has an Impersonate- header */
	struct gw_question question;
	struct gw_identity *peer;
	struct gw_check *check;
	struct gw_access_watch *watch;
	enum gw_limit limit; /* the limit that the exchange counts for; GW_LIMIT_KINDS: none */
	uint64_t limit_key;
	const char *decision, *why; /* for the audit line */
	char *reason;               /* storage of `why` if it is the API server's text */
};

struct gw_gatekeeper *
gw_gatekeeper_new(const struct gw_gatekeeper_options *options)
{
	struct gw_gatekeeper *keeper = api_alloc(sizeof(*keeper));

	*keeper = (struct gw_gatekeeper){
		.access = options->access,
		.audit = options->audit,
	};
	for (unsigned i = 0; i < GW_LIMIT_KINDS; i++)
		gw_quota_init(&keeper->quotas[i], UINT_MAX,
			      i == GW_LIMIT_WATCHES ? options->limits->watches_by_identity
						    : options->limits->requests_by_identity);
	return keeper;
}

void
gw_gatekeeper_free(struct gw_gatekeeper *keeper)
{
	if (!keeper)
		return;
	for (unsigned i = 0; i < GW_LIMIT_KINDS; i++)
		gw_quota_done(&keeper->quotas[i]);
	free(keeper);
}

unsigned
gw_gatekeeper_under_way(const struct gw_gatekeeper *keeper, enum gw_limit kind)
{
	return keeper->quotas[kind].all;
}

/* ---- attributes ---- */

/* Subresources of a running container. The arena has no state of them. */
static bool
is_kubelets(const char *subresource)
{
	static const char *const names[] = {"log", "exec", "attach", "portforward", "proxy"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(subresource, names[i]) == 0)
			return true;
	return false;
}

/* Take the attributes from the path, whether the resource exists or not. */
static void
read_attributes(struct entry *entry)
{
	struct gw_exchange *x = entry->x;
	const struct api_path *path = x->api.path;
	struct gw_attributes asked = {.group = path->group,
				      .version = path->version,
				      .resource = path->plural,
				      .namespace_ = path->namespace_,
				      .name = path->name,
				      .subresource = path->subresource};

	entry->resource = path->place == API_RESOURCE;
	if (!entry->resource) {
		entry->attributes = gw_attributes_of_path(x->api.url);
	} else {
		asked.field_selector = api_request_query(&x->api, "fieldSelector");
		asked.label_selector = api_request_query(&x->api, "labelSelector");
		if (api_request_is_read(&x->api) && api_request_is_watch(&x->api))
			asked.verb = "watch";
		entry->attributes = gw_attributes_of(&asked, entry->name);
	}
	entry->kubelets = asked.subresource && is_kubelets(asked.subresource);
	if (!api_request_is_read(&x->api))
		entry->attributes.verb = entry->resource ? gw_attributes_verb(x->api.method, asked.name)
							 : "post";
}

/*
 * GET /pods is reviewed as by the kubelet (KEP-2862). Its other attributes, those of the list, are for the
 * scope, the limits and the audit line.
 *
 * Source  k8s.io/kubernetes/pkg/kubelet/server/auth.go
 */
static void
set_kubelets_own(struct entry *entry)
{
	static const char *const subresources[] = {"pods", "proxy"};

	for (unsigned i = 0; i < 2; i++)
		entry->kubelets_own[i] = (struct gw_attributes){
			"get", "", "v1", "nodes", subresources[i], "", entry->x->node, "", "", ""};
	entry->question.alternatives = entry->kubelets_own;
	entry->question.alternative_count = 2;
}

/* ---- refusing ---- */

/* x->api.status must be set. */
static void
refuse_with(struct entry *entry, const char *decision, const char *why)
{
	entry->decision = decision;
	entry->why = why;
	gw_reply_status(entry->x);
}

static void
refuse(struct entry *entry, enum gw_outcome outcome, const char *why)
{
	gw_refuse(&entry->x->api.status, outcome);
	refuse_with(entry,
		    outcome == GW_ACCESS_UNAUTHENTICATED ? "unauthenticated"
		    : outcome == GW_ACCESS_BUSY          ? "limited"
							 : "unknown",
		    why);
}

static void
refuse_forbidden(struct entry *entry, const char *user, const char *reason)
{
	if (entry->x->node && gw_access_is_reviewed(entry->listener))
		gw_refuse_pods_of_node(&entry->x->api.status, user, reason);
	else
		gw_refuse_forbidden(&entry->x->api.status, &entry->attributes, user, reason);
	entry->reason = api_strndup(reason, strlen(reason));
	refuse_with(entry, "forbidden", entry->reason);
}

/* ---- the check ---- */

static void
turned(void *ctx, const char *why)
{
	struct entry *entry = ctx;

	entry->why = why;
	if (!gw_exchange_end_soon(entry->x)) /* no answer has begun */
		gw_exchange_cut(entry->x);
}

/* Count the exchange, or refuse it with 429. */
static bool
take_limit(struct entry *entry, enum gw_limit limit, uint64_t key)
{
	static const char *const names[] = {"requests of one identity", "lists of one identity",
					    "watches of one identity"};

	if (gw_quota_take(&entry->keeper->quotas[limit], key) != GW_QUOTA_TAKEN) {
		refuse(entry, GW_ACCESS_BUSY, names[limit]);
		return false;
	}
	entry->limit = limit;
	entry->limit_key = key;
	return true;
}

static bool
is_watch(const struct entry *entry)
{
	return strcmp(entry->attributes.verb, "watch") == 0;
}

static enum gw_limit
kind_of(const struct entry *entry)
{
	if (is_watch(entry))
		return GW_LIMIT_WATCHES;
	return strcmp(entry->attributes.verb, "list") == 0 ? GW_LIMIT_LISTS : GW_LIMIT_REQUESTS;
}

/*
 * The key of a client's quota: its identity; on Unix sockets the process too, because one user may run many
 * programs.
 */
static uint64_t
who_counts(const struct entry *entry, const uint8_t identity[GW_DIGEST])
{
	const struct gw_peer *peer = entry->x->peer;
	uint64_t key;

	memcpy(&key, identity, sizeof(key)); /* a keyed hash: clients cannot choose it */
	return peer->has_credentials ? key ^ (uint64_t)peer->pid : key;
}

static void
let_in(struct entry *entry, const struct gw_decision *decision)
{
	if (!take_limit(entry, kind_of(entry), who_counts(entry, decision->identity->key)))
		return;
	entry->decision = "allowed";
	if (is_watch(entry))
		entry->watch = gw_access_watch_begin(entry->keeper->access, &entry->question,
						     decision->identity, decision->made_ms, turned, entry);
	entry->next(entry->x);
}

/* Pass the request on with the caller's token. It counts for that token until it ends. */
static void
let_pass(struct entry *entry)
{
	const struct gw_exchange *x = entry->x;
	uint8_t key[GW_DIGEST];

	gw_access_bearer_key(entry->keeper->access, entry->question.authorization, key);
	if (!take_limit(entry, api_request_flag(&x->api, "follow") ? GW_LIMIT_WATCHES : kind_of(entry),
			who_counts(entry, key)))
		return;
	entry->decision = "passed";
	entry->next(entry->x);
}

static void
decided(void *ctx, const struct gw_decision *decision)
{
	struct entry *entry = ctx;
	struct gw_exchange *x = entry->x;

	entry->check = NULL;
	gw_on_gone(x, NULL, NULL);
	if (decision->identity)
		x->identity = gw_identity_ref(decision->identity);
	switch (decision->outcome) {
	case GW_ACCESS_ALLOWED:
		if (!decision->identity)
			break; /* an allowed decision must have an identity */
		let_in(entry, decision);
		return;
	case GW_ACCESS_UNAUTHENTICATED:
		refuse(entry, decision->outcome, "no token that is somebody's");
		return;
	case GW_ACCESS_FORBIDDEN:
		refuse_forbidden(entry, decision->identity ? decision->identity->user : "", decision->reason);
		return;
	case GW_ACCESS_BUSY:
		refuse(entry, decision->outcome, "reviews under way");
		return;
	case GW_ACCESS_UNAVAILABLE:
		break;
	}
	refuse(entry, GW_ACCESS_UNAVAILABLE, "no answer to a review");
}

static void
gone(void *ctx)
{
	struct entry *entry = ctx;

	gw_check_cancel(entry->check);
	entry->check = NULL;
}

static bool
is_by_connection(const struct gw_listener_config *listener)
{
	return listener->profile == GW_PROFILE_UNIX || listener->profile == GW_PROFILE_CERTIFICATES;
}

static void
refuse_connection(struct entry *entry)
{
	const struct gw_peer *peer = entry->x->peer;
	char user[32];

	if (peer->certificate) {
		refuse_forbidden(entry, peer->certificate->common_name, NOT_FOR_IT);
	} else if (peer->has_credentials) {
		snprintf(user, sizeof(user), "uid:%lu", (unsigned long)peer->uid);
		refuse_forbidden(entry, user, NOT_FOR_IT);
	} else {
		refuse(entry, GW_ACCESS_UNAUTHENTICATED, "the connection belongs to no user");
	}
}

/*
 * Impersonation is the API server's decision, and the arena shows the same objects to every admitted client.
 */
static void
refuse_impersonation(struct entry *entry)
{
	api_status_set(&entry->x->api.status, 403, "Forbidden",
		       "impersonation is the API server's to decide, and this request is not passed on "
		       "there: ask the API server itself, or have the listener pass through");
	refuse_with(entry, "forbidden", "impersonation");
}

/* Whether the request is passed on to the API server, which then decides access. */
static bool
passes(const struct entry *entry, bool bearer)
{
	if (!bearer || !entry->listener->pass_through)
		return false;
	if (entry->impersonates)
		return true;
	return !api_request_is_read(&entry->x->api) ||
	       (entry->resource && (!entry->x->api.resource || entry->kubelets));
}

static void
check_connection(struct entry *entry, bool bearer)
{
	struct gw_exchange *x = entry->x;
	bool goes_there = !x->node && passes(entry, bearer);
	/* upgrades are refused with the API server's URL, which only reviewed callers may learn */
	bool reviewed = gw_request_upgrades(x->api.connection) && gw_access_is_reviewed(entry->listener);
	struct gw_check *check;

	if (is_by_connection(entry->listener) && !entry->peer) {
		refuse_connection(entry);
		return;
	}
	if (entry->impersonates && !goes_there) {
		refuse_impersonation(entry);
		return;
	}
	x->passes = goes_there;
	if (goes_there && !reviewed) {
		let_pass(entry);
		return;
	}
	entry->question.past_scope = goes_there;
	gw_on_gone(x, gone, entry);
	check = gw_access_ask(entry->keeper->access, &entry->question, decided, entry);
	if (check)
		entry->check = check;
}

void
gw_gatekeeper_check(void *ctx, struct gw_exchange *x, gw_next *next)
{
	struct gw_gatekeeper *keeper = ctx;
	struct entry *entry = api_alloc(sizeof(*entry));
	const char *authorization = api_request_header(&x->api, "Authorization");
	size_t length;

	*entry = (struct entry){.keeper = keeper, .x = x, .next = next, .limit = GW_LIMIT_KINDS};
	entry->listener = gw_listener_profile(x->listener);
	entry->peer = gw_access_identity(keeper->access, entry->listener, x->peer);
	entry->impersonates = gw_request_impersonates(x->api.connection);
	read_attributes(entry);
	entry->question = (struct gw_question){.listener = entry->listener,
					       .attributes = &entry->attributes,
					       .authorization = authorization,
					       .peer = entry->peer,
					       .client = gw_peer_key(x->peer)};
	if (x->node)
		set_kubelets_own(entry);
	x->access = entry;
	check_connection(entry, gw_bearer_token(authorization, &length) != NULL);
}

/* ---- the end of a request ---- */

static void
source_of(const struct gw_peer *peer, char *out, size_t size)
{
	if (peer->has_credentials)
		snprintf(out, size, "uid:%lu,gid:%lu,pid:%ld", (unsigned long)peer->uid,
			 (unsigned long)peer->gid, (long)peer->pid);
	else
		snprintf(out, size, "%s", peer->address);
}

static void
write_audit(struct gw_gatekeeper *keeper, const struct gw_exchange *x, const struct entry *entry)
{
	_cleanup_(api_buf_done) struct api_buf line = {0};
	const struct gw_identity *who = x->identity;
	struct timespec now;
	char source[96];
	struct gw_audit_entry audit;

	clock_gettime(CLOCK_REALTIME, &now);
	source_of(x->peer, source, sizeof(source));
	audit = (struct gw_audit_entry){
		.wall_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000,
		.listener = gw_listener_name(x->listener),
		.source = source,
		.user = who ? who->user : "",
		.uid = who ? who->uid : "",
		.attributes = entry ? &entry->attributes : NULL,
		.rv_asked = entry ? api_request_query(&x->api, "resourceVersion") : NULL,
		.rv = x->rv,
		.decision = entry && entry->decision ? entry->decision : "none",
		.why = entry ? entry->why : "",
		.code = x->code,
		.bytes = x->sent,
		.duration_ns = x->begun_ns > 0 ? uv_hrtime() - x->begun_ns : 0,
	};
	gw_audit_line(&audit, &line);
	gw_audit_log_write(keeper->audit, line.data, line.len);
}

void
gw_gatekeeper_over(struct gw_exchange *x, void *ctx)
{
	struct gw_gatekeeper *keeper = ctx;
	struct entry *entry = x->access;

	if (keeper->audit)
		write_audit(keeper, x, entry);
	if (entry) {
		gw_check_cancel(entry->check);
		gw_access_watch_end(entry->watch);
		if (entry->limit != GW_LIMIT_KINDS)
			gw_quota_give_back(&keeper->quotas[entry->limit], entry->limit_key);
		gw_identity_unref(entry->peer);
		free(entry->reason);
		free(entry);
	}
	x->access = NULL;
	gw_identity_unref(x->identity);
	x->identity = NULL;
}
