/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes of a YAML document: cJSON nodes that are the first member of a larger one, which adds the positions.
 * They are made and freed here and by yaml_compose.h alone, so cJSON's own constructors and cJSON_Delete()
 * never see them.
 */
#ifndef WRITER_BASE_YAML_NODE_H
#define WRITER_BASE_YAML_NODE_H

#include <cjson/cJSON.h>

struct yaml_node {
	cJSON json; /* first: a cJSON pointer of this tree is a node pointer */
	unsigned line, column, key_line, key_column;
};

static inline const struct yaml_node *
yaml_node_of(const cJSON *json)
{
	return (const struct yaml_node *)(const void *)json;
}

/* As the last child. */
void yaml_node_append(struct yaml_node *parent, struct yaml_node *child);

/* Frees its children, too. Wipes strings before it frees them. NULL is fine. */
void yaml_node_free(struct yaml_node *node);

#endif
