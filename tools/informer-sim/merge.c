/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merge patches, plain and strategic.
 *
 * Source: RFC 7386; k8s.io/apimachinery pkg/util/strategicpatch. Upstream's merge keys are tags of Go types.
 * Here the list's name determines the key.
 */
#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The value that a patch creates: the patch without its nulls. */
static struct api_node *
without_nulls(struct api_doc *doc, const struct api_node *patch)
{
	struct api_node *copy;

	if (patch->type != API_OBJECT)
		return sim_clone(doc, patch);
	copy = api_new(doc, API_OBJECT);
	for (const struct api_node *child = patch->child; child; child = child->next) {
		struct api_node *value;

		if (child->type == API_NULL)
			continue;
		value = without_nulls(doc, child);
		value->key = child->key;
		value->key_len = child->key_len;
		api_append(copy, value);
	}
	return copy;
}

struct api_node *
sim_merge(struct api_doc *doc, struct api_node *target, const struct api_node *patch)
{
	if (patch->type != API_OBJECT || !target || target->type != API_OBJECT)
		return without_nulls(doc, patch);
	for (const struct api_node *child = patch->child; child; child = child->next) {
		_cleanup_(api_buf_done) struct api_buf key = {0};
		struct api_node *old;

		sim_key(child, &key);
		old = api_get(target, key.data ? key.data : "");
		if (child->type == API_NULL)
			sim_remove(target, key.data ? key.data : "");
		else if (old)
			sim_become(old, sim_merge(doc, old, child));
		else
			sim_set(doc, target, key.data ? key.data : "", without_nulls(doc, child));
	}
	return target;
}

/* ---- strategic merge -------------------------------------------------------- */

/*
 * The key that matches a list's elements. "": the elements are strings of a set; NULL: the patch replaces
 * the list.
 */
static const char *
merge_key(const char *list, const struct api_node *patch)
{
	static const struct {
		const char *list, *key;
	} keys[] = {
		{"containers", "name"},
		{"initContainers", "name"},
		{"ephemeralContainers", "name"},
		{"volumes", "name"},
		{"env", "name"},
		{"volumeMounts", "mountPath"},
		{"volumeDevices", "devicePath"},
		{"imagePullSecrets", "name"},
		{"secrets", "name"},
		{"hostAliases", "ip"},
		{"conditions", "type"},
		{"ownerReferences", "uid"},
		{"addresses", "type"},
		{"podIPs", "ip"},
		{"hostIPs", "ip"},
		{"finalizers", ""},
		{"topologySpreadConstraints", "topologyKey"},
		{"resourceClaims", "name"},
		{"claims", "name"},
	};

	/* a container's ports by containerPort, a service's by port */
	if (!strcmp(list, "ports")) {
		for (const struct api_node *item = patch->child; item; item = item->next)
			if (api_get(item, "containerPort"))
				return "containerPort";
		return "port";
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!strcmp(list, keys[i].list))
			return keys[i].key;
	return NULL;
}

static int
refuse(char **ret_error, const char *what, const struct api_node *node)
{
	_cleanup_(api_freep) char *text = api_text_dup(node);
	struct api_buf buf = {0};

	api_buf_printf(&buf, "%s%.100s", what, text);
	free(*ret_error);
	*ret_error = api_buf_take(&buf);
	return -EINVAL;
}

static int merge_object(struct api_doc *doc, struct api_node *target, const struct api_node *patch,
			char **ret_error);

static void
drop_element(struct api_node *array, const struct api_node *which)
{
	struct api_node *all = array->child, *next;

	array->child = array->last = NULL;
	for (; all; all = next) {
		next = all->next;
		if (all != which)
			api_append(array, all);
	}
}

static struct api_node *
find_element(const struct api_node *array, const char *key, const struct api_node *like)
{
	const struct api_node *want = key[0] ? api_get(like, key) : like;

	for (struct api_node *item = want ? array->child : NULL; item; item = item->next) {
		const struct api_node *have = key[0] ? api_get(item, key) : item;

		if (have && sim_equal(have, want))
			return item;
	}
	return NULL;
}

static int
merge_list(struct api_doc *doc, struct api_node *target, const struct api_node *patch, const char *key,
	   char **ret_error)
{
	for (const struct api_node *item = patch->child; item; item = item->next)
		if (api_is(api_get(item, "$patch"), "replace"))
			target->child = target->last = NULL;
	for (const struct api_node *item = patch->child; item; item = item->next) {
		struct api_node *old = find_element(target, key, item);
		const struct api_node *directive = api_get(item, "$patch");
		int r;

		if (api_is(directive, "delete")) {
			if (old)
				drop_element(target, old);
			continue;
		}
		if (api_is(directive, "replace"))
			continue; /* a directive only */
		if (key[0] && item->type == API_OBJECT && !api_get(item, key))
			return refuse(ret_error,
				      "map does not contain declared merge key: ", sim_new_string(doc, key));
		if (old && item->type != API_OBJECT)
			continue;
		if (!old && item->type != API_OBJECT) {
			api_append(target, sim_clone(doc, item));
			continue;
		}
		if (!old) {
			old = api_new(doc, API_OBJECT);
			api_append(target, old);
		}
		r = merge_object(doc, old, item, ret_error);
		if (r < 0)
			return r;
	}
	return 0;
}

static size_t
place_of(const struct api_node *list, const char *key, const struct api_node *like)
{
	const struct api_node *found = find_element(list, key, like);
	size_t at = 0;

	for (const struct api_node *item = list->child; item != found; item = item->next)
		at++;
	return found ? at : SIZE_MAX;
}

/*
 * Order a merged list like the server's normalizeElementOrder. Elements of the patch keep the patch's order,
 * and the rest keeps its own. To merge both, an element of the rest precedes a patched one if it did before.
 */
static void
arrange(struct api_node *list, const struct api_node *patch, const struct api_node *before, const char *key)
{
	struct api_node named = {.type = API_ARRAY}, rest = {.type = API_ARRAY}, *next;

	for (const struct api_node *item = patch->child; item; item = item->next) {
		struct api_node *found = find_element(list, key, item);

		if (!found)
			continue;
		drop_element(list, found);
		api_append(&named, found);
	}
	for (struct api_node *item = list->child; item; item = next) {
		next = item->next;
		api_append(&rest, item);
	}
	list->child = list->last = NULL;
	while (named.child || rest.child) {
		size_t ours = named.child ? place_of(before, key, named.child) : SIZE_MAX;
		size_t theirs = rest.child ? place_of(before, key, rest.child) : SIZE_MAX;
		bool take_rest = !named.child || (rest.child && ours != SIZE_MAX && theirs < ours);
		struct api_node *from = take_rest ? &rest : &named, *first = from->child;

		drop_element(from, first);
		api_append(list, first);
	}
}

/* Put the elements that `order` names into its order, and the others behind them. */
static void
set_order(struct api_node *list, const struct api_node *order, const char *key)
{
	struct api_node ordered = {.type = API_ARRAY};

	for (const struct api_node *item = order->child; item; item = item->next) {
		struct api_node *found = find_element(list, key, item);

		if (!found)
			continue;
		drop_element(list, found);
		api_append(&ordered, found);
	}
	while (list->child) {
		struct api_node *first = list->child;

		drop_element(list, first);
		api_append(&ordered, first);
	}
	list->child = ordered.child;
	list->last = ordered.last;
}

static void
retain_keys(struct api_node *target, const struct api_node *names)
{
	struct api_node *all = target->child, *next;

	target->child = target->last = NULL;
	for (; all; all = next) {
		_cleanup_(api_buf_done) struct api_buf key = {0};
		bool kept = false;

		next = all->next;
		sim_key(all, &key);
		for (const struct api_node *name = names->child; name; name = name->next)
			kept |= api_is(name, key.data ? key.data : "");
		if (kept)
			api_append(target, all);
	}
}

/* Merge one member that is not a directive. */
static int
merge_member(struct api_doc *doc, struct api_node *target, const char *name, const struct api_node *value,
	     char **ret_error)
{
	struct api_node *old = api_get(target, name);
	const char *key;

	if (value->type == API_NULL) {
		sim_remove(target, name);
		return 0;
	}
	if (value->type != API_OBJECT && value->type != API_ARRAY) {
		sim_set(doc, target, name, sim_clone(doc, value));
		return 0;
	}
	key = value->type == API_ARRAY ? merge_key(name, value) : NULL;
	if (value->type == API_ARRAY && !key) {
		sim_set(doc, target, name, sim_clone(doc, value));
		return 0;
	}
	if (!old || old->type != value->type) {
		sim_set(doc, target, name, api_new(doc, value->type));
		old = api_get(target, name);
	}
	if (key) {
		const struct api_node *before = sim_clone(doc, old);
		int r = merge_list(doc, old, value, key, ret_error);

		if (r == 0)
			arrange(old, value, before, key);
		return r;
	}
	if (api_is(api_get(value, "$patch"), "delete")) {
		sim_remove(target, name);
		return 0;
	}
	return merge_object(doc, old, value, ret_error);
}

static int
directive(struct api_node *target, const char *name, const struct api_node *value, char **ret_error)
{
	static const char order[] = "$setElementOrder/", delete[] = "$deleteFromPrimitiveList/";
	const char *list_name = strchr(name, '/');
	struct api_node *list = list_name ? api_get(target, list_name + 1) : NULL;
	const char *key;

	if (!strcmp(name, "$patch") || !strcmp(name, "$retainKeys"))
		return 0; /* merge_object() applies it */
	if (value->type != API_ARRAY)
		return refuse(ret_error, "a directive wants a list: ", NULL);
	if (!strncmp(name, order, sizeof(order) - 1)) {
		key = list && list->type == API_ARRAY ? merge_key(list_name + 1, value) : NULL;
		if (key)
			set_order(list, value, key);
	} else if (!strncmp(name, delete, sizeof(delete) - 1)) {
		for (const struct api_node *item = value->child; list && list->type == API_ARRAY && item;
		     item = item->next)
			for (struct api_node *old; (old = find_element(list, "", item));)
				drop_element(list, old);
	}
	return 0;
}

static int
merge_object(struct api_doc *doc, struct api_node *target, const struct api_node *patch, char **ret_error)
{
	const struct api_node *how = api_get(patch, "$patch"), *retain = api_get(patch, "$retainKeys");

	if (how && !api_is(how, "replace") && !api_is(how, "merge") && !api_is(how, "delete"))
		return refuse(ret_error, "Unknown patch type found: ", how);
	if (api_is(how, "replace") || api_is(how, "delete"))
		target->child = target->last = NULL;
	if (retain)
		retain_keys(target, retain);
	/* members first, then directives about them */
	for (int pass = 0; pass < 2; pass++) {
		for (const struct api_node *child = patch->child; child; child = child->next) {
			_cleanup_(api_buf_done) struct api_buf name = {0};
			bool is_directive;
			int r = 0;

			sim_key(child, &name);
			api_buf_puts(&name, "");
			is_directive = name.data[0] == '$';
			if (!is_directive && pass == 0)
				r = merge_member(doc, target, name.data, child, ret_error);
			else if (is_directive && pass == 1)
				r = directive(target, name.data, child, ret_error);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int
sim_merge_strategic(struct api_doc *doc, struct api_node *target, const struct api_node *patch,
		    char **ret_error)
{
	*ret_error = NULL;
	return merge_object(doc, target, patch, ret_error);
}
