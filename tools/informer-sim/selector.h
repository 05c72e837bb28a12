/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label and field selectors, with the grammar and the error messages of
 * k8s.io/apimachinery (labels.Parse, fields.ParseSelector).
 *
 * A parsed selector is immutable and may be used by any number of threads.
 */
#ifndef TOOLS_INFORMER_SIM_SELECTOR_H
#define TOOLS_INFORMER_SIM_SELECTOR_H

#include <stdbool.h>

#include "tools/informer-sim/stored_object.h"
#include "tools/informer-sim/served_resource.h"

struct sim_selector; /* a conjunction of requirements */

/*
 * Parse a label selector: a=b, a==b, a!=b, a in (b,c), a notin (b,c), a, !a, a>1, a<1, joined by commas.
 * Empty text selects everything.
 *
 * Returns  0, or -EINVAL with a message in *ret_error (free it)
 */
int
sim_labels_parse(const char *text, struct sim_selector **ret_selector, char **ret_error);

/*
 * Parse a field selector for a resource: metadata.name=x, status.phase!=Running, joined by commas;
 * a backslash escapes comma, equals sign and itself in a value.
 *
 * Returns  0, or -EINVAL with a message (also for a field the resource does not support)
 */
int
sim_fields_parse(const struct sim_resource *resource, const char *text, struct sim_selector **ret_selector,
		 char **ret_error);

/* NULL is fine. */
void
sim_selector_free(struct sim_selector *selector);

/* Does it select everything? Also when NULL. */
bool
sim_selector_empty(const struct sim_selector *selector);
bool
sim_selector_matches(const struct sim_selector *selector, const struct sim_object *object);

#endif
