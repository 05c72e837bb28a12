/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Composing YAML: libyaml's events become cJSON nodes that are the first member of a larger node, which adds
 * the positions. The tree is built and freed here alone, so cJSON's own constructors and cJSON_Delete() never
 * see it.
 */
#ifndef WRITER_BASE_YAML_COMPOSE_H
#define WRITER_BASE_YAML_COMPOSE_H

#include <stddef.h>

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

/* As yaml_parse(), of at most YAML_MAX_BYTES; *ret_root on success only. */
int yaml_compose(const char *name, const char *data, size_t len, struct yaml_node **ret_root,
		 char **ret_error);

/* Wipes strings before it frees them. NULL is fine. */
void yaml_node_free(struct yaml_node *node);

#endif
