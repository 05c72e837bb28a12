/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a configuration as informerd does, and writes its fields, names and values into one text. */
#include "tests/support/config_text.h"
#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/base/message.h"
#include "writer/base/sealed_text.h"
#include "writer/config/config_build.h"
#include "writer/config/options.h"

static char text[4096];

__attribute__((format(printf, 1, 2))) static void
say(const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, sizeof(text) - used, format, args);
	va_end(args);
}

static void
say_text(const char *dir, const char *name, const char *value)
{
	size_t length = dir ? strlen(dir) : 0;
	bool within = value && length && strncmp(value, dir, length) == 0;

	if (value)
		say(" %s=%s%s", name, within ? "DIR" : "", within ? value + length : value);
}

static void
say_number(const char *name, uint64_t value)
{
	if (value)
		say(" %s=%llu", name, (unsigned long long)value);
}

/* One of several words; "" is a default, which is not written. */
static void
say_word(const char *name, int value, const char *const *words)
{
	if (value >= 0 && words[value][0])
		say(" %s=%s", name, words[value]);
}

static const char *const yes_no[] = {"", "no", "yes"};
static const char *const wires[] = {"", "", "json", "protobuf"};
static const char *const versions[] = {"", "any", "latest"};
static const char *const compressions[] = {"", "gzip", "none"};
static const char *const levels[] = {"error", "warning", "", "debug"};
static const char *const formats[] = {"", "", "json"};

#define TEXT(field) say_text(dir, #field, c->field)
#define NUMBER(field) say_number(#field, c->field)
#define WORD(field, words) say_word(#field, (int)c->field, words)

static void
say_choice(const struct kubeconfig_choice *c, const char *dir)
{
	TEXT(kubeconfig);
	TEXT(context);
	TEXT(cluster);
	TEXT(user);
	TEXT(server);
	TEXT(certificate_authority);
	TEXT(tls_server_name);
	TEXT(client_certificate);
	TEXT(client_key);
	TEXT(token);
	TEXT(username);
	TEXT(password);
	TEXT(as);
	TEXT(as_uid);
	for (size_t i = 0; i < c->n_as_groups; i++)
		TEXT(as_groups[i]);
	NUMBER(insecure_skip_tls_verify);
	NUMBER(disable_compression);
	WORD(compression, compressions);
	NUMBER(request_timeout_ms);
}

static void
say_tombstones(const struct config_tombstones *t)
{
	if (t->count_said)
		say(" tombstones=%llu/%llu/%u", (unsigned long long)t->count, (unsigned long long)t->bytes,
		    t->seconds);
}

static void
say_resource(const struct config_resource *c, const char *dir)
{
	say("\n%s", c->resource);
	TEXT(namespace_);
	TEXT(label_selector);
	TEXT(field_selector);
	for (size_t i = 0; i < c->n_drops; i++)
		say(" drop=%s", c->drops[i]);
	NUMBER(metadata_only);
	NUMBER(on_demand);
	NUMBER(optional);
	WORD(watch_list, yes_no);
	NUMBER(page_size);
	WORD(version, versions);
	WORD(wire, wires);
	say_tombstones(&c->tombstones);
}

static void
say_index(const struct config_index *c)
{
	say("\nindex %s of %s", c->name, c->resource);
	for (size_t i = 0; i < c->n_paths; i++)
		say(" path=%s", c->paths[i]);
	if (c->split)
		say(" split=%s", c->split);
	if (c->prefix)
		say(" prefix=%u", c->prefix);
}

const char *
config_text(const struct config *c, const char *dir)
{
	text[0] = '\0';
	say_choice(&c->choice, dir);
	TEXT(preset);
	TEXT(namespace_);
	NUMBER(keep_managed_fields);
	NUMBER(allow_secrets);
	WORD(watch_list, yes_no);
	WORD(wire, wires);
	TEXT(schema);
	say_tombstones(&c->tombstones);
	NUMBER(backoff.first_ms);
	NUMBER(backoff.max_ms);
	NUMBER(backoff.reset_ms);
	NUMBER(check_every_ms);
	NUMBER(watch_timeout_ms);
	TEXT(arena_dir);
	NUMBER(arena_max_bytes);
	for (size_t i = 0; i < c->allow_uids.count; i++)
		say(" uid=%u", c->allow_uids.at[i]);
	for (size_t i = 0; i < c->allow_gids.count; i++)
		say(" gid=%u", c->allow_gids.at[i]);
	if (c->max_readers != CONFIG_DEFAULT_MAX_READERS)
		NUMBER(max_readers);
	NUMBER(queue_entries);
	NUMBER(max_queue_entries);
	NUMBER(queue_bytes);
	NUMBER(max_queue_memory);
	NUMBER(queue_seconds);
	NUMBER(consumers_per_user);
	NUMBER(consumers_total);
	NUMBER(consumer_days);
	WORD(log_level, levels);
	WORD(log_format, formats);
	for (size_t i = 0; i < c->n_resources; i++)
		say_resource(&c->resources[i], dir);
	for (size_t i = 0; i < c->n_indexes; i++)
		say_index(&c->indexes[i]);
	return text;
}

int
config_try(const char *dir, const char *yaml, const char *flags, struct config *ret, char **ret_error)
{
	char words[512], *rest = words, *argv[16] = {"informerd"};
	struct options options;
	int argc = 1, fd, r;

	if (yaml) {
		argv[argc++] = "-c";
		argv[argc++] = (char *)(uintptr_t)temp_file(dir, "conf.yaml", yaml);
	}
	snprintf(words, sizeof(words), "%s", flags ? flags : "");
	while ((argv[argc] = strtok_r(rest, " ", &rest)))
		argc++;
	assert_int_equal(options_parse(argc, argv, &options, ret_error), 0);
	r = sealed_text_read(options.config_path, CONFIG_MAX_BYTES, &fd, ret_error);
	if (r == 0)
		r = config_build(&options, fd, ret, ret_error);
	if (fd >= 0)
		close(fd);
	options_done(&options);
	return r;
}

struct config
config_built(const char *dir, const char *yaml, const char *flags)
{
	_cleanup_(message_freep) char *error = NULL;
	struct config config = {0};

	if (config_try(dir, yaml, flags, &config, &error) < 0)
		fail_msg("%s %s: %s", yaml, flags, error ? error : "no message");
	return config;
}
