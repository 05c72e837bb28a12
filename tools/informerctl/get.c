/* SPDX-License-Identifier: Apache-2.0 */
/* Finds objects; see get.h. */
#include "tools/informerctl/get.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informerctl/field_informer.h"
#include "tools/printer/age.h"

void
get_done(struct get *get)
{
	informer_label_selector_free(get->selector);
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

		if (length < (int)sizeof(key)) /* no object has a longer key */
			r = informer_find(&get->snap, target->resource, INFORMER_BY_KEY, key, (size_t)length,
					  &object, NULL);
	}
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
		return informer_by_index(&get->snap, target->resource, get->index_name, get->index_value,
					 strlen(get->index_value), it);
	if (get->selector)
		return informer_select(&get->snap, target->resource, ns, strlen(ns), get->selector, it);
	if (narrow)
		return informer_list_namespace(&get->snap, target->resource, ns, strlen(ns), it);
	return informer_list(&get->snap, target->resource, it);
}

/* Whether an object passes the filters that the lookup did not apply: 1, 0 or negative. */
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
	r = workload_name_matches(&get->workload, object);
	if (r <= 0 || (!get->index_name && !get->deleted))
		return r;
	if (target->info.namespaced && !get->all_namespaces) {
		r = informer_object_namespace(object, &ns.data, &ns.length);
		if (r < 0 || !field_text_is(ns, get->namespace_))
			return r;
	}
	return get->selector ? informer_label_selector_matches(get->selector, object) : 1;
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

/* Find deleted objects; with an index, present ones too. */
static int
find_deleted(struct get *get, size_t i)
{
	struct deleted_call call = {get, i};
	struct informer_object object;
	int r;

	if (!get->index_name)
		return informer_each_deleted(&get->snap, get->targets[i].resource, add_wanted, &call);
	r = informer_find(&get->snap, get->targets[i].resource, get->find_by, get->index_value,
			  strlen(get->index_value), &object, NULL);
	return r == 0 ? add_wanted(&call, &object) : r == INFORMER_E_NOT_FOUND ? 0 : r;
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
	r = informer_label_selector_compile(get->inf, get->selector_text, strlen(get->selector_text),
					    &get->selector, &offset);
	if (r == 0)
		return -1;
	if (r != INFORMER_E_SYNTAX)
		return cli_fail_code(r, "-l");
	informer_error_text(r, detail, sizeof(detail));
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
		return cli_fail_code(r, "--field-selector");
	informer_error_text(r, detail, sizeof(detail));
	return cli_fail("%s", detail);
}

int
get_prepare(struct get *get)
{
	int r = compile_selector(get);

	get_resolve_workload(get);
	if (r < 0)
		r = compile_fields(get);
	for (size_t i = 0; i < get->target_count && r < 0; i++)
		r = get_open_target(get, &get->targets[i]);
	return r;
}

int
get_find(struct get *get)
{
	int r;

	for (size_t i = 0; i < get->target_count; i++) {
		r = get->targets[i].name ? find_one(get, i) : find_all(get, i);
		if (r == INFORMER_E_NO_INDEX)
			return get_fail_no_index(get, &get->targets[i]);
		if (r < 0)
			return cli_fail_code(r, get->targets[i].resource_name);
	}
	return get_sort(get);
}

void
get_resolve_workload(struct get *get)
{
	workload_name_resolve(&get->workload, get->inf, &get->snap,
			      get->all_namespaces ? NULL : get->namespace_);
}

/* Print the age of the arena's data if no informerd updates it. */
void
get_warn_stale(struct get *get)
{
	struct informer_status status = {.size = sizeof(status)};
	char age[AGE_TEXT_MAX];

	if (informer_status(get->inf, &status) == 0 && status.stale)
		cli_fail("what follows is as of %s ago: %s", age_format((int64_t)status.age_ns, age),
			 *status.reason ? status.reason : "informerd shows no sign of life");
}

/* In kubectl's words. */
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
	workload_name_say_lacking(&get->workload);
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
	r = get_expand_all(get);
	if (r < 0)
		r = get_wait_synced(get);
	if (r < 0)
		r = get_prepare(get);
	if (r < 0)
		r = get_find(get);
	if (r >= 0)
		return r;
	if (get->hit_count == 0 && !get->missed && !get->ignore_not_found && get->output >= GET_WIDE)
		say_nothing_found(get);
	get_show(get, &out);
	error = field_take_error();
	informer_end(&get->snap);
	r = error < 0 ? cli_fail_code(error, "the output is incomplete") : cli_finish(&out);
	text_done(&out);
	return r ? r : get->missed ? EXIT_CONDITION : EXIT_SUCCESS;
}
