/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/informerctl/workload_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tools/informerctl/cli.h"
#include "tools/informerctl/kubectl_words.h"

/* Controllers one above the other, as informer_workload() follows them. More is a mistake, or a circle. */
#define DEPTH_MAX 8u

static const char *
without_version(const char *group)
{
	const char *dot = strchr(group, '.');

	if (group[0] != 'v' || !isdigit((unsigned char)group[1]))
		return group;
	return dot ? dot + 1 : "";
}

bool
workload_name_parse(const char *text, struct workload_name *ret_name)
{
	size_t length = strcspn(text, "/"), head = strcspn(text, "./");
	struct workload_name *w = ret_name;
	const char *singular;

	if (head == 0 || head >= sizeof(w->kind) || length >= sizeof(w->resource) || !text[length] ||
	    !text[length + 1] || strchr(text + length + 1, '/'))
		return false;
	*w = (struct workload_name){.text = text, .name = text + length + 1, .any_group = head == length};
	memcpy(w->resource, text, length);
	memcpy(w->kind, text, head);
	singular = kubectl_word_singular(w->kind);
	if (singular)
		snprintf(w->kind, sizeof(w->kind), "%s", singular);
	if (!w->any_group)
		snprintf(w->group, sizeof(w->group), "%s", without_version(w->resource + head + 1));
	return true;
}

void
workload_name_resolve(struct workload_name *w, struct informer *inf, const struct informer_snapshot *snap,
		      const char *ns)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_resource *resource;
	struct informer_object object;

	if (!w->text || informer_resource_open(inf, w->resource, &resource) < 0 ||
	    informer_resource_info(snap, resource, &info) < 0)
		return;
	w->cached = true;
	w->any_group = false;
	snprintf(w->kind, sizeof(w->kind), "%.*s", (int)info.kind_length, info.kind);
	snprintf(w->group, sizeof(w->group), "%.*s", (int)info.group_length, info.group);
	w->lacking = info.synced && (ns || !info.namespaced) &&
		     informer_get_z(snap, resource, info.namespaced ? ns : NULL, w->name, &object) ==
			     INFORMER_E_NOT_FOUND;
}

static bool
is_kind(struct informer_text kind, const char *word)
{
	size_t length = strlen(word);
	bool plural = length == kind.length + 1 && tolower((unsigned char)word[kind.length]) == 's';

	return kind.length > 0 && (length == kind.length || plural) &&
	       strncasecmp(kind.data, word, kind.length) == 0;
}

static bool
names(const struct workload_name *w, struct informer_text group, struct informer_text kind,
      struct informer_text name)
{
	return name.length == strlen(w->name) && memcmp(name.data, w->name, name.length) == 0 &&
	       is_kind(kind, w->kind) &&
	       (w->any_group ||
		(group.length == strlen(w->group) && strncasecmp(group.data, w->group, group.length) == 0));
}

static bool
names_owner(const struct workload_name *w, const struct informer_owner *owner)
{
	const char *slash = memchr(owner->api_version.data, '/', owner->api_version.length);
	size_t length = slash ? (size_t)(slash - owner->api_version.data) : 0;

	return names(w, (struct informer_text){owner->api_version.data, length}, owner->kind, owner->name);
}

/* The topmost controller alone is not enough: another controller may have made the Deployment. */
int
workload_name_matches(const struct workload_name *w, const struct informer_object *object)
{
	struct informer_workload top = {.size = sizeof(top)};
	struct informer_object at = *object;
	struct informer_owner owner;
	int r;

	if (!w->text)
		return 1;
	r = informer_workload(object, &top);
	if (r == 0 && names(w, top.group, top.kind, top.name))
		return 1;
	for (unsigned i = 0; i < DEPTH_MAX && r == 0; i++) {
		r = informer_object_controller(&at, &owner);
		if (r == 0 && names_owner(w, &owner))
			return 1;
		if (r == 0)
			r = informer_controller_of(&at, &at);
	}
	return r == INFORMER_E_NOT_FOUND || r == INFORMER_E_NO_RESOURCE ? 0 : r;
}

void
workload_name_say_lacking(const struct workload_name *w)
{
	if (w->text && !w->cached)
		cli_fail("--workload %s: informerd does not cache '%s', or does not know it yet; see "
			 "informerctl stat",
			 w->text, w->resource);
	else if (w->lacking)
		cli_fail("--workload %s: the cache has no such object", w->text);
}
