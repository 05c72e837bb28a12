/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file: what stands beside `listeners:`; see gateway_file.h. */
#include "tools/informer-gateway/config/gateway_file.h"

#include "tools/informer-gateway/config/gateway_file_listener.h"
#include "writer/base/message.h"

/* ---- numbers and times, each with its bounds ---- */

#define TAKE_COUNT(function, least, most)                                                                    \
	static int function(const struct yaml_reading *in, const cJSON *value, void *into)                   \
	{                                                                                                    \
		uint64_t number;                                                                             \
		int r = yaml_field_number(in, value, least, most, &number);                                  \
                                                                                                             \
		if (r == 0)                                                                                  \
			*(unsigned *)into = (unsigned)number;                                                \
		return r;                                                                                    \
	}
#define TAKE_TIME(function, least, most)                                                                     \
	static int function(const struct yaml_reading *in, const cJSON *value, void *into)                   \
	{                                                                                                    \
		return yaml_field_time(in, value, least, most, into);                                        \
	}
TAKE_COUNT(take_connections, 1, 1 << 20)
TAKE_COUNT(take_by_identity, 1, 1 << 20)
TAKE_COUNT(take_decisions, 16, 1 << 20)
TAKE_COUNT(take_reviews, 1, 4096)
TAKE_TIME(take_keep, GW_KEEP_LEAST_MS, GW_KEEP_MOST_MS)
TAKE_TIME(take_keep_refused, 1000, GW_KEEP_MOST_MS)
TAKE_TIME(take_review_timeout, GW_REVIEW_LEAST_MS, GW_REVIEW_MOST_MS)
TAKE_TIME(take_header_timeout, 1000, 60000)
TAKE_TIME(take_drain, 0, 600000)

static int
take_audit_file(const struct yaml_reading *in, const cJSON *value, void *into)
{
	if (cJSON_IsString(value) && value->valuestring[0] == '-' && !value->valuestring[1])
		return yaml_field_string(in, value, into);
	return yaml_field_path(in, value, into);
}

static int
take_log_level(const struct yaml_reading *in, const cJSON *value, void *into)
{
	if (!cJSON_IsString(value) || log_level_parse(value->valuestring, into) < 0)
		return yaml_field_wrong(in, value, "error, warning, info or debug");
	return 0;
}

static int
take_groups(const struct yaml_reading *in, const cJSON *value, void *into)
{
	const cJSON *item;
	int r = 0;

	if (!cJSON_IsArray(value))
		return yaml_field_wrong(in, value, "a list of groups");
	cJSON_ArrayForEach(item, value)
	{
		if (!cJSON_IsString(item) || !*item->valuestring)
			return yaml_field_wrong(in, item, "a group");
		r = server_choice_add_group(into, item->valuestring);
		if (r < 0)
			break;
	}
	return r;
}

static int
take_server_timeout(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (!cJSON_IsString(value))
		return yaml_field_wrong(in, value, "a time as a string, such as 30s or 2m");
	r = server_choice_parse_timeout(value->valuestring, into, &error);
	return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;
}

/* ---- mappings ---- */

static int
take_limits(const struct yaml_reading *in, const cJSON *value, void *into)
{
	static const struct yaml_field fields[] = {
		{"connections", take_connections, offsetof(struct gw_limits_config, connections)},
		{"connectionsByClient", take_connections,
		 offsetof(struct gw_limits_config, connections_by_client)},
		{"requestsByIdentity", take_by_identity,
		 offsetof(struct gw_limits_config, requests_by_identity)},
		{"watchesByIdentity", take_by_identity,
		 offsetof(struct gw_limits_config, watches_by_identity)},
		{"headerTimeout", take_header_timeout, offsetof(struct gw_limits_config, header_timeout_ms)},
		{"bodyBytes", yaml_field_size, offsetof(struct gw_limits_config, body_bytes)},
	};

	return yaml_field_mapping(in, value, YAML_FIELDS(fields), into,
				  "a mapping with connections and so on");
}

static int
take_access(const struct yaml_reading *in, const cJSON *value, void *into)
{
	static const struct yaml_field fields[] = {
		{"keepAllowed", take_keep, offsetof(struct gw_access_config, keep_allowed_ms)},
		{"keepRefused", take_keep_refused, offsetof(struct gw_access_config, keep_refused_ms)},
		{"reviewTimeout", take_review_timeout, offsetof(struct gw_access_config, review_timeout_ms)},
		{"decisions", take_decisions, offsetof(struct gw_access_config, decisions)},
		{"reviews", take_reviews, offsetof(struct gw_access_config, reviews)},
	};

	return yaml_field_mapping(in, value, YAML_FIELDS(fields), into,
				  "a mapping with keepAllowed and so on");
}

static int
take_audit(const struct yaml_reading *in, const cJSON *value, void *into)
{
	static const struct yaml_field fields[] = {
		{"file", take_audit_file, offsetof(struct gw_config, audit_file)},
	};

	return yaml_field_mapping(in, value, YAML_FIELDS(fields), into, "a mapping with file");
}

static int
take_memory(const struct yaml_reading *in, const cJSON *value, void *into)
{
	uint64_t bytes;
	int r = yaml_field_size(in, value, &bytes);

	if (r < 0)
		return r;
	if (bytes < GW_MEMORY_LEAST)
		return yaml_field_wrong(in, value, "a size of at least 16Mi");
	*(uint64_t *)into = bytes;
	return 0;
}

static int
take_chance(const struct yaml_reading *in, const cJSON *value, void *into)
{
	if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0 && value->valuedouble <= GW_GOAWAY_MOST))
		return yaml_field_wrong(in, value, "a number from 0 to 0.02");
	*(double *)into = value->valuedouble;
	return 0;
}

#define SERVER(member) offsetof(struct gw_config, server.member)

int
gw_config_load(const char *path, struct gw_config *config, char **ret_error)
{
	static const struct yaml_field fields[] = {
		{"socket", yaml_field_string, offsetof(struct gw_config, socket)},
		{"kubeconfig", yaml_field_path, SERVER(kubeconfig)},
		{"context", yaml_field_string, SERVER(context)},
		{"cluster", yaml_field_string, SERVER(cluster)},
		{"user", yaml_field_string, SERVER(user)},
		{"server", yaml_field_string, SERVER(server)},
		{"certificateAuthority", yaml_field_path, SERVER(certificate_authority)},
		{"insecureSkipTlsVerify", yaml_field_bool, SERVER(insecure_skip_tls_verify)},
		{"tlsServerName", yaml_field_string, SERVER(tls_server_name)},
		{"clientCertificate", yaml_field_path, SERVER(client_certificate)},
		{"clientKey", yaml_field_path, SERVER(client_key)},
		{"as", yaml_field_string, SERVER(as)},
		{"asUid", yaml_field_string, SERVER(as_uid)},
		{"asGroups", take_groups, offsetof(struct gw_config, server)},
		{"requestTimeout", take_server_timeout, SERVER(request_timeout_ms)},
		{"listeners", gw_file_listeners, 0},
		{"limits", take_limits, offsetof(struct gw_config, limits)},
		{"access", take_access, offsetof(struct gw_config, access)},
		{"audit", take_audit, 0},
		{"history", yaml_field_size, offsetof(struct gw_config, history_bytes)},
		{"memory", take_memory, offsetof(struct gw_config, memory_bytes)},
		{"drain", take_drain, offsetof(struct gw_config, drain_ms)},
		{"goawayChance", take_chance, offsetof(struct gw_config, goaway_chance)},
		{"logLevel", take_log_level, offsetof(struct gw_config, log_level)},
	};
	_Static_assert(sizeof(fields) / sizeof(*fields) <= YAML_FIELDS_MAX,
		       "yaml_field_mapping() lists their names");
	_cleanup_(yaml_unloadp) struct yaml *yaml = NULL;
	struct yaml_reading in;
	int r;

	r = yaml_load(path, &yaml, ret_error);
	if (r < 0)
		return r;
	in = (struct yaml_reading){yaml, config, ret_error};
	r = yaml_field_mapping(&in, yaml_root(yaml), YAML_FIELDS(fields), config,
			       "a mapping with listeners: and so on");
	return r < 0 ? message_one_line(ret_error, r) : 0;
}
