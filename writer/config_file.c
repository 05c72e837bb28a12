/*
 * The configuration file: YAML into struct config. Each mapping is described by a table of fields;
 * one that is not in its table, or of another type, is refused with file:line:column.
 */
#include "writer/config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/queue.h"
#include "writer/config_parse.h"
#include "writer/decoder.h"
#include "writer/log.h"
#include "writer/message.h"
#include "writer/yaml.h"

#define MAX_FIELDS 32

struct reading {
	const struct yaml *yaml;
	struct config *config;
	char **ret_error;
};

/* A field's name and what takes its value into `into`. */
struct field {
	const char *name;
	int (*take)(const struct reading *in, const cJSON *value, void *into);
	size_t offset;
};

static int
wrong(const struct reading *in, const cJSON *value, const char *expected)
{
	return yaml_error(in->yaml, value, YAML_AT_VALUE, in->ret_error, -EINVAL, "%s must be %s",
			  value->string ? value->string : "what stands here", expected);
}

/* Put file:line:column before a message of config_parse.h's. */
static int
placed(const struct reading *in, const cJSON *value, int code, char **error)
{
	if (code == -ENOMEM)
		return code;
	return yaml_error(in->yaml, value, YAML_AT_VALUE, in->ret_error, code, "%s", *error ? *error : "no memory");
}

static int
take_mapping(const struct reading *in, const cJSON *object, const struct field *fields, size_t n, void *into,
	     const char *what)
{
	const char *names[MAX_FIELDS], *near;
	const cJSON *member;
	size_t i;
	int r;

	if (!cJSON_IsObject(object))
		return wrong(in, object, what);
	for (i = 0; i < n; i++)
		names[i] = fields[i].name;
	cJSON_ArrayForEach(member, object) {
		for (i = 0; i < n && strcmp(fields[i].name, member->string) != 0; i++)
			;
		if (i == n) {
			near = message_nearest(member->string, names, n);
			return yaml_error(in->yaml, member, YAML_AT_KEY, in->ret_error, -EINVAL, "unknown field '%s'%s%s%s",
					  member->string, near ? "; did you mean " : "", near ? near : "",
					  near ? "?" : "");
		}
		if (cJSON_IsNull(member))
			continue; /* as if it were not there */
		r = fields[i].take(in, member, (char *)into + fields[i].offset);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- scalars -------------------------------------------------------------------------------- */

static int
take_string(const struct reading *in, const cJSON *value, void *into)
{
	char **field = into;

	if (!cJSON_IsString(value) || !*value->valuestring)
		return wrong(in, value, "a string (numbers and words like true in quotes)");
	*field = strdup(value->valuestring);
	return *field ? 0 : -ENOMEM;
}

/* A path relative to the configuration file's folder. */
static int
take_path(const struct reading *in, const cJSON *value, void *into)
{
	const char *file = yaml_name(in->yaml), *slash = strrchr(file, '/');
	char **field = into;

	if (!cJSON_IsString(value) || *value->valuestring == '/' || !slash)
		return take_string(in, value, into);
	if (asprintf(field, "%.*s/%s", (int)(slash - file), file, value->valuestring) < 0)
		*field = NULL;
	return *field ? 0 : -ENOMEM;
}

static int
take_namespace(const struct reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	r = take_string(in, value, into);
	if (r < 0)
		return r;
	r = config_check_namespace(value->valuestring, &error);
	return r < 0 ? placed(in, value, r, &error) : 0;
}

static int
take_bool(const struct reading *in, const cJSON *value, void *into)
{
	if (!cJSON_IsBool(value))
		return wrong(in, value, "true or false");
	*(bool *)into = cJSON_IsTrue(value);
	return 0;
}

static int
take_whole_number(const struct reading *in, const cJSON *value, double min, double max, uint64_t *ret)
{
	char expected[96];

	if (!cJSON_IsNumber(value) || value->valuedouble < min || value->valuedouble > max ||
	    value->valuedouble != (double)(uint64_t)value->valuedouble) {
		snprintf(expected, sizeof(expected), "a whole number from %.0f to %.0f", min, max);
		return wrong(in, value, expected);
	}
	*ret = (uint64_t)value->valuedouble;
	return 0;
}

static int
take_max_readers(const struct reading *in, const cJSON *value, void *into)
{
	uint64_t number;
	int r;

	r = take_whole_number(in, value, 1, CONFIG_LIMIT_MAX_READERS, &number);
	if (r == 0)
		*(unsigned *)into = (unsigned)number;
	return r;
}

static int
take_seconds(const struct reading *in, const cJSON *value, void *into)
{
	uint64_t number;
	int r;

	r = take_whole_number(in, value, 1, 86400, &number);
	if (r == 0)
		*(unsigned *)into = (unsigned)number;
	return r;
}

static int
take_size(const struct reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (cJSON_IsNumber(value))
		return take_whole_number(in, value, 1, 9007199254740992.0, into);
	if (!cJSON_IsString(value))
		return wrong(in, value, "a size, such as 512Mi or 4Gi");
	r = config_parse_size(value->valuestring, into, &error);
	return r < 0 ? placed(in, value, r, &error) : 0;
}

static int
take_log_level(const struct reading *in, const cJSON *value, void *into)
{
	enum log_level level;

	if (!cJSON_IsString(value) || log_level_parse(value->valuestring, &level) < 0)
		return wrong(in, value, "error, warning, info or debug");
	*(int *)into = (int)level;
	return 0;
}

static int
take_timeout(const struct reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	if (!cJSON_IsString(value))
		return wrong(in, value, "a time as a string, such as 30s or 2m");
	r = connection_parse_timeout(value->valuestring, into, &error);
	return r < 0 ? placed(in, value, r, &error) : 0;
}

/* ---- lists ------------------------------------------------------------------------------------ */

static int
take_paths(const struct reading *in, const cJSON *value, char ***ret_paths, size_t *ret_n)
{
	_cleanup_(message_freep) char *error = NULL;
	const cJSON *item;
	int r;

	if (!cJSON_IsArray(value))
		return wrong(in, value, "a list of paths");
	if (*ret_paths)
		return wrong(in, value, "the only one of path and paths");
	*ret_paths = calloc((size_t)cJSON_GetArraySize(value) + 1, sizeof(**ret_paths));
	if (!*ret_paths)
		return -ENOMEM;
	cJSON_ArrayForEach(item, value) {
		if (!cJSON_IsString(item))
			return wrong(in, item, "a path");
		r = config_check_path(item->valuestring, &error);
		if (r < 0)
			return placed(in, item, r, &error);
		(*ret_paths)[*ret_n] = strdup(item->valuestring);
		if (!(*ret_paths)[*ret_n])
			return -ENOMEM;
		(*ret_n)++;
	}
	return 0;
}

static int
take_drop(const struct reading *in, const cJSON *value, void *into)
{
	struct config_resource *resource = into;
	struct decoder_schema *schema;
	int bad = -1, r = take_paths(in, value, &resource->drops, &resource->n_drops);

	if (r < 0)
		return r;
	schema = decoder_schema_new((const char *const *)resource->drops, resource->n_drops, &bad);
	decoder_schema_free(schema);
	if (schema)
		return 0;
	if (bad < 0)
		return -ENOMEM;
	return yaml_error(in->yaml, cJSON_GetArrayItem(value, bad), YAML_AT_VALUE, in->ret_error, -EINVAL,
			  "'%s' cannot be dropped: an object is found by its name, namespace, uid and resourceVersion, and a list cannot "
			  "lose single elements", resource->drops[bad]);
}

static int
take_index_paths(const struct reading *in, const cJSON *value, void *into)
{
	struct config_index *index = into;

	return take_paths(in, value, &index->paths, &index->n_paths);
}

static int
take_index_path(const struct reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	struct config_index *index = into;
	int r;

	if (!cJSON_IsString(value))
		return wrong(in, value, "a path (a list of them is named paths)");
	if (index->paths)
		return wrong(in, value, "the only one of path and paths");
	r = config_check_path(value->valuestring, &error);
	if (r < 0)
		return placed(in, value, r, &error);
	index->paths = calloc(1, sizeof(*index->paths));
	if (!index->paths || !(index->paths[0] = strdup(value->valuestring)))
		return -ENOMEM;
	index->n_paths = 1;
	return 0;
}

static int
take_ids(const struct reading *in, const cJSON *value, int (*add)(struct config *config, uint32_t id))
{
	const cJSON *item;
	uint64_t id;
	int r;

	if (!cJSON_IsArray(value))
		return wrong(in, value, "a list of numbers");
	cJSON_ArrayForEach(item, value) {
		r = take_whole_number(in, item, 0, UINT32_MAX - 1.0, &id);
		if (r == 0)
			r = add(in->config, (uint32_t)id);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
take_uids(const struct reading *in, const cJSON *value, void *into)
{
	(void)into;
	return take_ids(in, value, config_add_uid);
}

static int
take_gids(const struct reading *in, const cJSON *value, void *into)
{
	(void)into;
	return take_ids(in, value, config_add_gid);
}

/* ---- resources and indexes ---------------------------------------------------------------------- */

static char *
origin(const struct reading *in, const cJSON *entry)
{
	unsigned line, column;
	char *text;

	yaml_position(entry, YAML_AT_VALUE, &line, &column);
	return asprintf(&text, "%s:%u:%u", yaml_name(in->yaml), line, column) < 0 ? NULL : text;
}

static int
take_resource_name(const struct reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	struct resource_name name;
	int r;

	r = take_string(in, value, into);
	if (r < 0)
		return r;
	r = resource_name_parse(value->valuestring, &name, &error);
	if (r < 0)
		return placed(in, value, r, &error);
	resource_name_done(&name);
	return 0;
}

static int
take_index_name(const struct reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	r = take_string(in, value, into);
	if (r < 0)
		return r;
	r = config_check_index_name(value->valuestring, &error);
	return r < 0 ? placed(in, value, r, &error) : 0;
}

#define FIELDS(array) array, sizeof(array) / sizeof(*(array))

static int
take_tombstone_count(const struct reading *in, const cJSON *value, void *into)
{
	struct config_tombstones *tombstones = into;

	tombstones->count_said = true;
	return take_whole_number(in, value, 0, CONFIG_LIMIT_TOMBSTONES, &tombstones->count);
}

static int
take_tombstones(const struct reading *in, const cJSON *value, void *into)
{
	static const struct field fields[] = {
		{"count", take_tombstone_count, 0},
		{"bytes", take_size, offsetof(struct config_tombstones, bytes)},
		{"seconds", take_seconds, offsetof(struct config_tombstones, seconds)},
	};

	return take_mapping(in, value, FIELDS(fields), into, "a mapping with count, bytes, seconds");
}

static int
take_resource(const struct reading *in, const cJSON *entry)
{
	static const struct field fields[] = {
		{"resource", take_resource_name, offsetof(struct config_resource, resource)},
		{"namespace", take_namespace, offsetof(struct config_resource, namespace_)},
		{"labelSelector", take_string, offsetof(struct config_resource, label_selector)},
		{"fieldSelector", take_string, offsetof(struct config_resource, field_selector)},
		{"drop", take_drop, 0},
		{"tombstones", take_tombstones, offsetof(struct config_resource, tombstones)},
	};
	_cleanup_(message_freep) char *error = NULL;
	struct config_resource resource = {0};
	int r;

	if (cJSON_IsString(entry)) { /* as --resource */
		r = config_parse_resource(entry->valuestring, &resource, &error);
		if (r < 0)
			r = placed(in, entry, r, &error);
	} else {
		r = take_mapping(in, entry, FIELDS(fields), &resource, "a mapping (resource: pods) or a name");
		if (r == 0 && !resource.resource)
			r = yaml_error(in->yaml, entry, YAML_AT_VALUE, in->ret_error, -EINVAL,
				       "this entry has no 'resource', such as pods");
	}
	if (r == 0 && !(resource.origin = origin(in, entry)))
		r = -ENOMEM;
	if (r < 0) {
		config_resource_done(&resource);
		return r;
	}
	return config_take_resource(in->config, &resource, in->ret_error);
}

static int
take_index(const struct reading *in, const cJSON *entry)
{
	static const struct field fields[] = {
		{"name", take_index_name, offsetof(struct config_index, name)},
		{"resource", take_resource_name, offsetof(struct config_index, resource)},
		{"path", take_index_path, 0},
		{"paths", take_index_paths, 0},
		{"split", take_string, offsetof(struct config_index, split)},
	};
	_cleanup_(message_freep) char *error = NULL;
	struct config_index index = {0};
	const char *missing;
	int r;

	if (cJSON_IsString(entry)) { /* as --index */
		r = config_parse_index(entry->valuestring, &index, &error);
		if (r < 0)
			r = placed(in, entry, r, &error);
	} else {
		r = take_mapping(in, entry, FIELDS(fields), &index, "a mapping with name, resource and path");
		missing = !index.name ? "name" : !index.resource ? "resource" : index.n_paths == 0 ? "path" : NULL;
		if (r == 0 && missing)
			r = yaml_error(in->yaml, entry, YAML_AT_VALUE, in->ret_error, -EINVAL, "this index has no '%s'",
				       missing);
	}
	if (r == 0 && !(index.origin = origin(in, entry)))
		r = -ENOMEM;
	if (r < 0) {
		config_index_done(&index);
		return r;
	}
	return config_take_index(in->config, &index, in->ret_error);
}

static int
take_resources(const struct reading *in, const cJSON *value, void *into)
{
	const cJSON *entry;
	int r = 0;

	(void)into;
	if (!cJSON_IsArray(value))
		return wrong(in, value, "a list (- resource: pods)");
	cJSON_ArrayForEach(entry, value)
		if (r == 0)
			r = take_resource(in, entry);
	return r;
}

static int
take_indexes(const struct reading *in, const cJSON *value, void *into)
{
	const cJSON *entry;
	int r = 0;

	(void)into;
	if (!cJSON_IsArray(value))
		return wrong(in, value, "a list (- name: byUser)");
	cJSON_ArrayForEach(entry, value)
		if (r == 0)
			r = take_index(in, entry);
	return r;
}

/* ---- the whole file ------------------------------------------------------------------------------ */

static int
take_arena(const struct reading *in, const cJSON *value, void *into)
{
	static const struct field fields[] = {
		{"dir", take_string, offsetof(struct config, arena_dir)},
		{"name", take_string, offsetof(struct config, arena_name)},
		{"maxBytes", take_size, offsetof(struct config, arena_max_bytes)},
		{"holdBytes", take_size, offsetof(struct config, hold_bytes)},
		{"holdSeconds", take_seconds, offsetof(struct config, hold_seconds)},
	};

	return take_mapping(in, value, FIELDS(fields), into, "a mapping with dir, name, maxBytes, holdBytes, holdSeconds");
}

static int
take_access(const struct reading *in, const cJSON *value, void *into)
{
	static const struct field fields[] = {
		{"uids", take_uids, 0},
		{"gids", take_gids, 0},
		{"maxReaders", take_max_readers, offsetof(struct config, max_readers)},
	};

	return take_mapping(in, value, FIELDS(fields), into, "a mapping with uids, gids, maxReaders");
}

static int
take_entries(const struct reading *in, const cJSON *value, void *into)
{
	uint64_t number;
	int r;

	r = take_whole_number(in, value, QUEUE_ENTRIES_MIN, QUEUE_ENTRIES_MAX, &number);
	if (r == 0)
		*(unsigned *)into = (unsigned)number;
	return r;
}

static int
take_consumer_count(const struct reading *in, const cJSON *value, void *into)
{
	uint64_t number;
	int r;

	r = take_whole_number(in, value, 1, CONFIG_LIMIT_CONSUMERS, &number);
	if (r == 0)
		*(unsigned *)into = (unsigned)number;
	return r;
}

static int
take_days(const struct reading *in, const cJSON *value, void *into)
{
	uint64_t number;
	int r;

	r = take_whole_number(in, value, 1, 3650, &number);
	if (r == 0)
		*(unsigned *)into = (unsigned)number;
	return r;
}

static int
take_events(const struct reading *in, const cJSON *value, void *into)
{
	static const struct field fields[] = {
		{"queueEntries", take_entries, offsetof(struct config, queue_entries)},
		{"maxQueueEntries", take_entries, offsetof(struct config, max_queue_entries)},
		{"queueBytes", take_size, offsetof(struct config, queue_bytes)},
		{"queueSeconds", take_seconds, offsetof(struct config, queue_seconds)},
	};

	return take_mapping(in, value, FIELDS(fields), into,
			    "a mapping with queueEntries, maxQueueEntries, queueBytes, queueSeconds");
}

static int
take_consumers(const struct reading *in, const cJSON *value, void *into)
{
	static const struct field fields[] = {
		{"perUser", take_consumer_count, offsetof(struct config, consumers_per_user)},
		{"total", take_consumer_count, offsetof(struct config, consumers_total)},
		{"days", take_days, offsetof(struct config, consumer_days)},
	};

	return take_mapping(in, value, FIELDS(fields), into, "a mapping with perUser, total, days");
}

static int
take_groups(const struct reading *in, const cJSON *value, void *into)
{
	const cJSON *item;
	int r;

	if (!cJSON_IsArray(value))
		return wrong(in, value, "a list of groups");
	cJSON_ArrayForEach(item, value) {
		if (!cJSON_IsString(item) || !*item->valuestring)
			return wrong(in, item, "a group");
		r = connection_add_group(into, item->valuestring);
		if (r < 0)
			return r;
	}
	return 0;
}

int
config_load(const char *path, struct config *ret_config, char **ret_error)
{
	static const struct field fields[] = {
		{"kubeconfig", take_path, offsetof(struct config, connection.kubeconfig)},
		{"context", take_string, offsetof(struct config, connection.context)},
		{"cluster", take_string, offsetof(struct config, connection.cluster)},
		{"user", take_string, offsetof(struct config, connection.user)},
		{"server", take_string, offsetof(struct config, connection.server)},
		{"certificateAuthority", take_path, offsetof(struct config, connection.certificate_authority)},
		{"insecureSkipTlsVerify", take_bool, offsetof(struct config, connection.insecure_skip_tls_verify)},
		{"tlsServerName", take_string, offsetof(struct config, connection.tls_server_name)},
		{"clientCertificate", take_path, offsetof(struct config, connection.client_certificate)},
		{"clientKey", take_path, offsetof(struct config, connection.client_key)},
		{"as", take_string, offsetof(struct config, connection.as)},
		{"asUid", take_string, offsetof(struct config, connection.as_uid)},
		{"asGroups", take_groups, offsetof(struct config, connection)},
		{"requestTimeout", take_timeout, offsetof(struct config, connection.request_timeout_ms)},
		{"namespace", take_namespace, offsetof(struct config, namespace_)},
		{"resources", take_resources, 0},
		{"indexes", take_indexes, 0},
		{"keepManagedFields", take_bool, offsetof(struct config, keep_managed_fields)},
		{"allowSecrets", take_bool, offsetof(struct config, allow_secrets)},
		{"socket", take_string, offsetof(struct config, socket)},
		{"arena", take_arena, 0},
		{"access", take_access, 0},
		{"tombstones", take_tombstones, offsetof(struct config, tombstones)},
		{"events", take_events, 0},
		{"consumers", take_consumers, 0},
		{"logLevel", take_log_level, offsetof(struct config, log_level)},
	};
	_Static_assert(sizeof(fields) / sizeof(*fields) <= MAX_FIELDS, "take_mapping() lists their names");
	_cleanup_(yaml_freep) struct yaml *yaml = NULL;
	struct config config = {.log_level = -1};
	struct reading in;
	int r;

	r = yaml_load(path, &yaml, ret_error);
	if (r < 0)
		return r;
	in = (struct reading){yaml, &config, ret_error};
	r = take_mapping(&in, yaml_root(yaml), FIELDS(fields), &config, "a mapping with resources: and so on");
	if (r < 0) {
		config_done(&config);
		return r;
	}
	*ret_config = config;
	return 0;
}
