/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resource names: what a user writes (`pods`, `po`, `Pod`, `deployments.apps`,
 * `deployments.v1.apps`, `widgets.v1.example.com`) and what it resolves to, a
 * struct kube_resource, from which request paths are built.
 *
 * Pure text, no network; discovery.h asks the server.
 */
#ifndef WRITER_KUBE_RESOURCE_NAME_H
#define WRITER_KUBE_RESOURCE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* One resource as the server describes it. Owned by whoever made it (discovery, mostly). */
struct kube_resource {
	char *group;		/* "" for the core group */
	char *version;		/* "v1" */
	char *resource;		/* plural: "pods" */
	char *kind;		/* "Pod" */
	char *singular;		/* "pod" */
	char **short_names;	/* "po"; n_short_names of them */
	size_t n_short_names;
	bool namespaced;
	bool can_list;		/* among its verbs; both are needed for a cache */
	bool can_watch;
};

/* Free what `resource` owns, not itself; a zeroed one is fine. */
void kube_resource_done(struct kube_resource *resource);

/* A deep copy into *ret, for kube_resource_done(). Returns 0 or -ENOMEM. */
int kube_resource_copy(const struct kube_resource *resource, struct kube_resource *ret);

/*
 * The request path of a collection: "/api/v1/pods", "/api/v1/namespaces/NS/pods",
 * "/apis/apps/v1/namespaces/NS/deployments". The namespace is ignored when NULL, empty, or
 * when the resource is not namespaced; what is in it is percent-encoded.
 *
 * Returns   an allocated string, NULL without memory
 */
char *kube_resource_path(const struct kube_resource *resource, const char *namespace_);

/* "pods", "deployments.apps": the short unambiguous name. Allocated, NULL without memory. */
char *kube_resource_group_name(const struct kube_resource *resource);

/* A user's spelling, taken apart. Strings point into `text`. */
struct resource_name {
	char *text;		/* owned copy, cut at its dots */
	const char *resource;	/* before the first dot */
	const char *version;	/* "v1" of deployments.v1.apps; NULL when not named */
	const char *group;	/* "apps"; "" when core was named (`pods.v1.`); NULL when not named */
	const char *whole_group; /* the same with the version counted to the group (`a.v1.example.com` in
				    group v1.example.com), tried second; NULL when there is none */
};

/*
 * Take a name apart. Letters, digits, '-', and '.' between; anything else is refused
 * (a '/' above all, since the name goes into a request path).
 *
 * Returns   0 (give it to resource_name_done()), -EINVAL with message, -ENOMEM
 */
int resource_name_parse(const char *text, struct resource_name *ret, char **ret_error);
void resource_name_done(struct resource_name *name);

/*
 * Whether `name` can mean `resource`: the plural, singular, a short name or the kind,
 * whatever the case, and group and version where named.
 */
bool resource_name_matches(const struct resource_name *name, const struct kube_resource *resource);

/* "v1", "v2beta1", "v1alpha3": what Kubernetes calls a version. */
bool resource_name_is_version(const char *text);

#endif
