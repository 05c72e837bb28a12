/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index functions: which values an object has in an index. The same code runs in the writer, which files
 * objects under them, and in a reader, which compares a leaf's object with the value it asked for.
 *
 * A definition is data, so that it can stand in the arena (in the resource's descriptor): a name and rules;
 * an object's values are the union over the rules, without duplicates.
 *
 *	rule           {"path": "...", "as": "string" | "scheme" | "keyvalue" | "split", "separator": ","}
 *	string         each string hit of the path; numbers and booleans by their JSON text
 *	scheme         the same without "cri-o://", "containerd://", … in front
 *	keyvalue       the path's object, each field as key=value (labels)
 *	split          each hit, cut at separator, blanks around the parts removed, empty parts dropped
 *	namespace      (no path) the object's namespace; nothing for cluster-scoped objects
 */
#ifndef SHM_LAYOUT_INDEX_DEF_H
#define SHM_LAYOUT_INDEX_DEF_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/path.h"

#define INDEX_NAME_MAX 63u
#define INDEX_RULES_MAX 8u
#define INDEX_VALUE_MAX 4096u	/* a longer value is not indexed */

enum index_as { INDEX_STRING, INDEX_SCHEME, INDEX_KEYVALUE, INDEX_SPLIT, INDEX_NAMESPACE };

struct index_rule {
	enum index_as as;
	char separator;
	struct path path;
};

struct index_def {
	char name[INDEX_NAME_MAX + 1];
	unsigned rule_count;
	struct index_rule *rules;	/* owned */
};

/*
 * Read a definition from the descriptor's form {"name":…,"rules":[…]}.
 * Returns 0, -EINVAL (ret_why says what is off), -ENOMEM.
 */
int index_def_read(struct index_def *ret_def, struct value document, const char **ret_why);
void index_def_done(struct index_def *def);

/*
 * Whether both have the same name, and the same rules in the same order: then every object has the same
 * values in both.
 */
bool index_def_same(const struct index_def *a, const struct index_def *b);

/*
 * Every value of an object in this index, duplicates included (the callers' sets remove them). The bytes are
 * lent for the duration of the call. A non-zero result of each stops and is returned; else 0, or -EBADMSG.
 */
int index_def_each(const struct index_def *def, struct value body,
		   int (*each)(const char *data, size_t length, void *context), void *context);

/* The same of what one rule's path, which is not INDEX_NAMESPACE, led to. */
int index_rule_each(const struct index_rule *rule, struct value hit,
		    int (*each)(const char *data, size_t length, void *context), void *context);

/*
 * Which of a resource's indexes a built-in lookup uses: an index is known by what it does, not by what it is
 * called.
 */
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

/* 1 when the object has this value, 0 when not, -EBADMSG damaged. */
int index_def_has(const struct index_def *def, struct value body, const char *data, size_t length);

#endif
