/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML documents: read, asked, freed. The tree is made by yaml_compose.h.
 */
#include "writer/base/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/file.h"
#include "writer/base/message.h"
#include "writer/base/yaml_compose.h"

struct yaml {
	char *name;
	struct yaml_node *root;
};

int
yaml_parse(const char *name, const char *data, size_t len, struct yaml **ret_yaml, char **ret_error)
{
	struct yaml *yaml;
	int r;

	if (len > YAML_MAX_BYTES)
		return message_set(ret_error, -E2BIG, "%s:1:1: larger than %u bytes", name, YAML_MAX_BYTES);
	yaml = calloc(1, sizeof(*yaml));
	if (!yaml || !(yaml->name = strdup(name))) {
		yaml_unload(yaml);
		return -ENOMEM;
	}
	r = yaml_compose(name, data, len, &yaml->root, ret_error);
	if (r < 0) {
		yaml_unload(yaml);
		return r;
	}
	*ret_yaml = yaml;
	return 0;
}

int
yaml_load(const char *path, struct yaml **ret_yaml, char **ret_error)
{
	size_t len;
	char *data;
	int r;

	r = file_read(path, YAML_MAX_BYTES, &data, &len, ret_error);
	if (r < 0)
		return r;
	r = yaml_parse(path, data, len, ret_yaml, ret_error);
	file_wipe(data, len);
	return r;
}

void
yaml_unload(struct yaml *yaml)
{
	if (!yaml)
		return;
	yaml_node_free(yaml->root);
	free(yaml->name);
	free(yaml);
}

void
yaml_unloadp(struct yaml **yaml)
{
	yaml_unload(*yaml);
	*yaml = NULL;
}

const cJSON *
yaml_root(const struct yaml *yaml)
{
	return &yaml->root->json;
}

const char *
yaml_name(const struct yaml *yaml)
{
	return yaml->name;
}

void
yaml_position(const cJSON *node, enum yaml_at at, unsigned *ret_line, unsigned *ret_column)
{
	const struct yaml_node *n = yaml_node_of(node);
	bool key = at == YAML_AT_KEY && n->json.string;

	*ret_line = key ? n->key_line : n->line;
	*ret_column = key ? n->key_column : n->column;
}

void
yaml_format_error(const struct yaml *yaml, const cJSON *node, enum yaml_at at, char **ret_error,
		  const char *format, ...)
{
	_cleanup_(message_freep) char *text = NULL;
	unsigned line, column;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	yaml_position(node, at, &line, &column);
	message_format(ret_error, "%s:%u:%u: %s", yaml->name, line, column, text ? text : "no memory");
}
