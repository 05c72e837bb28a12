/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One or several kubeconfig files as one, merged by kubectl's rules.
 *
 * The first file that has a context, cluster or user of a name provides the whole entry; later entries of
 * that name are ignored. current-context is that of the first file that sets it. Each entry knows its own
 * file, so paths and messages refer to that file.
 *
 * Source: client-go tools/clientcmd ClientConfigLoadingRules.Load()
 */
#ifndef WRITER_KUBE_KUBECONFIG_SET_H
#define WRITER_KUBE_KUBECONFIG_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "writer/kube/kubeconfig_fields.h"
#include "writer/base/yaml.h"

/* Zeroed: no file. */
struct kubeconfig_set {
	struct yaml **docs;
	size_t n;
	char *origin; /* the files' names, joined by ':'; NULL: none */
};

void kubeconfig_set_done(struct kubeconfig_set *set);

/*
 * Read a file and add it after the others.
 * Returns 0; -EINVAL with message: it is no kubeconfig, or has an entry twice; other negative errno
 */
int kubeconfig_set_add_file(struct kubeconfig_set *set, const char *path, char **ret_error);

/* Whether the files have no context, cluster or user. */
bool kubeconfig_set_is_empty(const struct kubeconfig_set *set);

/* *ret_name is NULL when no file sets one; borrowed. Returns 0 or -EINVAL with message. */
int kubeconfig_set_current_context(const struct kubeconfig_set *set, const char **ret_name, char **ret_error);

enum kubeconfig_kind { KUBECONFIG_CONTEXT, KUBECONFIG_CLUSTER, KUBECONFIG_USER };

/*
 * Find an entry by its name.
 *
 * ret_in      for reading the entry's fields; reports errors in ret_error
 * ret_object  the entry's mapping, borrowed; NULL: it is empty
 * Returns     0; -EINVAL with a message that lists the existing names
 */
int kubeconfig_set_find(const struct kubeconfig_set *set, enum kubeconfig_kind kind, const char *name,
			struct kubeconfig_reader *ret_in, const cJSON **ret_object, char **ret_error);

/* The names of all entries, "a, b" or "none", cut to `size`. */
void kubeconfig_set_names(const struct kubeconfig_set *set, enum kubeconfig_kind kind, char *text,
			  size_t size);

#endif
