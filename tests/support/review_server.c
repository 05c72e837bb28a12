/* SPDX-License-Identifier: Apache-2.0 */
/* An API server for reviews. */
#include "tests/support/review_server.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

struct review_call {
	struct review_call *next;
	struct review_server *server;
	char *document;
	bool token;
	gw_review_answer *answer;
	void *ctx;
};

static void *
post(void *ctx, const char *path, const char *document, gw_review_answer *answer, void *answer_ctx)
{
	struct review_server *server = ctx;
	struct review_call *call = calloc(1, sizeof(*call)), **at = &server->calls;

	*call = (struct review_call){.server = server, .answer = answer, .ctx = answer_ctx};
	call->document = strdup(document);
	call->token = strstr(path, "tokenreviews") != NULL;
	server->token_reviews += call->token;
	server->access_reviews += !call->token;
	free(server->last);
	server->last = strdup(document);
	while (*at)
		at = &(*at)->next;
	*at = call;
	return call;
}

static void
take_out(struct review_call *call)
{
	struct review_call **at = &call->server->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
}

static void
call_free(struct review_call *call)
{
	free(call->document);
	free(call);
}

static void
cancel(void *ctx)
{
	struct review_call *call = ctx;

	call->server->cancelled++;
	take_out(call);
	call_free(call);
}

struct gw_review_way
review_server_way(struct review_server *server)
{
	return (struct gw_review_way){server, post, cancel};
}

/* ---- deciding ---- */

static const char *
text_of(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(item) ? item->valuestring : "";
}

static bool
is_like(const char *wanted, const char *text)
{
	return !wanted || strcmp(wanted, "*") == 0 || strcmp(wanted, text) == 0;
}

static bool
has_audience(const cJSON *spec, const char *audience)
{
	const cJSON *asked = cJSON_GetObjectItemCaseSensitive(spec, "audiences"), *item;

	if (!asked)
		return !audience;
	cJSON_ArrayForEach(item, asked) if (audience && strcmp(item->valuestring, audience) == 0) return true;
	return false;
}

static void
review_token(const struct review_server *server, const cJSON *spec, cJSON *status)
{
	const struct review_token *t;
	cJSON *user, *list;

	for (t = server->tokens; t && t->token; t++)
		if (strcmp(t->token, text_of(spec, "token")) == 0 && has_audience(spec, t->audience))
			break;
	cJSON_AddBoolToObject(status, "authenticated", t && t->token);
	if (!t || !t->token)
		return;
	user = cJSON_AddObjectToObject(status, "user");
	cJSON_AddStringToObject(user, "username", t->user);
	list = cJSON_AddArrayToObject(user, "groups");
	cJSON_AddItemToArray(list, cJSON_CreateString("system:authenticated"));
	if (t->group)
		cJSON_AddItemToArray(list, cJSON_CreateString(t->group));
	if (t->audience)
		cJSON_AddItemToArray(cJSON_AddArrayToObject(status, "audiences"),
				     cJSON_CreateString(t->audience));
}

static bool
is_for(const struct review_grant *grant, const cJSON *spec)
{
	const cJSON *groups = cJSON_GetObjectItemCaseSensitive(spec, "groups"), *item;

	if (is_like(grant->who, text_of(spec, "user")))
		return true;
	cJSON_ArrayForEach(item, groups) if (strcmp(item->valuestring, grant->who) == 0) return true;
	return false;
}

static bool
grants(const struct review_grant *g, const cJSON *spec)
{
	const cJSON *of = cJSON_GetObjectItemCaseSensitive(spec, "resourceAttributes"),
		    *path = cJSON_GetObjectItemCaseSensitive(spec, "nonResourceAttributes"),
		    *field = cJSON_GetObjectItemCaseSensitive(of, "fieldSelector");
	const char *subresource = text_of(of, "subresource");
	char resource[256];

	snprintf(resource, sizeof(resource), "%s%s%s", text_of(of, "resource"), *subresource ? "/" : "",
		 subresource);
	if (!is_for(g, spec))
		return false;
	if (path)
		return g->path && is_like(g->path, text_of(path, "path"));
	return !g->path && is_like(g->verb, text_of(of, "verb")) && is_like(g->group, text_of(of, "group")) &&
	       is_like(g->resource, resource) &&
	       is_like(g->namespace_, text_of(of, "namespace")) && is_like(g->name, text_of(of, "name")) &&
	       is_like(g->field, text_of(field, "rawSelector"));
}

static void
review_access(const struct review_server *server, const cJSON *spec, cJSON *status)
{
	bool allowed = false;

	for (const struct review_grant *g = server->grants; g && g->who && !allowed; g++)
		allowed = grants(g, spec);
	cJSON_AddBoolToObject(status, "allowed", allowed);
	if (!allowed && server->reason)
		cJSON_AddStringToObject(status, "reason", server->reason);
}

static void
answer_one(struct review_call *call)
{
	struct review_server *server = call->server;
	cJSON *document = cJSON_Parse(call->document), *status = cJSON_AddObjectToObject(document, "status");
	const cJSON *spec = cJSON_GetObjectItemCaseSensitive(document, "spec");
	char *body;

	if (call->token)
		review_token(server, spec, status);
	else
		review_access(server, spec, status);
	body = server->code ? strdup(server->body ? server->body : "") : cJSON_PrintUnformatted(document);
	call->answer(call->ctx, server->code ? server->code : 201, body, strlen(body), "no way there");
	free(body);
	cJSON_Delete(document);
}

void
review_server_answer(struct review_server *server)
{
	while (server->calls) {
		struct review_call *call = server->calls;

		take_out(call);
		answer_one(call);
		call_free(call);
	}
}

unsigned
review_server_waiting(const struct review_server *server)
{
	unsigned count = 0;

	for (const struct review_call *call = server->calls; call; call = call->next)
		count++;
	return count;
}

void
review_server_done(struct review_server *server)
{
	while (server->calls)
		cancel(server->calls);
	free(server->last);
	server->last = NULL;
}
