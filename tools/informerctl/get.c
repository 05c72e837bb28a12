/* Finding the objects of `informerctl get`; see get.h. */
#include "tools/informerctl/get.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informerctl/field_informer.h"
#include "tools/printer/age.h"

#define ON_DEMAND_MS 5000

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

void
get_done(struct get *get)
{
	informer_selector_free(get->selector);
	informer_field_selector_free(get->fields);
	informer_end(&get->snap);
	informer_detach(get->inf);
	for (size_t i = 0; i < get->target_count; i++) {
		free(get->targets[i].resource_name);
		free(get->targets[i].kept);
	}
	free(get->targets);
	free(get->index_name);
	free(get->hits);
}

static void
add_names(struct text *line, const char *name, size_t length)
{
	text_adds(line, line->length ? ", " : "");
	text_add(line, name, length);
}

static int
fail_no_resource(struct get *get, const char *name)
{
	const char *near = cli_nearest_resource(&get->snap, name);
	struct text line = TEXT_INIT(-1);

	for (uint32_t i = 0; i < informer_resource_count(&get->snap); i++) {
		struct informer_resource_info info = {.size = sizeof(info)};

		if (informer_resource_info_at(&get->snap, i, &info) == 0)
			add_names(&line, info.resource, info.resource_length);
	}
	if (strcmp(name, GET_ALL) == 0)
		cli_fail("informerd caches nothing of what 'all' stands for (pods, services, deployments.apps, ...); it caches: %s",
			 line.data ? line.data : "nothing yet");
	else if (near)
		cli_fail("informerd does not cache '%s'; did you mean %s? It caches: %s", name, near, line.data ? line.data : "nothing yet");
	else
		cli_fail("informerd does not cache '%s'; it caches: %s\nto add it: informerd --resource %s ...", name,
			 line.data ? line.data : "nothing yet", name);
	text_done(&line);
	return EXIT_USAGE;
}

static int
fail_no_index(struct get *get, const struct get_target *target)
{
	struct text line = TEXT_INIT(-1);
	uint32_t position;
	const char *name;
	size_t length;

	if (informer_resource_position(&get->snap, target->resource, &position) == 0)
		for (uint32_t i = 0; informer_resource_index_name(&get->snap, position, i, &name, &length) == 0; i++)
			add_names(&line, name, length);
	cli_fail("%s have no index '%s'; they have: %s\nto add one: informerd --index %s=%s:PATH ...", target->resource_name,
		 get->index_name, line.data ? line.data : "none", get->index_name, target->resource_name);
	text_done(&line);
	return EXIT_USAGE;
}

/* Whether a namespace is one of those that are cached for this resource. True where all are. */
static bool
namespace_is_cached(struct get *get, const struct get_target *target, const char *ns)
{
	for (uint32_t i = 0; i < informer_resource_count(&get->snap); i++) {
		struct informer_resource_info info = {.size = sizeof(info)};

		if (informer_resource_info_at(&get->snap, i, &info) != 0 || info.resource_length != target->info.resource_length ||
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

/* What the answer may lack, on stderr. */
static void
warn(struct get *get, const struct get_target *target)
{
	if (!target->info.synced) {
		cli_fail("%s: the first list is not in yet, the answer is incomplete; informerctl stat says why, informerctl wait "
			 "--for=synced %s waits for it", target->resource_name, target->resource_name);
		get->missed = true; /* a script must not take this for all there is */
	}
	if (!target->info.namespaced)
		return;
	if (get->all_namespaces && !namespace_is_cached(get, target, NULL))
		cli_fail("%s: informerd caches only some namespaces, see informerctl stat", target->resource_name);
	else if (!get->all_namespaces && !namespace_is_cached(get, target, get->namespace_))
		cli_fail("%s: informerd does not cache namespace %s, see informerctl stat", target->resource_name, get->namespace_);
}

int
get_open_target(struct get *get, struct get_target *target)
{
	int r = informer_resource_open(get->inf, target->resource_name, &target->resource);

	target->info.size = sizeof(target->info);
	if (r == 0)
		r = informer_resource_info(&get->snap, target->resource, &target->info);
	if (r == INFORMER_E_NO_RESOURCE || r == -EINVAL)
		return fail_no_resource(get, target->resource_name);
	if (r < 0)
		return cli_fail_code(get->inf, r, target->resource_name);
	warn(get, target);
	return -1;
}

bool
get_keep_names(struct get_target *target)
{
	struct informer_resource_info *info = &target->info;
	const char **const texts[] = {&info->group, &info->version, &info->resource, &info->kind, &info->singular};
	const size_t lengths[] = {info->group_length, info->version_length, info->resource_length, info->kind_length, info->singular_length};
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

static int
add_hit(struct get *get, const struct informer_object *object, size_t target)
{
	struct get_hit hit = {.object = *object, .target = target};
	int r = informer_object_name(object, &hit.name.data, &hit.name.length);

	if (r == 0)
		r = informer_object_namespace(object, &hit.namespace_.data, &hit.namespace_.length);
	if (r < 0)
		return r;
	if (get->hit_count == get->hit_size) {
		size_t size = get->hit_size ? get->hit_size * 2 : 256;
		struct get_hit *hits = reallocarray(get->hits, size, sizeof(*hits));

		if (!hits)
			return -ENOMEM;
		get->hits = hits;
		get->hit_size = size;
	}
	get->hits[get->hit_count++] = hit;
	return 0;
}

/* "pods", "deployments.apps". */
static void
group_resource(const struct get_target *target, char *buffer, size_t size)
{
	const struct informer_resource_info *info = &target->info;

	snprintf(buffer, size, "%.*s%s%.*s", (int)info->resource_length, info->resource, info->group_length ? "." : "",
		 (int)info->group_length, info->group);
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

static int
find_one(struct get *get, size_t i)
{
	const struct get_target *target = &get->targets[i];
	const char *ns = target->info.namespaced ? get->namespace_ : NULL;
	struct informer_object object;
	int r = informer_get_z(&get->snap, target->resource, ns, target->name, &object);

	if (r == INFORMER_E_NOT_FOUND && get->deleted) {
		char key[1600];
		int length = snprintf(key, sizeof(key), "%s%s%s", ns ? ns : "", ns ? "/" : "", target->name);

		if (length < (int)sizeof(key)) /* no object has a longer one */
			r = informer_find(&get->snap, target->resource, INFORMER_BY_KEY, key, (size_t)length, &object);
	}
	if (r > 0)
		r = 0;
	if (r == 0)
		r = add_hit(get, &object, i);
	if (r == INFORMER_E_NOT_FOUND)
		get_say_not_found(get, target);
	return r == INFORMER_E_NOT_FOUND ? 0 : r;
}

static int
start(struct get *get, const struct get_target *target, struct informer_iter *it)
{
	bool narrow = target->info.namespaced && !get->all_namespaces;
	const char *ns = narrow ? get->namespace_ : "";

	if (get->index_name)
		return informer_by_index(&get->snap, target->resource, get->index_name, get->index_value, strlen(get->index_value), it);
	if (get->selector)
		return informer_select(&get->snap, target->resource, ns, strlen(ns), get->selector, it);
	if (narrow)
		return informer_list_namespace(&get->snap, target->resource, ns, strlen(ns), it);
	return informer_list(&get->snap, target->resource, it);
}

/* What an index, a list, or the list of the deleted does not narrow by itself: 1, 0 or negative. */
static int
wanted(struct get *get, const struct get_target *target, const struct informer_object *object)
{
	struct field_text ns;
	int r;

	if (get->fields) {
		r = informer_field_selector_matches(get->fields, object);
		if (r <= 0)
			return r;
	}
	if (!get->index_name && !get->deleted)
		return 1;
	if (target->info.namespaced && !get->all_namespaces) {
		r = informer_object_namespace(object, &ns.data, &ns.length);
		if (r < 0 || !field_text_is(ns, get->namespace_))
			return r;
	}
	return get->selector ? informer_selector_matches(get->selector, object) : 1;
}

struct deleted_call {
	struct get *get;
	size_t target;
};

static int
add_wanted(void *context, const struct informer_object *object)
{
	const struct deleted_call *call = context;
	int r = wanted(call->get, &call->get->targets[call->target], object);

	return r > 0 ? add_hit(call->get, object, call->target) : r;
}

/* The deleted ones; with an index, what is present or was. */
static int
find_deleted(struct get *get, size_t i)
{
	struct deleted_call call = {get, i};
	struct informer_object object;
	int r;

	if (!get->index_name)
		return informer_each_deleted(&get->snap, get->targets[i].resource, add_wanted, &call);
	r = informer_find(&get->snap, get->targets[i].resource, get->find_by, get->index_value, strlen(get->index_value), &object);
	return r >= 0 ? add_wanted(&call, &object) : r == INFORMER_E_NOT_FOUND ? 0 : r;
}

static int
find_all(struct get *get, size_t i)
{
	const struct get_target *target = &get->targets[i];
	struct informer_object object;
	struct informer_iter it;
	int r;

	if (get->deleted)
		return find_deleted(get, i);
	r = start(get, target, &it);

	while (r == 0 && (r = informer_next(&it, &object)) > 0) {
		r = wanted(get, target, &object);
		if (r > 0)
			r = add_hit(get, &object, i);
	}
	return r;
}

static int
compile_selector(struct get *get)
{
	size_t offset = 0;
	char detail[512];
	int r;

	if (!get->selector_text)
		return -1;
	r = informer_selector_compile(get->inf, get->selector_text, strlen(get->selector_text), &get->selector, &offset);
	if (r == 0)
		return -1;
	if (r != INFORMER_E_SYNTAX)
		return cli_fail_code(get->inf, r, "-l");
	informer_last_error(get->inf, detail, sizeof(detail));
	return cli_fail("-l %s\n                %*s^ %s", get->selector_text, (int)offset, "", detail);
}

static int
compile_fields(struct get *get)
{
	char detail[512];
	int r;

	if (!get->field_text)
		return -1;
	r = informer_field_selector_compile(get->inf, get->field_text, strlen(get->field_text), &get->fields);
	if (r == 0)
		return -1;
	if (r != INFORMER_E_SYNTAX)
		return cli_fail_code(get->inf, r, "--field-selector");
	informer_last_error(get->inf, detail, sizeof(detail));
	return cli_fail("%s", detail);
}

/* kubectl's category "all", as API servers have it. */
static bool
is_of_all(const struct informer_resource_info *info)
{
	static const char *const names[] = {"pods", "replicationcontrollers", "services", "daemonsets", "deployments", "replicasets",
					    "statefulsets", "horizontalpodautoscalers", "cronjobs", "jobs"};
	static const char *const groups[] = {"", "apps", "autoscaling", "batch"};
	bool named = false, grouped = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		named |= field_text_is((struct field_text){info->resource, info->resource_length}, names[i]);
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		grouped |= field_text_is((struct field_text){info->group, info->group_length}, groups[i]);
	return named && grouped;
}

/* The same resource with other namespaces or selectors is another entry, and is shown with the first. */
static bool
is_target(const struct get *get, const char *name)
{
	for (size_t i = 0; i < get->target_count; i++)
		if (strcmp(get->targets[i].resource_name, name) == 0)
			return true;
	return false;
}

/* "all" becomes those of its resources that are cached. Returns -1, or the exit code. */
static int
expand_all(struct get *get)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	char name[512];

	if (get->target_count != 1 || strcmp(get->targets[0].resource_name, GET_ALL) != 0)
		return -1;
	free(get->targets[0].resource_name);
	get->target_count = 0;
	get->show_kind = true;
	for (uint32_t i = 0; i < informer_resource_count(&get->snap); i++) {
		if (informer_resource_info_at(&get->snap, i, &info) != 0 || !is_of_all(&info))
			continue;
		snprintf(name, sizeof(name), "%.*s%s%.*s", (int)info.resource_length, info.resource, info.group_length ? "." : "",
			 (int)info.group_length, info.group);
		if (!is_target(get, name) && get_add_target(get, name, strlen(name), NULL) < 0)
			return cli_fail("no memory");
	}
	return get->target_count > 0 ? -1 : fail_no_resource(get, GET_ALL);
}

static int
find(struct get *get)
{
	int r = compile_selector(get);

	if (r < 0)
		r = compile_fields(get);
	if (r < 0)
		r = expand_all(get);
	for (size_t i = 0; i < get->target_count && r < 0; i++)
		r = get_open_target(get, &get->targets[i]);
	if (r >= 0)
		return r;
	for (size_t i = 0; i < get->target_count; i++) {
		r = get->targets[i].name ? find_one(get, i) : find_all(get, i);
		if (r == INFORMER_E_NO_INDEX)
			return fail_no_index(get, &get->targets[i]);
		if (r < 0)
			return cli_fail_code(get->inf, r, get->targets[i].resource_name);
	}
	return get_sort(get);
}

/* How old all this is, when nobody keeps it up to date. */
void
get_warn_stale(struct get *get)
{
	struct informer_status status = {.size = sizeof(status)};
	char age[AGE_TEXT_MAX];

	if (informer_status(get->inf, &status) == 0 && status.stale)
		cli_fail("what follows is as of %s ago: %s", age_format((int64_t)status.age_ns, age),
			 *status.reason ? status.reason : "informerd shows no sign of life");
}

/*
 * A resource on demand is listed from the first look at it on: waited for a moment, as somebody who sits there would. Returns -1, or the
 * exit code.
 */
static int
wait_on_demand(struct get *get)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_resource *resource;
	bool waited = false;

	for (size_t i = 0; i < get->target_count; i++) {
		const char *name = get->targets[i].resource_name;

		if (informer_resource_open(get->inf, name, &resource) == 0 && informer_resource_info(&get->snap, resource, &info) == 0 &&
		    info.on_demand && !info.synced) {
			informer_wait_synced(get->inf, name, ON_DEMAND_MS);
			waited = true;
		}
	}
	if (!waited)
		return -1;
	informer_end(&get->snap);
	return cli_begin(get->inf, get->args, &get->snap);
}

/* kubectl's words. */
static void
say_nothing_found(const struct get *get)
{
	bool namespaced = !get->all_namespaces;

	for (size_t i = 0; i < get->target_count; i++)
		namespaced &= get->targets[i].info.namespaced;
	if (namespaced)
		fprintf(stderr, "No resources found in %s namespace.\n", get->namespace_);
	else
		fprintf(stderr, "No resources found\n");
}

int
get_run(struct get *get)
{
	struct text out = TEXT_INIT(1);
	int r, error;

	get->inf = cli_attach(get->args, INFORMER_ORPHAN);
	if (!get->inf)
		return EXIT_USAGE;
	r = cli_begin(get->inf, get->args, &get->snap);
	if (r >= 0)
		return r;
	get_warn_stale(get);
	r = wait_on_demand(get);
	if (r < 0)
		r = find(get);
	if (r >= 0)
		return r;
	if (get->hit_count == 0 && !get->missed && !get->ignore_not_found && get->output >= GET_WIDE)
		say_nothing_found(get);
	get_show(get, &out);
	error = field_take_error();
	informer_end(&get->snap);
	r = error < 0 ? cli_fail_code(get->inf, error, "the output is incomplete") : cli_finish(&out);
	text_done(&out);
	return r ? r : get->missed ? EXIT_CONDITION : EXIT_SUCCESS;
}
