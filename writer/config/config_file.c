/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the configuration file: YAML into struct config, by tables of fields (yaml_field.h).
 */
#include "writer/config/config_file.h"

#include "shm-layout/queue.h"
#include "writer/config/config_file_entry.h"
#include "writer/config/config_parse.h"
#include "writer/config/preset.h"
#include "writer/base/account.h"
#include "writer/base/log.h"

#define AT(member) YAML_AT(struct config, member)

static const struct yaml_field arena[] = {
	{"dir", YAML_STRING, AT(arena_dir)},
	{"name", YAML_STRING, AT(arena_name)},
	{"maxBytes", YAML_SIZE, AT(arena_max_bytes)},
	{"holdBytes", YAML_SIZE, AT(hold_bytes)},
	{"holdSeconds", YAML_COUNT(1, 86400), AT(hold_seconds)},
};

static const struct yaml_field access_[] = {
	{"uids", YAML_LIST(account_user, ACCOUNT_LIST), AT(allow_uids)},
	{"gids", YAML_LIST(account_group, ACCOUNT_LIST), AT(allow_gids)},
	{"maxReaders", YAML_COUNT(1, CONFIG_LIMIT_MAX_READERS), AT(max_readers)},
};

static const struct yaml_field events[] = {
	{"queueEntries", YAML_COUNT(QUEUE_ENTRIES_MIN, QUEUE_ENTRIES_MAX), AT(queue_entries)},
	{"maxQueueEntries", YAML_COUNT(QUEUE_ENTRIES_MIN, QUEUE_ENTRIES_MAX), AT(max_queue_entries)},
	{"queueBytes", YAML_SIZE, AT(queue_bytes)},
	{"queueSeconds", YAML_COUNT(1, 86400), AT(queue_seconds)},
	{"maxQueueMemory", YAML_SIZE, AT(max_queue_memory)},
};

static const struct yaml_field consumers[] = {
	{"perUser", YAML_COUNT(1, CONFIG_LIMIT_CONSUMERS), AT(consumers_per_user)},
	{"total", YAML_COUNT(1, CONFIG_LIMIT_CONSUMERS), AT(consumers_total)},
	{"days", YAML_COUNT(1, 3650), AT(consumer_days)},
};

static const struct yaml_field backoff[] = {
	{"initial", YAML_TIME(CONFIG_LEAST_BACKOFF, CONFIG_LIMIT_BACKOFF), AT(backoff.first_ms)},
	{"max", YAML_TIME(CONFIG_LEAST_BACKOFF, CONFIG_LIMIT_BACKOFF), AT(backoff.max_ms)},
	{"reset", YAML_TIME(CONFIG_LEAST_RESET, CONFIG_LIMIT_RESET), AT(backoff.reset_ms)},
};

static const struct yaml_field fields[] = {
	SERVER_CHOICE_FIELDS(struct config, choice),
	{"disableCompression", YAML_BOOL, AT(choice.disable_compression)},
	{"compression", YAML_TEXT(config_take_compression, "auto, gzip or none"), AT(choice.compression)},
	{"namespace", YAML_TEXT(config_file_namespace, NULL), AT(namespace_)},
	{"preset", YAML_TEXT(preset_take, "node-agent"), AT(preset)},
	{"resources", YAML_LIST(config_file_resource, "a list (- resource: pods)")},
	{"indexes", YAML_LIST(config_file_index, "a list (- name: byUser)")},
	{"keepManagedFields", YAML_BOOL, AT(keep_managed_fields)},
	{"watchList", .take = config_file_choice, AT(watch_list)},
	{"wire", YAML_TEXT(config_take_wire, "auto, json or protobuf"), AT(wire)},
	{"schema", YAML_PATH, AT(schema)},
	{"watchTimeout", YAML_TIME(CONFIG_LEAST_WATCH, CONFIG_LIMIT_WATCH), AT(watch_timeout_ms)},
	{"backoff", YAML_MAPPING(backoff, "a mapping with initial, max, reset")},
	{"checkEvery", YAML_TIME(CONFIG_LEAST_CHECK, CONFIG_LIMIT_CHECK), AT(check_every_ms)},
	{"allowSecrets", YAML_BOOL, AT(allow_secrets)},
	{"socket", YAML_STRING, AT(socket)},
	{"arena", YAML_MAPPING(arena, "a mapping with dir, name, maxBytes, holdBytes, holdSeconds")},
	{"access", YAML_MAPPING(access_, "a mapping with uids, gids, maxReaders")},
	{"tombstones", CONFIG_FILE_TOMBSTONES, AT(tombstones)},
	{"events", YAML_MAPPING(events, "a mapping with queueEntries, maxQueueEntries, queueBytes, "
					"queueSeconds, maxQueueMemory")},
	{"consumers", YAML_MAPPING(consumers, "a mapping with perUser, total, days")},
	{"metricsAddress", YAML_TEXT(config_take_address, NULL), AT(metrics_address)},
	{"logLevel", YAML_TEXT(log_level_take, "error, warning, info or debug"), AT(log_level)},
	{"logFormat", YAML_TEXT(log_format_take, "text or json"), AT(log_format)},
};
_Static_assert(sizeof(fields) / sizeof(*fields) <= YAML_FIELDS_MAX, "yaml_field_mapping() lists their names");

int
config_load(const char *path, const char *data, size_t length, struct config *ret_config, char **ret_error)
{
	static const struct yaml_field whole = {YAML_MAPPING(fields, "a mapping with resources: and so on")};
	struct config config = {.log_level = -1};
	int r = yaml_field_parse(path, data, length, &whole, &config, ret_error);

	if (r < 0)
		config_done(&config);
	else
		*ret_config = config;
	return r;
}
