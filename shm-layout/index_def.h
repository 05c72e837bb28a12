/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index functions: the values that an object has in an index. The writer runs them to enter an object into
 * the index; a reader runs them to compare an object that it found with the value that it searches for.
 *
 * A definition is data in the resource's descriptor: a name, rules, and sometimes a prefix. An object's
 * values are the union over the rules, without duplicates.
 *
 *	rule           {"path": "...", "as": "string" | "scheme" | "keyvalue" | "split", "separator": ","}
 *	string         each hit of the path: a string; a number or boolean as its JSON text
 *	scheme         as string, without a leading "cri-o://", "containerd://", …
 *	keyvalue       each string, number or boolean field of the object at path, as key=value (labels)
 *	split          each hit, cut at separator; spaces and tabs around a part removed, empty parts dropped
 *	namespace      (no path) the object's namespace; nothing for cluster-scoped objects
 *
 * With a prefix of N bytes the index files each value under its first N bytes: the filed value. A value of
 * fewer bytes is filed as it is. So all values that begin with the same N bytes share one filed value, and a
 * reader compares each object found there with the value, or with the longer prefix, that it searches for.
 * Only the objects have the whole values.
 */
#ifndef SHM_LAYOUT_INDEX_DEF_H
#define SHM_LAYOUT_INDEX_DEF_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/path.h"

#define INDEX_NAME_MAX 63u
#define INDEX_RULES_MAX 8u
#define INDEX_VALUE_MAX 4096u	/* a longer value is not indexed */
#define INDEX_PREFIX_MAX 255u

enum index_as { INDEX_STRING, INDEX_SCHEME, INDEX_KEYVALUE, INDEX_SPLIT, INDEX_NAMESPACE };

struct index_rule {
	enum index_as as;
	char separator;
	struct path path;
};

struct index_def {
	char name[INDEX_NAME_MAX + 1];
	unsigned prefix;	/* bytes of a value that are filed; 0: all */
	unsigned rule_count;
	struct index_rule *rules;	/* owned */
};

/*
 * Read a definition of the form {"name":…,"prefix":N,"rules":[…]}; "prefix" may be absent.
 *
 * ret_def  index_def_done() frees it, also after a failure
 * Returns  0; -EINVAL with the reason, a constant text, in ret_why (may be NULL); -ENOMEM
 */
int index_def_read(struct index_def *ret_def, struct value document, const char **ret_why);
void index_def_done(struct index_def *def);

/*
 * True if both have the same name and prefix, and the same rules in the same order. Then each object has the
 * same filed values in both.
 */
bool index_def_same(const struct index_def *a, const struct index_def *b);

/*
 * Call `each` for each value of an object in this index, duplicates included. The bytes are lent for the call
 * of `each`. Its first non-zero result ends the walk and is returned; else 0, or -EBADMSG.
 */
int index_def_each(const struct index_def *def, struct value body,
		   int (*each)(const char *data, size_t length, void *context), void *context);

/* The same with each value as it is filed. Without a prefix both give the same. */
int index_def_each_filed(const struct index_def *def, struct value body,
			 int (*each)(const char *data, size_t length, void *context), void *context);

/* How many of a value's bytes are filed. */
static inline size_t
index_def_filed_length(const struct index_def *def, size_t length)
{
	return def->prefix > 0 && length > def->prefix ? def->prefix : length;
}

/* index_def_each() for one rule (not INDEX_NAMESPACE) and one hit of its path. */
int index_rule_each(const struct index_rule *rule, struct value hit,
		    int (*each)(const char *data, size_t length, void *context), void *context);

/*
 * The indexes that built-in lookups and tombstones use. They are recognised by a rule, not by a name.
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

/* Whether the object has this value; a value that begins so; this filed value: 1, 0, or -EBADMSG: damaged. */
int index_def_has(const struct index_def *def, struct value body, const char *data, size_t length);
int index_def_has_prefix(const struct index_def *def, struct value body, const char *data, size_t length);
int index_def_has_filed(const struct index_def *def, struct value body, const char *data, size_t length);

#endif
