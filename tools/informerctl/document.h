/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects as texts: JSON and YAML as `kubectl get -o json|yaml` prints them, byte for byte. Members are in
 * order of their keys; numbers are copied, not computed.
 */
#ifndef TOOLS_INFORMERCTL_DOCUMENT_H
#define TOOLS_INFORMERCTL_DOCUMENT_H

#include "tools/printer/field.h"
#include "tools/printer/text.h"

/*
 * An object, and what a list leaves out of its items: apiVersion and kind are added where the object lacks
 * them.
 */
struct document {
	struct field object;
	const char *api_version; /* NULL: add nothing */
	const char *kind;
};

/* Items of a List, one after another: returns false at the end. */
struct document_list {
	bool (*next)(struct document_list *list, struct document *ret);
};

/* One object, with a line feed behind it. */
void
document_json(const struct document *document, struct text *out);
void
document_yaml(const struct document *document, struct text *out);

/* {"apiVersion": "v1", "items": [...], "kind": "List", "metadata": {"resourceVersion": ""}} */
void
document_list_json(struct document_list *list, struct text *out);
void
document_list_yaml(struct document_list *list, struct text *out);

/* One member of an object that is written, in their order; shared by both texts. Free the array. */
struct document_member {
	struct field_text key;
	struct field value;
};
/*
 * NULL when there are none, or without memory (out->error tells). natural: in YAML's order, where a9 comes
 * before a10.
 */
struct document_member *
document_members(const struct document *document, bool natural, size_t *ret_count, struct text *out);

#endif
