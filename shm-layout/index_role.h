/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of a resource's indexes a built-in lookup uses: an index is known by what it does, not by what it is
 * called.
 */
#ifndef SHM_LAYOUT_INDEX_ROLE_H
#define SHM_LAYOUT_INDEX_ROLE_H

#include "shm-layout/index_def.h"

enum index_role {
	INDEX_ROLE_NAMESPACE, /* as namespace */
	INDEX_ROLE_LABELS,    /* metadata.labels as keyvalue */
	INDEX_ROLE_UID,       /* metadata.uid as string */
	INDEX_ROLE_ADDRESS,   /* status.podIPs[*].ip as string */
	INDEX_ROLE_CONTAINER, /* anything as scheme */
	INDEX_ROLES,
};

/* The position of the first definition that has a rule of this role, or -1. */
int index_with_role(const struct index_def *defs, unsigned count, enum index_role role);

#endif
