/* SPDX-License-Identifier: Apache-2.0 */
/* Resource names and request paths; see resource_name.h. */
#include "writer/kube/resource_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "writer/base/message.h"

#define MAX_NAME 253 /* a DNS name, which every group and resource fits into */

void
kube_resource_done(struct kube_resource *resource)
{
	for (size_t i = 0; i < resource->n_short_names; i++)
		free(resource->short_names[i]);
	free(resource->short_names);
	free(resource->group);
	free(resource->version);
	free(resource->resource);
	free(resource->kind);
	free(resource->singular);
	memset(resource, 0, sizeof(*resource));
}

int
kube_resource_copy(const struct kube_resource *resource, struct kube_resource *ret)
{
	struct kube_resource copy = {
		.group = strdup(resource->group),
		.version = strdup(resource->version),
		.resource = strdup(resource->resource),
		.kind = strdup(resource->kind),
		.singular = strdup(resource->singular),
		.short_names = calloc(resource->n_short_names + 1, sizeof(char *)),
		.namespaced = resource->namespaced,
		.can_list = resource->can_list,
		.can_watch = resource->can_watch,
	};

	if (!copy.group || !copy.version || !copy.resource || !copy.kind || !copy.singular ||
	    !copy.short_names)
		goto no_memory;
	for (size_t i = 0; i < resource->n_short_names; i++) {
		copy.short_names[i] = strdup(resource->short_names[i]);
		if (!copy.short_names[i])
			goto no_memory;
		copy.n_short_names++;
	}
	*ret = copy;
	return 0;
no_memory:
	kube_resource_done(&copy);
	return -ENOMEM;
}

static char *
percent_encode(const char *text)
{
	static const char hex[] = "0123456789ABCDEF";
	char *encoded = malloc(3 * strlen(text) + 1), *at = encoded;

	for (; encoded && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (isalnum(c) || strchr("-._~", c)) {
			*at++ = *text;
		} else {
			*at++ = '%';
			*at++ = hex[c >> 4];
			*at++ = hex[c & 15];
		}
	}
	if (encoded)
		*at = '\0';
	return encoded;
}

char *
kube_resource_path(const struct kube_resource *resource, const char *namespace_)
{
	_cleanup_(message_freep) char *encoded = NULL;
	bool in_namespace = resource->namespaced && namespace_ && *namespace_;
	bool core = !*resource->group;
	char *path;

	encoded = percent_encode(in_namespace ? namespace_ : "");
	if (!encoded ||
	    asprintf(&path, "%s%s/%s%s%s/%s", core ? "/api" : "/apis/", resource->group, resource->version,
		     in_namespace ? "/namespaces/" : "", encoded, resource->resource) < 0)
		return NULL;
	return path;
}

char *
kube_resource_group_name(const struct kube_resource *resource)
{
	char *name;

	return asprintf(&name, "%s%s%s", resource->resource, *resource->group ? "." : "", resource->group) < 0
		       ? NULL
		       : name;
}

bool
resource_name_is_version(const char *text)
{
	size_t digits;

	if (*text++ != 'v')
		return false;
	digits = strspn(text, "0123456789");
	if (digits == 0 || *text == '0')
		return false;
	text += digits;
	if (!*text)
		return true;
	if (strncmp(text, "alpha", 5) == 0)
		text += 5;
	else if (strncmp(text, "beta", 4) == 0)
		text += 4;
	else
		return false;
	digits = strspn(text, "0123456789");
	return digits > 0 && *text != '0' && !text[digits];
}

static int
check_characters(const char *text, char **ret_error)
{
	size_t len = strlen(text);

	if (len == 0)
		return message_set(ret_error, -EINVAL,
				   "an empty resource name; write one as pods, deployments.apps or "
				   "widgets.v1.example.com");
	if (len > MAX_NAME)
		return message_set(ret_error, -EINVAL,
				   "resource name of %zu characters; at most %d are possible", len, MAX_NAME);
	for (const char *p = text; *p; p++) {
		/* a dot stands between names; after a version it names the core group: pods.v1. */
		bool empty_part = *p == '.' && (p == text || p[1] == '.');

		if ((!isalnum((unsigned char)*p) && *p != '-' && *p != '.') || empty_part)
			return message_set(
				ret_error, -EINVAL,
				"'%s' is no resource name (letters, digits, '-', and '.' between); write one "
				"as pods, deployments.apps or widgets.v1.example.com",
				text);
	}
	return 0;
}

int
resource_name_parse(const char *text, struct resource_name *ret, char **ret_error)
{
	struct resource_name name = {0};
	char *dot, *rest;
	int r;

	r = check_characters(text, ret_error);
	if (r < 0)
		return r;
	/* the text twice: one copy is cut at its dots, the other at the first dot only, for whole_group */
	if (asprintf(&name.text, "%s%c%s", text, '\0', text) < 0)
		return -ENOMEM;
	name.resource = name.text;
	dot = strchr(name.text, '.');
	if (dot) {
		*dot = '\0';
		rest = dot + 1;
		dot = strchr(rest, '.');
		if (dot)
			*dot = '\0';
		if (resource_name_is_version(rest)) {
			name.version = rest;
			name.group = dot ? dot + 1 : "";
			if (dot && *name.group)
				name.whole_group = strchr(name.text + strlen(text) + 1, '.') + 1;
		} else {
			if (dot)
				*dot = '.';
			name.group = rest;
		}
	}
	*ret = name;
	return 0;
}

void
resource_name_done(struct resource_name *name)
{
	free(name->text);
	memset(name, 0, sizeof(*name));
}

static bool
means(const char *word, const struct kube_resource *resource)
{
	if (strcasecmp(word, resource->resource) == 0 || strcasecmp(word, resource->singular) == 0 ||
	    strcasecmp(word, resource->kind) == 0)
		return true;
	for (size_t i = 0; i < resource->n_short_names; i++)
		if (strcasecmp(word, resource->short_names[i]) == 0)
			return true;
	return false;
}

bool
resource_name_matches(const struct resource_name *name, const struct kube_resource *resource)
{
	if (!means(name->resource, resource))
		return false;
	if (!name->group)
		return true;
	if (strcasecmp(name->group, resource->group) == 0 &&
	    (!name->version || strcmp(name->version, resource->version) == 0))
		return true;
	return name->whole_group && strcasecmp(name->whole_group, resource->group) == 0;
}
