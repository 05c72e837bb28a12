/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a YAML document; see yaml_node.h. */
#include "writer/base/yaml_node.h"

#include <stdlib.h>
#include <string.h>

#include "writer/base/file.h"

void
yaml_node_free(struct yaml_node *node)
{
	if (!node)
		return;
	for (cJSON *child = node->json.child, *next; child; child = next) {
		next = child->next;
		yaml_node_free((struct yaml_node *)(void *)child);
	}
	file_wipe_text(node->json.valuestring);
	file_wipe_text(node->json.string);
	free(node);
}

void
yaml_node_append(struct yaml_node *parent, struct yaml_node *child)
{
	cJSON *first = parent->json.child;

	/* cJSON's list: the first element's prev is the last one */
	if (!first) {
		parent->json.child = &child->json;
		child->json.prev = &child->json;
		return;
	}
	child->json.prev = first->prev;
	first->prev->next = &child->json;
	first->prev = &child->json;
}
