/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Missing resources: says that informerd does not cache a resource, what it caches, and how to add it.
 *
 * The name is looked up as kubectl knows it (kubectl_words.h), so that "ns" is not taken for a misspelt "no".
 */
#ifndef TOOLS_INFORMERCTL_MISSING_RESOURCE_H
#define TOOLS_INFORMERCTL_MISSING_RESOURCE_H

#include <stddef.h>

#include "reader-lib/informer.h"
#include "tools/printer/text.h"

/* Print that the snapshot has no such resource. Returns EXIT_USAGE. */
int missing_resource_fail(const struct informer_snapshot *snap, const char *name);
/* Append the names of all resources of the snapshot: "pods, nodes"; "nothing yet" if there are none. */
void missing_resource_names(const struct informer_snapshot *snap, struct text *line);
/* How informerd is told to cache a resource: "informerd --resource namespaces ...". */
void missing_resource_remedy(const char *name, char *text, size_t size);

#endif
