/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a built-in lookup's index among a resource's definitions by what its rules do. Asked once a
 * resource by the writer (tombstones) and by readers (informer_find(), pods).
 */
#include "shm-layout/index_role.h"

#include <stdbool.h>
#include <string.h>

static bool
path_is(const struct path *path, const char *text)
{
	struct path other;

	return path_compile(&other, text, strlen(text), NULL, NULL) == 0 && path_same(path, &other);
}

int
index_with_role(const struct index_def *defs, unsigned count, enum index_role role)
{
	static const struct {
		enum index_as as;
		const char *path; /* NULL: any */
	} rules[] = {
		[INDEX_ROLE_NAMESPACE] = {INDEX_NAMESPACE, NULL},
		[INDEX_ROLE_LABELS] = {INDEX_KEYVALUE, "metadata.labels"},
		[INDEX_ROLE_UID] = {INDEX_STRING, "metadata.uid"},
		[INDEX_ROLE_ADDRESS] = {INDEX_STRING, "status.podIPs[*].ip"},
		[INDEX_ROLE_CONTAINER] = {INDEX_SCHEME, NULL},
	};

	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < defs[i].rule_count; k++)
			if (defs[i].rules[k].as == rules[role].as &&
			    (!rules[role].path || path_is(&defs[i].rules[k].path, rules[role].path)))
				return (int)i;
	return -1;
}
