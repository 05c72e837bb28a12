/* SPDX-License-Identifier: Apache-2.0 */
/* Document edits: find, set, remove, copy and compare members. */
#ifndef TOOLS_INFORMER_SIM_DOC_EDIT_H
#define TOOLS_INFORMER_SIM_DOC_EDIT_H

#include "tools/serving/doc.h"
#include "tools/serving/stored_object.h"

/* A member through nested objects: "metadata.labels"; or NULL. */
struct api_node *sim_path(const struct api_node *object, const char *path);
/* Number of members or elements. */
size_t sim_count(const struct api_node *node);
/* Append a member's name, with escapes resolved. */
void sim_key(const struct api_node *node, struct api_buf *buf);

/* Parse an object's whole document, with kind and apiVersion. The object must outlive doc. */
void sim_object_edit(const struct api_resource *resource, const struct api_object *object,
		     struct api_doc *doc);

/* New nodes in doc's arena. Texts are copied. */
struct api_node *sim_new_string(struct api_doc *doc, const char *text);
/* A number or literal from its token. */
struct api_node *sim_new_token(struct api_doc *doc, enum api_type type, const char *token);

/* Set a member: in place if it exists, else at the end. */
void sim_set(struct api_doc *doc, struct api_node *object, const char *key, struct api_node *value);
void sim_set_string(struct api_doc *doc, struct api_node *object, const char *key, const char *text);
/* Set a member: in place if it exists, else after `after`, else at the end. */
void sim_set_after(struct api_doc *doc, struct api_node *object, const char *after, const char *key,
		   struct api_node *value);
/* Replace a member's value; the name and the position stay. Members and elements of value are shared. */
void sim_become(struct api_node *member, const struct api_node *value);
/* Make the node a string with these contents. */
void sim_put_text(struct api_doc *doc, struct api_node *node, const char *text);
/* Remove a member. Returns whether it existed. */
bool sim_remove(struct api_node *object, const char *key);
/* A deep copy in doc's arena; texts stay borrowed. */
struct api_node *sim_clone(struct api_doc *doc, const struct api_node *node);

/* Whether two documents are equal. The order of members is ignored; spelling of escapes counts. */
bool sim_equal(const struct api_node *a, const struct api_node *b);

#endif
