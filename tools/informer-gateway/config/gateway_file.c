/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file, by tables of its fields; see gateway_file.h. */
#include "tools/informer-gateway/config/gateway_file.h"

#include <errno.h>
#include <string.h>

#include "tools/serving/buf.h"
#include "writer/base/message.h"
#include "writer/base/yaml_field.h"

static int
refuse(const struct yaml_reading *in, const cJSON *value, const char *why)
{
	return yaml_error(in->yaml, value, YAML_AT_VALUE, in->ret_error, -EINVAL, "%s", why);
}

/* ---- a listener ---- */

static int
take_name(void *at, const char *text, char **ret_error)
{
	(void)ret_error;
	gw_texts_add(at, text);
	return 0;
}

static const struct yaml_field name = {YAML_TEXT(take_name, NULL)};
static const struct yaml_field resource = {YAML_TEXT(gw_take_resource, NULL)};
static const struct yaml_field namespace_ = {YAML_TEXT(gw_take_namespace, NULL)};
static const struct yaml_field path = {YAML_TEXT(gw_take_path, NULL)};
static const struct yaml_field verb = {YAML_TEXT(gw_take_verb, "get, list or watch")};

#define IN_RULE(member) YAML_AT(struct gw_rule, member)
static const struct yaml_field rule_fields[] = {
	{"resources", YAML_LIST(resource, "a list of resources"), .least = 1, IN_RULE(resources)},
	{"namespaces",
	 YAML_LIST(namespace_, "a list of namespaces (of a rule for all of them, leave it out)"), .least = 1,
	 IN_RULE(namespaces)},
	{"verbs", YAML_LIST(verb, "a list of get, list, watch"), .least = 1, IN_RULE(verbs)},
	{"paths", YAML_LIST(path, "a list of paths"), .least = 1, IN_RULE(paths)},
};

static int
take_rule(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	struct gw_rule rule = {0};
	int r;

	if (cJSON_IsString(value)) /* in the form of --allow */
		return yaml_field_text(in, value, field, into);
	r = yaml_field_mapping(in, value, field, &rule);
	if (r == 0 && rule.resources.count == 0 && rule.paths.count == 0)
		r = refuse(in, value, "this rule has no 'resources', such as [pods]");
	if (r == 0 && rule.paths.count > 0 && (rule.resources.count > 0 || rule.namespaces.count > 0))
		r = refuse(in, value, "paths stand in a rule of their own");
	if (r == 0)
		gw_scope_add(into, &rule);
	else
		gw_rule_done(&rule);
	return r;
}

static const struct yaml_field rule = {
	YAML_FIELDS(rule_fields, "a mapping with resources, namespaces, verbs, paths"),
	.take = take_rule,
	.parse = gw_take_rule,
};

/* A uid or gid, as name or number. */
#define OF_LISTENER(member) YAML_AT(struct gw_listener_config, member)
static const struct yaml_field listener_fields[] = {
	{"name", YAML_STRING, OF_LISTENER(name)},
	{"listen", YAML_STRING, OF_LISTENER(listen)},
	{"inheritFd", YAML_COUNT(3, 1 << 20), OF_LISTENER(inherit_fd)},
	{"profile", YAML_TEXT(gw_take_profile, "a profile, as tokens"), OF_LISTENER(profile)},
	{"mode", YAML_TEXT(gw_take_mode, "a mode in quotes, as \"0660\""), OF_LISTENER(mode)},
	{"uids", YAML_LIST(account_user, ACCOUNT_LIST), OF_LISTENER(uids)},
	{"gids", YAML_LIST(account_group, ACCOUNT_LIST), OF_LISTENER(gids)},
	{"certificate", YAML_PATH, OF_LISTENER(certificate)},
	{"key", YAML_PATH, OF_LISTENER(key)},
	{"clientCA", YAML_PATH, OF_LISTENER(client_ca)},
	{"clientNames", YAML_LIST(name, "a list of names"), .least = 1, OF_LISTENER(client_names)},
	{"audiences", YAML_LIST(name, "a list of names"), .least = 1, OF_LISTENER(audiences)},
	{"scope", YAML_LIST(rule, "a list of rules (- resources: [pods])"), OF_LISTENER(scope)},
	{"openHealth", YAML_BOOL, OF_LISTENER(open_health)},
	{"freshness", YAML_CHOICE("cache", "strict"), OF_LISTENER(strict)},
	{"narrow", YAML_BOOL, OF_LISTENER(narrow)},
	{"misses", YAML_CHOICE("refuse", "wait"), OF_LISTENER(misses_wait)},
	{"deletedFor", YAML_TIME(0, 3600000), OF_LISTENER(deleted_for_ms)},
	{"passThrough", YAML_BOOL, OF_LISTENER(pass_through)},
};

static int
take_listener(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	struct gw_listener_config *listener = gw_config_add_listener(into);
	int r;

	if (!listener)
		return refuse(in, value, "there are more listeners than 16");
	listener->origin = yaml_field_place(in, value);
	r = listener->origin ? yaml_field_mapping(in, value, field, listener) : -ENOMEM;
	if (r == 0 && listener->listen && !listener->name)
		listener->name = api_strndup(listener->listen, strlen(listener->listen));
	return r;
}
_Static_assert(GW_LISTENERS_MAX == 16, "the message above");

/* ---- the file ---- */

static int
take_audit_file(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	if (cJSON_IsString(value) && strcmp(value->valuestring, "-") == 0)
		return yaml_field_string(in, value, field, into);
	return yaml_field_path(in, value, field, into);
}

static int
take_memory(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	uint64_t *bytes = into;
	int r = yaml_field_size(in, value, field, bytes);

	return r == 0 && *bytes < GW_MEMORY_LEAST ? yaml_field_wrong(in, value, field->expected) : r;
}

static int
take_chance(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0 && value->valuedouble <= GW_GOAWAY_MOST))
		return yaml_field_wrong(in, value, field->expected);
	*(double *)into = value->valuedouble;
	return 0;
}

#define AT(member) YAML_AT(struct gw_config, member)
static const struct yaml_field listener = {
	YAML_FIELDS(listener_fields, "a mapping with listen, profile and so on"),
	.take = take_listener,
};

static const struct yaml_field limits[] = {
	{"connections", YAML_COUNT(1, 1 << 20), AT(limits.connections)},
	{"connectionsByClient", YAML_COUNT(1, 1 << 20), AT(limits.connections_by_client)},
	{"requestsByIdentity", YAML_COUNT(1, 1 << 20), AT(limits.requests_by_identity)},
	{"watchesByIdentity", YAML_COUNT(1, 1 << 20), AT(limits.watches_by_identity)},
	{"headerTimeout", YAML_TIME(1000, 60000), AT(limits.header_timeout_ms)},
	{"bodyBytes", YAML_SIZE, AT(limits.body_bytes)},
};

static const struct yaml_field access_[] = {
	{"keepAllowed", YAML_TIME(10000, GW_KEEP_MOST_MS), AT(access.keep_allowed_ms)},
	{"keepRefused", YAML_TIME(1000, GW_KEEP_MOST_MS), AT(access.keep_refused_ms)},
	{"reviewTimeout", YAML_TIME(1000, 30000), AT(access.review_timeout_ms)},
	{"decisions", YAML_COUNT(16, 1 << 20), AT(access.decisions)},
	{"reviews", YAML_COUNT(1, 4096), AT(access.reviews)},
};

static const struct yaml_field audit[] = {{"file", .take = take_audit_file, AT(audit_file)}};

static const struct yaml_field fields[] = {
	SERVER_CHOICE_FIELDS(struct gw_config, server),
	{"socket", YAML_STRING, AT(socket)},
	{"nodeName", YAML_STRING, AT(node_name)},
	{"listeners", YAML_LIST(listener, "a list (- listen: 127.0.0.1:8443)")},
	{"limits", YAML_MAPPING(limits, "a mapping with connections and so on")},
	{"access", YAML_MAPPING(access_, "a mapping with keepAllowed and so on")},
	{"audit", YAML_MAPPING(audit, "a mapping with file")},
	{"history", YAML_SIZE, AT(history_bytes)},
	{"memory", .take = take_memory, .expected = "a size of at least 16Mi", AT(memory_bytes)},
	{"drain", YAML_TIME(0, 600000), AT(drain_ms)},
	{"goawayChance", .take = take_chance, .expected = "a number from 0 to 0.02", AT(goaway_chance)},
	{"logLevel", YAML_TEXT(log_level_take, "error, warning, info or debug"), AT(log_level)},
	{"logFormat", YAML_TEXT(log_format_take, "text or json"), AT(log_format)},
};
_Static_assert(sizeof(fields) / sizeof(*fields) <= YAML_FIELDS_MAX, "yaml_field_mapping() lists their names");

int
gw_config_load(const char *file, struct gw_config *config, char **ret_error)
{
	static const struct yaml_field whole = {YAML_MAPPING(fields, "a mapping with listeners: and so on")};

	return yaml_field_load(file, &whole, config, ret_error);
}
