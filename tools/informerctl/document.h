/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Document: prints objects as `kubectl get -o json|yaml` does, byte for byte. Members are in order of their
 * keys; numbers are copied unchanged.
 */
#ifndef TOOLS_INFORMERCTL_DOCUMENT_H
#define TOOLS_INFORMERCTL_DOCUMENT_H

#include "tools/printer/field.h"
#include "tools/printer/text.h"

/* An object, and the apiVersion and kind to add if it lacks them, as list items do. */
struct document {
	struct field object;
	const char *api_version; /* NULL: add nothing */
	const char *kind;
};

/* Iterates over the items of a List; returns false at the end. */
struct document_list {
	bool (*next)(struct document_list *list, struct document *ret);
};

/* One object, followed by a line feed. */
void
document_json(const struct document *document, struct text *out);
void
document_yaml(const struct document *document, struct text *out);

/* {"apiVersion": "v1", "items": [...], "kind": "List", "metadata": {"resourceVersion": ""}} */
void
document_list_json(struct document_list *list, struct text *out);
void
document_list_yaml(struct document_list *list, struct text *out);

/* A member of an object in printing order, for both formats. Free the array. */
struct document_member {
	struct field_text key;
	struct field value;
};
/* NULL: no members, or no memory (see out->error). natural: in YAML's order, where a9 comes before a10. */
struct document_member *
document_members(const struct document *document, bool natural, size_t *ret_count, struct text *out);

#endif
