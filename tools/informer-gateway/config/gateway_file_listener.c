/* SPDX-License-Identifier: Apache-2.0 */
/* `listeners:` of the configuration file; see gateway_file_listener.h. */
#include "tools/informer-gateway/config/gateway_file_listener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/message.h"

/* Take a text by a parser of one value. */
#define TAKE_PARSED(function, type, parse, expected)                                                         \
	static int function(const struct yaml_reading *in, const cJSON *value, void *into)                   \
	{                                                                                                    \
		_cleanup_(message_freep) char *error = NULL;                                                 \
		int r;                                                                                       \
                                                                                                             \
		if (!cJSON_IsString(value))                                                                  \
			return yaml_field_wrong(in, value, expected);                                        \
		r = parse(value->valuestring, (type *)into, &error);                                         \
		return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;                                  \
	}
TAKE_PARSED(take_profile, enum gw_profile, gw_config_parse_profile, "a profile, as tokens")
TAKE_PARSED(take_freshness, enum gw_freshness_choice, gw_config_parse_freshness, "cache or strict")
TAKE_PARSED(take_mode, unsigned, gw_config_parse_mode, "a mode in quotes, as \"0660\"")

/* ---- lists ---- */

static int
take_texts(const struct yaml_reading *in, const cJSON *value, struct gw_texts *texts,
	   int (*check)(const char *text, char **ret_error), const char *expected)
{
	_cleanup_(message_freep) char *error = NULL;
	const cJSON *item;
	int r = 0;

	if (!cJSON_IsArray(value) || !value->child)
		return yaml_field_wrong(in, value, expected);
	cJSON_ArrayForEach(item, value)
	{
		if (!cJSON_IsString(item) || !*item->valuestring)
			return yaml_field_wrong(in, item, "a string (numbers and words like true in quotes)");
		r = check ? check(item->valuestring, &error) : 0;
		if (r < 0)
			return yaml_field_placed(in, item, r, &error);
		r = gw_texts_add(texts, item->valuestring, strlen(item->valuestring));
		if (r < 0)
			break;
	}
	return r;
}

int
gw_file_names(const struct yaml_reading *in, const cJSON *value, void *into)
{
	return take_texts(in, value, into, NULL, "a list of names");
}

static int
take_resources(const struct yaml_reading *in, const cJSON *value, void *into)
{
	return take_texts(in, value, into, gw_scope_check_resource, "a list of resources");
}

static int
gw_file_namespaces(const struct yaml_reading *in, const cJSON *value, void *into)
{
	return take_texts(in, value, into, gw_scope_check_namespace,
			  "a list of namespaces (of a rule for all of them, leave it out)");
}

static int
take_paths(const struct yaml_reading *in, const cJSON *value, void *into)
{
	return take_texts(in, value, into, gw_scope_check_path, "a list of paths");
}

static int
take_verbs(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	const cJSON *item;

	if (!cJSON_IsArray(value) || !value->child)
		return yaml_field_wrong(in, value, "a list of get, list, watch");
	cJSON_ArrayForEach(item, value)
	{
		if (!cJSON_IsString(item))
			return yaml_field_wrong(in, item, "get, list or watch");
		if (gw_scope_parse_verb(item->valuestring, into, &error) < 0)
			return yaml_field_placed(in, item, -EINVAL, &error);
	}
	return 0;
}

/* Names and numbers. */
static int
take_ids(const struct yaml_reading *in, const cJSON *value, struct gw_ids *ids,
	 int (*parse)(const char *text, uint32_t *ret_id, char **ret_error))
{
	_cleanup_(message_freep) char *error = NULL;
	const cJSON *item;
	uint64_t number;
	uint32_t id;
	int r;

	if (!cJSON_IsArray(value))
		return yaml_field_wrong(in, value, "a list of names or numbers");
	cJSON_ArrayForEach(item, value)
	{
		if (cJSON_IsString(item)) {
			if (parse(item->valuestring, &id, &error) < 0)
				return yaml_field_placed(in, item, -EINVAL, &error);
		} else {
			r = yaml_field_number(in, item, 0, UINT32_MAX - 1.0, &number);
			if (r < 0)
				return r;
			id = (uint32_t)number;
		}
		r = gw_ids_add(ids, id);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
take_uids(const struct yaml_reading *in, const cJSON *value, void *into)
{
	return take_ids(in, value, into, gw_config_parse_uid);
}

static int
take_gids(const struct yaml_reading *in, const cJSON *value, void *into)
{
	return take_ids(in, value, into, gw_config_parse_gid);
}

/* ---- a scope ---- */

static int
take_rule(const struct yaml_reading *in, const cJSON *entry, struct gw_scope *scope)
{
	static const struct yaml_field fields[] = {
		{"resources", take_resources, offsetof(struct gw_rule, resources)},
		{"namespaces", gw_file_namespaces, offsetof(struct gw_rule, namespaces)},
		{"verbs", take_verbs, offsetof(struct gw_rule, verbs)},
		{"paths", take_paths, offsetof(struct gw_rule, paths)},
	};
	struct gw_rule rule = {0};
	int r;

	r = yaml_field_mapping(in, entry, YAML_FIELDS(fields), &rule,
			       "a mapping with resources, namespaces, verbs, paths");
	if (r == 0 && rule.resources.count == 0 && rule.paths.count == 0)
		r = yaml_error(in->yaml, entry, YAML_AT_VALUE, in->ret_error, -EINVAL,
			       "this rule has no 'resources', such as [pods]");
	if (r == 0 && rule.paths.count > 0 && (rule.resources.count > 0 || rule.namespaces.count > 0))
		r = yaml_error(in->yaml, entry, YAML_AT_VALUE, in->ret_error, -EINVAL,
			       "paths stand in a rule of their own");
	if (r == 0)
		return gw_scope_take(scope, &rule);
	gw_rule_done(&rule);
	return r;
}

static int
take_scope(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	const cJSON *entry;
	int r = 0;

	if (!cJSON_IsArray(value))
		return yaml_field_wrong(in, value, "a list of rules (- resources: [pods])");
	cJSON_ArrayForEach(entry, value)
	{
		if (!cJSON_IsString(entry)) {
			r = take_rule(in, entry, into);
		} else { /* as --allow */
			r = gw_scope_parse_rule(entry->valuestring, into, &error);
			if (r < 0)
				return yaml_field_placed(in, entry, r, &error);
		}
		if (r < 0)
			break;
	}
	return r;
}

/* ---- a listener ---- */

static int
take_misses(const struct yaml_reading *in, const cJSON *value, void *into)
{
	bool waits = cJSON_IsString(value) && strcmp(value->valuestring, "wait") == 0;

	if (!waits && !(cJSON_IsString(value) && strcmp(value->valuestring, "refuse") == 0))
		return yaml_field_wrong(in, value, "refuse or wait");
	*(bool *)into = waits;
	return 0;
}

static int
take_deleted_for(const struct yaml_reading *in, const cJSON *value, void *into)
{
	return yaml_field_time(in, value, 0, 3600000, into);
}

static int
take_descriptor(const struct yaml_reading *in, const cJSON *value, void *into)
{
	uint64_t number;
	int r = yaml_field_number(in, value, 3, 1 << 20, &number);

	if (r == 0)
		*(int *)into = (int)number;
	return r;
}

static char *
place_of(const struct yaml_reading *in, const cJSON *entry)
{
	unsigned line, column;
	char *text;

	yaml_position(entry, YAML_AT_VALUE, &line, &column);
	return asprintf(&text, "%s:%u:%u", yaml_name(in->yaml), line, column) < 0 ? NULL : text;
}

#define AT(member) offsetof(struct gw_listener_config, member)

static int
take_listener(const struct yaml_reading *in, const cJSON *entry)
{
	static const struct yaml_field fields[] = {
		{"name", yaml_field_string, AT(name)},
		{"listen", yaml_field_string, AT(listen)},
		{"inheritFd", take_descriptor, AT(inherit_fd)},
		{"profile", take_profile, AT(profile)},
		{"mode", take_mode, AT(mode)},
		{"uids", take_uids, AT(uids)},
		{"gids", take_gids, AT(gids)},
		{"certificate", yaml_field_path, AT(certificate)},
		{"key", yaml_field_path, AT(key)},
		{"clientCA", yaml_field_path, AT(client_ca)},
		{"clientNames", gw_file_names, AT(client_names)},
		{"audiences", gw_file_names, AT(audiences)},
		{"scope", take_scope, AT(scope)},
		{"openHealth", yaml_field_bool, AT(open_health)},
		{"freshness", take_freshness, AT(freshness)},
		{"narrow", yaml_field_bool, AT(narrow)},
		{"misses", take_misses, AT(misses_wait)},
		{"deletedFor", take_deleted_for, AT(deleted_for_ms)},
		{"passThrough", yaml_field_bool, AT(pass_through)},
	};
	struct gw_listener_config *listener = gw_config_add_listener(in->context);
	int r;

	if (!listener)
		return yaml_error(in->yaml, entry, YAML_AT_VALUE, in->ret_error, -EINVAL,
				  "there are more than %d listeners", GW_LISTENERS_MAX);
	listener->origin = place_of(in, entry);
	if (!listener->origin)
		return -ENOMEM;
	r = yaml_field_mapping(in, entry, YAML_FIELDS(fields), listener,
			       "a mapping with listen, profile and so on");
	if (r == 0 && !listener->listen)
		r = yaml_error(in->yaml, entry, YAML_AT_VALUE, in->ret_error, -EINVAL,
			       "this listener has no 'listen', such as 127.0.0.1:8443");
	if (r == 0 && !listener->name)
		listener->name = strdup(listener->listen);
	return r < 0 || listener->name ? r : -ENOMEM;
}

int
gw_file_listeners(const struct yaml_reading *in, const cJSON *value, void *into)
{
	const cJSON *entry;
	int r = 0;

	(void)into;
	if (!cJSON_IsArray(value))
		return yaml_field_wrong(in, value, "a list (- listen: 127.0.0.1:8443)");
	cJSON_ArrayForEach(entry, value) if (r == 0) r = take_listener(in, entry);
	return r;
}
