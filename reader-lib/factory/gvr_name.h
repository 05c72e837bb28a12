/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts resource names from group/version/resource, the form of client-go's factories, to kubectl's form,
 * which the rest of the library takes. "apps/v1/deployments" is "deployments.v1.apps"; the core group's are
 * "v1/pods" or "/v1/pods".
 */
#ifndef READER_LIB_FACTORY_GVR_NAME_H
#define READER_LIB_FACTORY_GVR_NAME_H

#include "reader-lib/informer.h"

#define RESOURCE_NAME_MAX 512u

/*
 * Kubectl's form of a name in either form.
 * Returns 0; -EINVAL: neither form, empty, or longer than RESOURCE_NAME_MAX
 */
int resource_name_of(const char *text, char ret_name[RESOURCE_NAME_MAX + 1]);
/* Whether two names in kubectl's form mean one resource: they are equal, or the newest snapshot says so. */
bool resource_names_match(struct informer *inf, const char *one, const char *other);

#endif
