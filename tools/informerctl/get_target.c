/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and opens the targets of `informerctl get`, and explains missing ones; see get.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informerctl/get.h"
#include "tools/informerctl/missing_resource.h"

#define SYNC_TIMEOUT_MS 5000

int
get_add_target(struct get *get, const char *resource, size_t resource_length, const char *name)
{
	struct get_target *targets = reallocarray(get->targets, get->target_count + 1, sizeof(*targets));
	char *copy = strndup(resource, resource_length);

	if (targets)
		get->targets = targets;
	if (!targets || !copy) {
		free(copy);
		return -ENOMEM;
	}
	targets[get->target_count++] = (struct get_target){.resource_name = copy, .name = name};
	return 0;
}

int
get_parse_targets(struct get *get, const struct cli_args *args)
{
	bool slashes = strchr(args->items[0], '/');

	if (slashes) {
		for (size_t i = 0; i < args->count; i++) {
			const char *slash = strchr(args->items[i], '/');

			if (!slash || slash == args->items[i] || !slash[1])
				return cli_fail("'%s': with RESOURCE/NAME all arguments must have this form",
						args->items[i]);
			if (get_add_target(get, args->items[i], (size_t)(slash - args->items[i]), slash + 1) <
			    0)
				return cli_fail("no memory");
		}
		return -1;
	}
	for (const char *at = args->items[0]; *at; at += *at == ',') {
		size_t length = strcspn(at, ",");

		if (length == 0)
			return cli_fail("'%s': a resource is missing between the commas", args->items[0]);
		for (size_t i = 1; i < args->count || i == 1; i++)
			if (get_add_target(get, at, length, i < args->count ? args->items[i] : NULL) < 0)
				return cli_fail("no memory");
		at += length;
	}
	return -1;
}

static void
add_names(struct text *line, const char *name, size_t length)
{
	text_adds(line, line->length ? ", " : "");
	text_add(line, name, length);
}

/* Print that nothing of 'all' is cached. Returns EXIT_USAGE. */
static int
fail_empty_all(struct get *get)
{
	struct text line = TEXT_INIT(-1);

	missing_resource_names(&get->snap, &line);
	cli_fail("informerd caches nothing of what 'all' stands for (pods, services, "
		 "deployments.apps, ...); it caches: %s",
		 line.data ? line.data : "");
	text_done(&line);
	return EXIT_USAGE;
}

int
get_fail_no_index(struct get *get, const struct get_target *target)
{
	struct text line = TEXT_INIT(-1);
	uint32_t position;
	const char *name;
	size_t length;

	if (informer_resource_position(&get->snap, target->resource, &position) == 0)
		for (uint32_t i = 0;
		     informer_resource_index_name(&get->snap, position, i, &name, &length) == 0; i++)
			add_names(&line, name, length);
	cli_fail("%s have no index '%s'; they have: %s\nto add one: informerd --index %s=%s:PATH ...",
		 target->resource_name, get->index_name, line.data ? line.data : "none", get->index_name,
		 target->resource_name);
	text_done(&line);
	return EXIT_USAGE;
}

/* Whether informerd caches this namespace (NULL: all namespaces) of the resource. */
static bool
namespace_is_cached(struct get *get, const struct get_target *target, const char *ns)
{
	for (uint32_t i = 0; i < informer_resource_count(&get->snap); i++) {
		struct informer_resource_info info = {.size = sizeof(info)};

		if (informer_resource_info_at(&get->snap, i, &info) != 0 ||
		    info.resource_length != target->info.resource_length ||
		    memcmp(info.resource, target->info.resource, info.resource_length) != 0 ||
		    info.group_length != target->info.group_length ||
		    memcmp(info.group, target->info.group, info.group_length) != 0)
			continue;
		if (info.namespace_length == 0)
			return true;
		if (ns && field_text_is((struct field_text){info.namespace_, info.namespace_length}, ns))
			return true;
	}
	return false;
}

/* Print on stderr why the answer may be incomplete. */
static void
warn(struct get *get, const struct get_target *target)
{
	if (!target->info.synced) {
		cli_fail("%s: the first list is not in yet, the answer is incomplete; informerctl stat says "
			 "why, informerctl wait "
			 "--for=synced %s waits for it",
			 target->resource_name, target->resource_name);
		get->missed = true; /* the exit code tells scripts that the answer is incomplete */
	}
	if (!target->info.namespaced)
		return;
	if (get->all_namespaces && !namespace_is_cached(get, target, NULL))
		cli_fail("%s: informerd caches only some namespaces, see informerctl stat",
			 target->resource_name);
	else if (!get->all_namespaces && !namespace_is_cached(get, target, get->namespace_)) {
		cli_fail("%s: informerd does not cache namespace %s, see informerctl stat",
			 target->resource_name, get->namespace_);
		get->uncached = true;
	}
}

int
get_open_target(struct get *get, struct get_target *target)
{
	int r;

	target->info.size = sizeof(target->info);
	r = cli_resource(get->inf, target->resource_name, get->watch ? -1 : 0, &get->snap, &target->resource,
			 &target->info);
	if (r == INFORMER_E_NOT_READY)
		return cli_fail_not_known(get->inf, target->resource_name);
	if (r == INFORMER_E_NO_RESOURCE || r == -EINVAL)
		return missing_resource_fail(&get->snap, target->resource_name);
	if (r < 0)
		return cli_fail_code(r, target->resource_name);
	warn(get, target);
	return -1;
}

bool
get_keep_names(struct get_target *target)
{
	struct informer_resource_info *info = &target->info;
	const char **const texts[] = {&info->group, &info->version, &info->resource, &info->kind,
				      &info->singular};
	const size_t lengths[] = {info->group_length, info->version_length, info->resource_length,
				  info->kind_length, info->singular_length};
	size_t total = 1;
	char *at;

	for (size_t i = 0; i < 5; i++)
		total += lengths[i];
	at = target->kept = malloc(total);
	for (size_t i = 0; i < 5 && at; i++) {
		memcpy(at, *texts[i], lengths[i]);
		*texts[i] = at;
		at += lengths[i];
	}
	return target->kept != NULL;
}

/* Whether the API server puts a resource into the category "all". */
static bool
is_of_all(const struct informer_resource_info *info)
{
	static const char *const names[] = {"pods",         "replicationcontrollers",
					    "services",     "daemonsets",
					    "deployments",  "replicasets",
					    "statefulsets", "horizontalpodautoscalers",
					    "cronjobs",     "jobs"};
	static const char *const groups[] = {"", "apps", "autoscaling", "batch"};
	bool named = false, grouped = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		named |= field_text_is((struct field_text){info->resource, info->resource_length}, names[i]);
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		grouped |= field_text_is((struct field_text){info->group, info->group_length}, groups[i]);
	return named && grouped;
}

/* Whether a resource is a target. Its entries for other namespaces or selectors are not added again. */
static bool
is_target(const struct get *get, const char *name)
{
	for (size_t i = 0; i < get->target_count; i++)
		if (strcmp(get->targets[i].resource_name, name) == 0)
			return true;
	return false;
}

int
get_expand_all(struct get *get)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	char name[512];

	if (get->target_count != 1 || strcmp(get->targets[0].resource_name, GET_ALL) != 0)
		return -1;
	free(get->targets[0].resource_name);
	get->target_count = 0;
	get->show_kind = true;
	for (uint32_t i = 0; i < informer_resource_count(&get->snap); i++) {
		int r = informer_resource_info_at(&get->snap, i, &info);

		if (r == INFORMER_E_NOT_READY)
			get->missed = true;
		if (r < 0 || !is_of_all(&info))
			continue;
		snprintf(name, sizeof(name), "%.*s%s%.*s", (int)info.resource_length, info.resource,
			 info.group_length ? "." : "", (int)info.group_length, info.group);
		if (!is_target(get, name) && get_add_target(get, name, strlen(name), NULL) < 0)
			return cli_fail("no memory");
	}
	if (get->target_count == 0)
		return get->missed ? cli_fail_not_known(get->inf, GET_ALL) : fail_empty_all(get);
	if (get->missed)
		cli_fail("informerd still asks the API server what it serves: resources may be missing; "
			 "informerctl stat says why");
	return -1;
}

int
get_wait_synced(struct get *get)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_resource *resource;
	int r, result = -1;

	for (size_t i = 0; i < get->target_count && result < 0; i++) {
		const char *name = get->targets[i].resource_name;
		int ms = get->args->start_ms;

		r = cli_resource(get->inf, name, 0, &get->snap, &resource, &info);
		if (r == INFORMER_E_NOT_READY) {
			ms = SYNC_TIMEOUT_MS;
			r = cli_resource(get->inf, name, ms, &get->snap, &resource, &info);
		}
		if (r == 0 && !info.synced)
			result = cli_wait_synced(get->inf, get->args, name,
						 info.on_demand ? SYNC_TIMEOUT_MS : ms, &get->snap);
	}
	return result;
}

/* "pods", "deployments.apps". */
static void
group_resource(const struct get_target *target, char *buffer, size_t size)
{
	const struct informer_resource_info *info = &target->info;

	snprintf(buffer, size, "%.*s%s%.*s", (int)info->resource_length, info->resource,
		 info->group_length ? "." : "", (int)info->group_length, info->group);
}

void
get_say_not_found(struct get *get, const struct get_target *target)
{
	char resource[256];

	if (get->ignore_not_found)
		return;
	group_resource(target, resource, sizeof(resource));
	fprintf(stderr, "Error from server (NotFound): %s \"%s\" not found\n", resource, target->name);
	get->missed = true;
}
