/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resource names: what a user writes (`pods`, `po`, `Pod`, `deployments.apps`, `deployments.v1.apps`,
 * `widgets.v1.example.com`), and struct kube_resource, what a name resolves to and request paths are built
 * from.
 *
 * Pure text without network; discovery.h asks the server.
 */
#ifndef WRITER_KUBE_RESOURCE_NAME_H
#define WRITER_KUBE_RESOURCE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* One resource as the server describes it. Its maker owns it (mostly discovery). */
struct kube_resource {
	char *group;		/* "" for the core group */
	char *version;		/* "v1" */
	char *resource;		/* plural: "pods" */
	char *kind;		/* "Pod" */
	char *singular;		/* "pod" */
	char **short_names;	/* "po"; n_short_names of them */
	size_t n_short_names;
	bool namespaced;
	bool can_list; /* verbs; a cache needs both */
	bool can_watch;
};

/* Free what `resource` owns, not the struct itself. A zeroed one is fine. */
void kube_resource_done(struct kube_resource *resource);

/* Make a deep copy in *ret; free with kube_resource_done(). Returns 0 or -ENOMEM. */
int kube_resource_copy(const struct kube_resource *resource, struct kube_resource *ret);

/*
 * The request path of a collection: "/api/v1/pods", "/api/v1/namespaces/NS/pods",
 * "/apis/apps/v1/namespaces/NS/deployments". The namespace is percent-encoded. It is ignored if it is NULL or
 * empty, or if the resource is not namespaced.
 *
 * Returns  an allocated string; NULL: no memory
 */
char *kube_resource_path(const struct kube_resource *resource, const char *namespace_);

/* The short unambiguous name: "pods", "deployments.apps". Allocated; NULL: no memory. */
char *kube_resource_group_name(const struct kube_resource *resource);

/* A user's spelling, split into parts. Strings point into `text`. */
struct resource_name {
	char *text;		/* owned copy, cut at its dots */
	const char *resource;	/* before the first dot */
	const char *version;	/* "v1" of deployments.v1.apps; NULL when not named */
	const char *group;	/* "apps"; "" when core was named (`pods.v1.`); NULL when not named */
	const char *whole_group; /* the same with the version counted to the group (`a.v1.example.com` in
				    group v1.example.com), tried second; NULL when there is none */
};

/*
 * Split a name. It has letters, digits, '-', and '.' between; other characters are refused (above all '/',
 * because the name goes into a request path).
 *
 * Returns  0 (free with resource_name_done()), -EINVAL with message, -ENOMEM
 */
int resource_name_parse(const char *text, struct resource_name *ret, char **ret_error);
void resource_name_done(struct resource_name *name);

/*
 * Whether `name` can mean `resource`: it is the plural, singular, a short name or the kind, in any case, and
 * its group and version match if it has them.
 */
bool resource_name_matches(const struct resource_name *name, const struct kube_resource *resource);

/* Whether text is a version as Kubernetes has them: "v1", "v2beta1", "v1alpha3". */
bool resource_name_is_version(const char *text);

#endif
