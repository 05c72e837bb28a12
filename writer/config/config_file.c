/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration file: YAML into struct config, by tables of fields (config_field.h).
 */
#include "writer/config/config_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/queue.h"
#include "writer/config/config_field.h"
#include "writer/config/config_file_entry.h"
#include "writer/config/config_parse.h"
#include "writer/base/listen_address.h"
#include "writer/base/log.h"
#include "writer/base/message.h"

/* ---- scalars of their own ---- */

static int
take_max_readers(const struct yaml_reading *in, const cJSON *value, void *into)
{
	uint64_t number;
	int r;

	r = yaml_field_number(in, value, 1, CONFIG_LIMIT_MAX_READERS, &number);
	if (r == 0)
		*(unsigned *)into = (unsigned)number;
	return r;
}

static int
take_log_level(const struct yaml_reading *in, const cJSON *value, void *into)
{
	enum log_level level;

	if (!cJSON_IsString(value) || log_level_parse(value->valuestring, &level) < 0)
		return yaml_field_wrong(in, value, "error, warning, info or debug");
	*(int *)into = (int)level;
	return 0;
}

static int
take_timeout(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (!cJSON_IsString(value))
		return yaml_field_wrong(in, value, "a time as a string, such as 30s or 2m");
	r = server_choice_parse_timeout(value->valuestring, into, &error);
	return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;
}

static int
take_compression(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (!cJSON_IsString(value))
		return yaml_field_wrong(in, value, "auto, gzip or none");
	r = config_parse_compression(value->valuestring, into, &error);
	return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;
}

static int
take_time(const struct yaml_reading *in, const cJSON *value, void *into,
	  int (*parse)(const char *text, uint64_t *ret_ms, char **ret_error))
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (!cJSON_IsString(value))
		return yaml_field_wrong(in, value, "a time as a string, such as 800ms, 30s or 1m30s");
	r = parse(value->valuestring, into, &error);
	return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;
}

static int
take_backoff_wait(const struct yaml_reading *in, const cJSON *value, void *into)
{
	return take_time(in, value, into, config_parse_backoff);
}

static int
take_backoff_reset(const struct yaml_reading *in, const cJSON *value, void *into)
{
	return take_time(in, value, into, config_parse_backoff_reset);
}

static int
take_watch_timeout(const struct yaml_reading *in, const cJSON *value, void *into)
{
	return take_time(in, value, into, config_parse_watch_timeout);
}

static int
take_check_every(const struct yaml_reading *in, const cJSON *value, void *into)
{
	return take_time(in, value, into, config_parse_check_every);
}

static int
take_address(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	struct listen_address address;
	int r;

	r = yaml_field_string(in, value, into);
	if (r == 0)
		r = listen_address_parse(value->valuestring, &address, &error);
	return r < 0 && error ? yaml_field_placed(in, value, r, &error) : r;
}

/* ---- lists ------------------------------------------------------------------------------------ */

static int
take_ids(const struct yaml_reading *in, const cJSON *value, int (*add)(struct config *config, uint32_t id))
{
	const cJSON *item;
	uint64_t id;
	int r;

	if (!cJSON_IsArray(value))
		return yaml_field_wrong(in, value, "a list of numbers");
	cJSON_ArrayForEach(item, value) {
		r = yaml_field_number(in, item, 0, UINT32_MAX - 1.0, &id);
		if (r == 0)
			r = add(in->context, (uint32_t)id);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
take_uids(const struct yaml_reading *in, const cJSON *value, void *into)
{
	(void)into;
	return take_ids(in, value, config_add_uid);
}

static int
take_gids(const struct yaml_reading *in, const cJSON *value, void *into)
{
	(void)into;
	return take_ids(in, value, config_add_gid);
}

/* ---- the whole file ------------------------------------------------------------------------------ */

static int
take_arena(const struct yaml_reading *in, const cJSON *value, void *into)
{
	static const struct yaml_field fields[] = {
		{"dir", yaml_field_string, offsetof(struct config, arena_dir)},
		{"name", yaml_field_string, offsetof(struct config, arena_name)},
		{"maxBytes", yaml_field_size, offsetof(struct config, arena_max_bytes)},
		{"holdBytes", yaml_field_size, offsetof(struct config, hold_bytes)},
		{"holdSeconds", yaml_field_seconds, offsetof(struct config, hold_seconds)},
	};

	return yaml_field_mapping(in, value, YAML_FIELDS(fields), into,
				  "a mapping with dir, name, maxBytes, holdBytes, holdSeconds");
}

static int
take_access(const struct yaml_reading *in, const cJSON *value, void *into)
{
	static const struct yaml_field fields[] = {
		{"uids", take_uids, 0},
		{"gids", take_gids, 0},
		{"maxReaders", take_max_readers, offsetof(struct config, max_readers)},
	};

	return yaml_field_mapping(in, value, YAML_FIELDS(fields), into,
				  "a mapping with uids, gids, maxReaders");
}

static int
take_entries(const struct yaml_reading *in, const cJSON *value, void *into)
{
	uint64_t number;
	int r;

	r = yaml_field_number(in, value, QUEUE_ENTRIES_MIN, QUEUE_ENTRIES_MAX, &number);
	if (r == 0)
		*(unsigned *)into = (unsigned)number;
	return r;
}

static int
take_consumer_count(const struct yaml_reading *in, const cJSON *value, void *into)
{
	uint64_t number;
	int r;

	r = yaml_field_number(in, value, 1, CONFIG_LIMIT_CONSUMERS, &number);
	if (r == 0)
		*(unsigned *)into = (unsigned)number;
	return r;
}

static int
take_days(const struct yaml_reading *in, const cJSON *value, void *into)
{
	uint64_t number;
	int r;

	r = yaml_field_number(in, value, 1, 3650, &number);
	if (r == 0)
		*(unsigned *)into = (unsigned)number;
	return r;
}

static int
take_events(const struct yaml_reading *in, const cJSON *value, void *into)
{
	static const struct yaml_field fields[] = {
		{"queueEntries", take_entries, offsetof(struct config, queue_entries)},
		{"maxQueueEntries", take_entries, offsetof(struct config, max_queue_entries)},
		{"queueBytes", yaml_field_size, offsetof(struct config, queue_bytes)},
		{"queueSeconds", yaml_field_seconds, offsetof(struct config, queue_seconds)},
		{"maxQueueMemory", yaml_field_size, offsetof(struct config, max_queue_memory)},
	};

	return yaml_field_mapping(in, value, YAML_FIELDS(fields), into,
				  "a mapping with queueEntries, maxQueueEntries, queueBytes, queueSeconds, "
				  "maxQueueMemory");
}

static int
take_consumers(const struct yaml_reading *in, const cJSON *value, void *into)
{
	static const struct yaml_field fields[] = {
		{"perUser", take_consumer_count, offsetof(struct config, consumers_per_user)},
		{"total", take_consumer_count, offsetof(struct config, consumers_total)},
		{"days", take_days, offsetof(struct config, consumer_days)},
	};

	return yaml_field_mapping(in, value, YAML_FIELDS(fields), into,
				  "a mapping with perUser, total, days");
}

static int
take_backoff(const struct yaml_reading *in, const cJSON *value, void *into)
{
	static const struct yaml_field fields[] = {
		{"initial", take_backoff_wait, offsetof(struct backoff_pace, first_ms)},
		{"max", take_backoff_wait, offsetof(struct backoff_pace, max_ms)},
		{"reset", take_backoff_reset, offsetof(struct backoff_pace, reset_ms)},
	};

	return yaml_field_mapping(in, value, YAML_FIELDS(fields), into, "a mapping with initial, max, reset");
}

static int
take_groups(const struct yaml_reading *in, const cJSON *value, void *into)
{
	const cJSON *item;
	int r;

	if (!cJSON_IsArray(value))
		return yaml_field_wrong(in, value, "a list of groups");
	cJSON_ArrayForEach(item, value) {
		if (!cJSON_IsString(item) || !*item->valuestring)
			return yaml_field_wrong(in, item, "a group");
		r = server_choice_add_group(into, item->valuestring);
		if (r < 0)
			return r;
	}
	return 0;
}

int
config_load(const char *path, struct config *ret_config, char **ret_error)
{
	static const struct yaml_field fields[] = {
		{"kubeconfig", yaml_field_path, offsetof(struct config, choice.kubeconfig)},
		{"context", yaml_field_string, offsetof(struct config, choice.context)},
		{"cluster", yaml_field_string, offsetof(struct config, choice.cluster)},
		{"user", yaml_field_string, offsetof(struct config, choice.user)},
		{"server", yaml_field_string, offsetof(struct config, choice.server)},
		{"certificateAuthority", yaml_field_path,
		 offsetof(struct config, choice.certificate_authority)},
		{"insecureSkipTlsVerify", yaml_field_bool,
		 offsetof(struct config, choice.insecure_skip_tls_verify)},
		{"tlsServerName", yaml_field_string, offsetof(struct config, choice.tls_server_name)},
		{"clientCertificate", yaml_field_path, offsetof(struct config, choice.client_certificate)},
		{"clientKey", yaml_field_path, offsetof(struct config, choice.client_key)},
		{"as", yaml_field_string, offsetof(struct config, choice.as)},
		{"asUid", yaml_field_string, offsetof(struct config, choice.as_uid)},
		{"asGroups", take_groups, offsetof(struct config, choice)},
		{"disableCompression", yaml_field_bool, offsetof(struct config, choice.disable_compression)},
		{"compression", take_compression, offsetof(struct config, choice.compression)},
		{"requestTimeout", take_timeout, offsetof(struct config, choice.request_timeout_ms)},
		{"namespace", config_field_namespace, offsetof(struct config, namespace_)},
		{"resources", config_file_resources, 0},
		{"indexes", config_file_indexes, 0},
		{"keepManagedFields", yaml_field_bool, offsetof(struct config, keep_managed_fields)},
		{"watchList", config_field_choice, offsetof(struct config, watch_list)},
		{"wire", config_file_wire, offsetof(struct config, wire)},
		{"schema", yaml_field_path, offsetof(struct config, schema)},
		{"watchTimeout", take_watch_timeout, offsetof(struct config, watch_timeout_ms)},
		{"backoff", take_backoff, offsetof(struct config, backoff)},
		{"checkEvery", take_check_every, offsetof(struct config, check_every_ms)},
		{"allowSecrets", yaml_field_bool, offsetof(struct config, allow_secrets)},
		{"socket", yaml_field_string, offsetof(struct config, socket)},
		{"arena", take_arena, 0},
		{"access", take_access, 0},
		{"tombstones", config_file_tombstones, offsetof(struct config, tombstones)},
		{"events", take_events, 0},
		{"consumers", take_consumers, 0},
		{"metricsAddress", take_address, offsetof(struct config, metrics_address)},
		{"logLevel", take_log_level, offsetof(struct config, log_level)},
	};
	_Static_assert(sizeof(fields) / sizeof(*fields) <= YAML_FIELDS_MAX,
		       "yaml_field_mapping() lists their names");
	_cleanup_(yaml_unloadp) struct yaml *yaml = NULL;
	struct config config = {.log_level = -1};
	struct yaml_reading in;
	int r;

	r = yaml_load(path, &yaml, ret_error);
	if (r < 0)
		return r;
	in = (struct yaml_reading){yaml, &config, ret_error};
	r = yaml_field_mapping(&in, yaml_root(yaml), YAML_FIELDS(fields), &config,
			       "a mapping with resources: and so on");
	if (r < 0) {
		config_done(&config);
		return message_one_line(ret_error, r);
	}
	*ret_config = config;
	return 0;
}
