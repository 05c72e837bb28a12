/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask what, by the listener's profile and the API server's decision. */
#include "tests/tools/informer-gateway/access_world.h"

/* ---- tokens ---- */

/* A listener with tokens allows what the API server allows and refuses everything else. */
ACCESS_TEST(the_api_server_decides_for_tokens)
{
	static const struct {
		const char *authorization;
		struct gw_attributes attributes;
		enum gw_outcome outcome;
	} rows[] = {
#define ASK(verb, group, plural, ns, name, fields) {verb, group, "v1", plural, "", ns, name, fields, "", ""}
#define POD(verb, ns, name) ASK(verb, "", "pods", ns, name, "")
		{"Bearer t-admin", POD("list", "", ""), GW_ACCESS_ALLOWED},
		{"Bearer t-admin", POD("watch", "web", ""), GW_ACCESS_ALLOWED},
		{"Bearer t-viewer", POD("list", "web", ""), GW_ACCESS_ALLOWED},
		{"Bearer t-viewer", POD("get", "web", "a"), GW_ACCESS_ALLOWED},
		{"Bearer t-viewer", POD("list", "", ""), GW_ACCESS_FORBIDDEN},
		{"Bearer t-viewer", POD("list", "db", ""), GW_ACCESS_FORBIDDEN},
		{"Bearer t-viewer", ASK("get", "", "namespaces", "web", "web", ""), GW_ACCESS_ALLOWED},
		{"Bearer t-viewer", ASK("list", "", "namespaces", "", "", ""), GW_ACCESS_FORBIDDEN},
		{"Bearer t-viewer", ASK("list", "apps", "deployments", "", "", ""), GW_ACCESS_ALLOWED},
		{"Bearer t-viewer", ASK("watch", "apps", "deployments", "", "", ""), GW_ACCESS_FORBIDDEN},
		{"Bearer t-node", ASK("list", "", "pods", "", "", "spec.nodeName=n1"), GW_ACCESS_ALLOWED},
		{"Bearer t-node", ASK("list", "", "pods", "", "", "spec.nodeName=n2"), GW_ACCESS_FORBIDDEN},
		{"Bearer t-node", POD("list", "", ""), GW_ACCESS_FORBIDDEN},
		{"Bearer t-viewer", {"get", "", "", "", "", "", "", "", "", "/api"}, GW_ACCESS_ALLOWED},
		{"Bearer t-viewer", {"get", "", "", "", "", "", "", "", "", "/metrics"}, GW_ACCESS_FORBIDDEN},
		{"Bearer t-admin", {"get", "", "", "", "", "", "", "", "", "/metrics"}, GW_ACCESS_FORBIDDEN},
		{"Bearer t-agent", POD("get", "web", "a"), GW_ACCESS_ALLOWED},         /* our audience */
		{"Bearer t-other", POD("get", "web", "a"), GW_ACCESS_UNAUTHENTICATED}, /* another audience */
		{"Bearer t-nobody", POD("get", "web", "a"), GW_ACCESS_UNAUTHENTICATED},
		{"Bearer ", POD("get", "web", "a"), GW_ACCESS_UNAUTHENTICATED},
		{"Basic dDp0", POD("get", "web", "a"), GW_ACCESS_UNAUTHENTICATED},
		{"Bearer t-admin t-admin", POD("get", "web", "a"), GW_ACCESS_UNAUTHENTICATED},
		{"t-admin", POD("get", "web", "a"), GW_ACCESS_UNAUTHENTICATED},
		{NULL, POD("get", "web", "a"), GW_ACCESS_UNAUTHENTICATED},
		/* a listener serves secrets only if its scope names them */
		{"Bearer t-admin", ASK("list", "", "secrets", "", "", ""), GW_ACCESS_FORBIDDEN},
		{"Bearer t-admin", ASK("get", "", "secrets", "web", "s", ""), GW_ACCESS_FORBIDDEN},
	};

	gw_texts_add(&w->tokens->audiences, "informer-gateway");
	for (int round = 0; round < 2; round++) { /* asked, then from memory */
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
			enum gw_outcome outcome = access_world_ask(w, w->tokens, rows[i].authorization,
								   &rows[i].attributes);

			if (outcome != rows[i].outcome)
				fail_msg("row %zu: %d is not %d", i, (int)outcome, (int)rows[i].outcome);
		}
	}
}

static enum gw_outcome
ask_of_node(struct access_world *w, const char *authorization, const char *node)
{
	const struct gw_attributes list = access_world_pods("list", "", ""),
				   alternatives[] = {
					   {"get", "", "v1", "nodes", "pods", "", node, "", "", ""},
					   {"get", "", "v1", "nodes", "proxy", "", node, "", "", ""},
				   };
	struct gw_question question = {.listener = w->tokens,
				       .attributes = &list,
				       .alternatives = alternatives,
				       .alternative_count = 2,
				       .authorization = authorization};

	(void)gw_access_ask(w->access, &question, access_world_decided, w);
	review_server_answer(&w->server);
	return w->got.outcome;
}

/* Of several alternatives one must be allowed. They are reviewed in order, up to the first that is. */
ACCESS_TEST(one_of_the_alternatives_must_be_allowed)
{
	assert_int_equal(ask_of_node(w, "Bearer t-viewer", "n1"), GW_ACCESS_ALLOWED);
	assert_int_equal(w->server.access_reviews, 1);
	assert_int_equal(ask_of_node(w, "Bearer t-monitor", "n1"), GW_ACCESS_ALLOWED);
	assert_int_equal(w->server.access_reviews, 3);
	assert_int_equal(ask_of_node(w, "Bearer t-monitor", "n1"), GW_ACCESS_ALLOWED);
	assert_int_equal(w->server.access_reviews, 3); /* both decisions are remembered */
	assert_int_equal(ask_of_node(w, "Bearer t-monitor", "n2"), GW_ACCESS_FORBIDDEN);
	assert_int_equal(w->server.access_reviews, 5);
	/* the scope bounds what is served, which are pods */
	assert_int_equal(gw_take_rule(&w->tokens->scope, "nodes/pods,nodes/proxy,services", NULL), 0);
	assert_int_equal(ask_of_node(w, "Bearer t-viewer", "n1"), GW_ACCESS_FORBIDDEN);
	assert_int_equal(gw_take_rule(&w->tokens->scope, "pods", NULL), 0);
	assert_int_equal(ask_of_node(w, "Bearer t-viewer", "n1"), GW_ACCESS_ALLOWED);
}

/* A review without an answer is no refusal: the next alternative is not asked. */
ACCESS_TEST(an_alternative_without_an_answer_ends_the_check)
{
	assert_int_equal(ask_of_node(w, "Bearer t-viewer", "n1"), GW_ACCESS_ALLOWED);
	w->server.code = 500;
	assert_int_equal(ask_of_node(w, "Bearer t-viewer", "n2"), GW_ACCESS_UNAVAILABLE);
	assert_int_equal(w->server.access_reviews, 2);
}

/* A scope limits what reviews can allow. The API server is not asked about a request outside the scope. */
ACCESS_TEST(a_scope_limits_what_tokens_may_ask)
{
	struct gw_attributes here = access_world_pods("list", "web", ""),
			     there = access_world_pods("list", "db", "");
	struct gw_attributes secrets = {"list", "", "v1", "secrets", "", "web", "", "", "", ""};
	struct gw_listener_config *l;

	l = access_world_listener(w, GW_PROFILE_TOKENS, "pods,secrets?namespaces=web");
	assert_int_equal(access_world_ask(w, l, "Bearer t-admin", &here), GW_ACCESS_ALLOWED);
	assert_int_equal(access_world_ask(w, l, "Bearer t-admin", &secrets),
			 GW_ACCESS_ALLOWED); /* the scope names secrets */
	assert_int_equal(w->server.access_reviews, 2);
	assert_int_equal(access_world_ask(w, l, "Bearer t-admin", &there), GW_ACCESS_FORBIDDEN);
	assert_string_equal(w->got.identity->user, "admin");
	assert_int_equal(w->server.access_reviews, 2);
	assert_int_equal(access_world_ask(w, l, "Bearer t-viewer", &secrets), GW_ACCESS_FORBIDDEN);
}

/* A refusal carries the API server's reason, and no request to the API server contains the token. */
ACCESS_TEST(a_refusal_carries_the_servers_reason)
{
	struct gw_attributes a = access_world_pods("list", "", "");

	w->server.reason = "RBAC:\nno";
	assert_int_equal(access_world_ask(w, w->tokens, "Bearer t-viewer", &a), GW_ACCESS_FORBIDDEN);
	assert_string_equal(w->reason, "RBAC:?no");
	assert_null(strstr(w->server.last, "t-viewer"));
}

/* ---- the other profiles ---- */

/* On Unix sockets and with client certificates the peer and the scope decide. The API server is not asked. */
ACCESS_TEST(a_scope_decides_for_connections)
{
	static const enum gw_profile profiles[] = {GW_PROFILE_UNIX, GW_PROFILE_CERTIFICATES};
	const struct {
		struct gw_attributes asked;
		bool without_peer;
		enum gw_outcome outcome;
	} rows[] = {
		{access_world_pods("get", "web", "a"), false, GW_ACCESS_ALLOWED},
		{access_world_pods("list", "", ""), false, GW_ACCESS_FORBIDDEN},
		{gw_attributes_of_path("/version"), false, GW_ACCESS_ALLOWED},
		{gw_attributes_of_path("/metrics"), false, GW_ACCESS_FORBIDDEN},
		{access_world_pods("get", "web", "a"), true, GW_ACCESS_UNAUTHENTICATED},
	};
	struct gw_identity *peer = gw_identity_of_uid(1000);

	for (size_t i = 0; i < 2; i++) {
		struct gw_listener_config *l = access_world_listener(w, profiles[i], "pods?namespaces=web");

		for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
			struct gw_question q = {.listener = l,
						.attributes = &rows[k].asked,
						.peer = rows[k].without_peer ? NULL : peer,
						.authorization = "Bearer t-admin"};

			assert_null(gw_access_ask(w->access, &q, access_world_decided, w));
			if (w->got.outcome != rows[k].outcome)
				fail_msg("row %zu: %d is not %d", k, (int)w->got.outcome,
					 (int)rows[k].outcome);
			if (w->got.outcome == GW_ACCESS_ALLOWED)
				assert_string_equal(w->got.identity->user, "uid:1000");
		}
	}
	gw_identity_unref(peer);
	assert_int_equal(w->server.token_reviews + w->server.access_reviews, 0);
}

/*
 * An insecure listener allows what its scope allows. A listener that passes through, or has no profile,
 * allows nothing from the arena.
 */
ACCESS_TEST(nothing_is_allowed_without_a_rule)
{
	struct gw_attributes here = access_world_pods("get", "web", "a"),
			     there = access_world_pods("list", "", "");

	assert_int_equal(
		access_world_ask(w, access_world_listener(w, GW_PROFILE_INSECURE, "pods?namespaces=web"),
				 NULL, &here),
		GW_ACCESS_ALLOWED);
	assert_string_equal(w->got.identity->user, "system:anonymous");
	assert_int_equal(access_world_ask(w, &w->listeners.listeners[0], "Bearer t-admin", &there),
			 GW_ACCESS_FORBIDDEN);
	assert_int_equal(
		access_world_ask(w, access_world_listener(w, GW_PROFILE_NONE, "*"), "Bearer t-admin", &here),
		GW_ACCESS_FORBIDDEN);
	assert_int_equal(w->server.token_reviews, 0);
}

/* With open_health a listener serves /livez to everybody, and nothing else. */
ACCESS_TEST(open_health_admits_everybody_to_livez)
{
	struct gw_attributes live = gw_attributes_of_path("/livez"),
			     each = gw_attributes_of_path("/livez/ping");

	assert_int_equal(access_world_ask(w, w->tokens, NULL, &live), GW_ACCESS_UNAUTHENTICATED);
	w->tokens->open_health = true;
	assert_int_equal(access_world_ask(w, w->tokens, NULL, &live), GW_ACCESS_ALLOWED);
	assert_int_equal(access_world_ask(w, w->tokens, NULL, &each), GW_ACCESS_UNAUTHENTICATED);
}

/* A Unix socket admits the configured uids and gids, also supplementary groups. Root is no exception. */
ACCESS_TEST(configured_ids_are_admitted)
{
	struct gw_listener_config *l = access_world_listener(w, GW_PROFILE_UNIX, NULL);
	gid_t others[] = {30, 40};
	const struct {
		struct gw_peer peer;
		const char *user; /* NULL: refused */
	} rows[] = {
		{{.has_credentials = true, .uid = 1000, .gid = 1000}, "uid:1000"},
		{{.has_credentials = true, .uid = 1, .gid = 40}, "uid:1"},
		{{.has_credentials = true, .uid = 1, .gid = 1, .groups = others, .group_count = 2}, "uid:1"},
		{{.has_credentials = true, .uid = 1, .gid = 1, .groups = others, .group_count = 1}, NULL},
		{{.has_credentials = true}, NULL},
		{{.uid = 1000}, NULL},
	};

	assert_int_equal(refs_push(&l->uids, 1000), 0);
	assert_int_equal(refs_push(&l->gids, 40), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct gw_identity *identity = gw_access_identity(w->access, l, &rows[i].peer);

		if (rows[i].user)
			assert_string_equal(identity->user, rows[i].user);
		else
			assert_null(identity);
		gw_identity_unref(identity);
	}
}
