/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML documents: libyaml composes them and resolves aliases; the tree is built, queried and freed here.
 * Each alias becomes a copy of its anchor's content. An anchor that contains itself is refused by its depth.
 */
#include "writer/base/yaml.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "writer/base/file.h"
#include "writer/base/yaml_scalar.h"

/*
 * cJSON's node with its places. Nodes are made and freed here alone: cJSON's own constructors and
 * cJSON_Delete() never see them.
 */
struct yaml_node {
	cJSON json; /* first: a cJSON pointer of this tree is a node pointer */
	unsigned line, column, key_line, key_column;
};

struct yaml {
	char *name;
	struct yaml_node *root;
};

struct composer {
	const char *name;
	yaml_document_t document;
	size_t n_nodes;
	char **ret_error;
};

#define REFUSE(c, mark, code, format, ...)                                                                   \
	message_set((c)->ret_error, code, "%s:%zu:%zu: " format, (c)->name, (mark).line + 1,                 \
		    (mark).column + 1, ##__VA_ARGS__)

static const struct yaml_node *
node_of(const cJSON *json)
{
	return (const struct yaml_node *)(const void *)json;
}

static void
node_free(struct yaml_node *node)
{
	if (!node)
		return;
	for (cJSON *child = node->json.child, *next; child; child = next) {
		next = child->next;
		node_free((struct yaml_node *)(void *)child);
	}
	file_wipe_text(node->json.valuestring);
	file_wipe_text(node->json.string);
	free(node);
}

/* Add child at the end. */
static void
append(cJSON *parent, cJSON *child)
{
	cJSON *first = parent->child;

	/* cJSON's list: the first element's prev is the last one */
	if (!first) {
		parent->child = child;
		child->prev = child;
		return;
	}
	child->prev = first->prev;
	first->prev->next = child;
	first->prev = child;
}

/* ---- composing -------------------------------------------------------------------------- */

static int compose(struct composer *c, int index, unsigned depth, struct yaml_node **ret_node);

static int
compose_scalar(struct composer *c, const yaml_node_t *from, cJSON *json)
{
	const char *text = (const char *)from->data.scalar.value;
	double number = 0;

	if (strlen(text) != from->data.scalar.length)
		return REFUSE(c, from->start_mark, -EINVAL, "a string with a NUL character");
	json->type = cJSON_String;
	if (from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		json->type = yaml_scalar_type(text, &number);
	if (!isfinite(number))
		return REFUSE(c, from->start_mark, -EINVAL, "number out of range");
	json->valuedouble = number;
	json->valueint = json->type == cJSON_True ? 1
			 : number >= INT_MAX      ? INT_MAX
			 : number <= INT_MIN      ? INT_MIN
						  : (int)number;
	if (json->type == cJSON_String && !(json->valuestring = strdup(text)))
		return -ENOMEM;
	return 0;
}

static int
compose_items(struct composer *c, const yaml_node_t *from, cJSON *json, unsigned depth)
{
	struct yaml_node *child;
	int r;

	json->type = cJSON_Array;
	for (const int *item = from->data.sequence.items.start; item < from->data.sequence.items.top;
	     item++) {
		r = compose(c, *item, depth + 1, &child);
		if (r < 0)
			return r;
		append(json, &child->json);
	}
	return 0;
}

static int
compare_keys(const void *a, const void *b)
{
	const struct yaml_node *x = *(const struct yaml_node *const *)a,
			       *y = *(const struct yaml_node *const *)b;
	int r = strcmp(x->json.string, y->json.string);

	if (r)
		return r;
	if (x->key_line != y->key_line)
		return x->key_line < y->key_line ? -1 : 1;
	return x->key_column < y->key_column ? -1 : x->key_column > y->key_column;
}

static int
refuse_duplicates(struct composer *c, const cJSON *mapping)
{
	const struct yaml_node **members;
	size_t n = 0;
	int r = 0;

	members = calloc((size_t)cJSON_GetArraySize(mapping) + 1, sizeof(*members));
	if (!members)
		return -ENOMEM;
	for (const cJSON *j = mapping->child; j; j = j->next)
		members[n++] = node_of(j);
	qsort(members, n, sizeof(*members), compare_keys);
	for (size_t i = 1; i < n && r == 0; i++)
		if (strcmp(members[i - 1]->json.string, members[i]->json.string) == 0)
			r = message_set(c->ret_error, -EINVAL,
					"%s:%u:%u: '%s' stands here a second time (first in line %u)",
					c->name, members[i]->key_line, members[i]->key_column,
					members[i]->json.string, members[i - 1]->key_line);
	free(members);
	return r;
}

static int
check_key(struct composer *c, const yaml_node_t *key)
{
	const char *text = (const char *)key->data.scalar.value;

	if (key->type != YAML_SCALAR_NODE)
		return REFUSE(c, key->start_mark, -EINVAL, "a key must be a plain or quoted string");
	if (strlen(text) != key->data.scalar.length)
		return REFUSE(c, key->start_mark, -EINVAL, "a key with a NUL character");
	if (key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(text, "<<") == 0)
		return REFUSE(c, key->start_mark, -EINVAL,
			      "merge keys (<<) are not supported; write the fields out");
	return 0;
}

static int
compose_pairs(struct composer *c, const yaml_node_t *from, cJSON *json, unsigned depth)
{
	struct yaml_node *child = NULL;
	int r;

	json->type = cJSON_Object;
	for (const yaml_node_pair_t *pair = from->data.mapping.pairs.start;
	     pair < from->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(&c->document, pair->key);

		r = check_key(c, key);
		if (r == 0)
			r = compose(c, pair->value, depth + 1, &child);
		if (r < 0 || !child)
			return r;
		child->key_line = (unsigned)key->start_mark.line + 1;
		child->key_column = (unsigned)key->start_mark.column + 1;
		child->json.string = strdup((const char *)key->data.scalar.value);
		append(json, &child->json);
		if (!child->json.string)
			return -ENOMEM;
	}
	return refuse_duplicates(c, json);
}

static int
compose(struct composer *c, int index, unsigned depth, struct yaml_node **ret_node)
{
	static const char *const tags[] = {[YAML_SCALAR_NODE] = YAML_STR_TAG,
					   [YAML_SEQUENCE_NODE] = YAML_SEQ_TAG,
					   [YAML_MAPPING_NODE] = YAML_MAP_TAG};
	const yaml_node_t *from = yaml_document_get_node(&c->document, index);
	struct yaml_node *node;
	int r;

	if (strcmp((const char *)from->tag, tags[from->type]) != 0)
		return REFUSE(c, from->start_mark, -EINVAL, "unknown tag %s", from->tag);
	if (depth >= YAML_MAX_DEPTH)
		return REFUSE(c, from->start_mark, -E2BIG, "nested deeper than %d", YAML_MAX_DEPTH);
	if (++c->n_nodes > YAML_MAX_NODES)
		return REFUSE(c, from->start_mark, -E2BIG,
			      "more than %d values (aliases count as often as they are used)",
			      YAML_MAX_NODES);
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->line = (unsigned)from->start_mark.line + 1;
	node->column = (unsigned)from->start_mark.column + 1;
	r = from->type == YAML_SCALAR_NODE     ? compose_scalar(c, from, &node->json)
	    : from->type == YAML_SEQUENCE_NODE ? compose_items(c, from, &node->json, depth)
					       : compose_pairs(c, from, &node->json, depth);
	if (r < 0)
		node_free(node);
	else
		*ret_node = node;
	return r;
}

/* The next document of the stream. After the last one comes a document without a root. */
static int
load_next(struct composer *c, yaml_parser_t *parser)
{
	const char *problem;

	if (yaml_parser_load(parser, &c->document))
		return 0;
	problem = parser->problem ? parser->problem : "not YAML";
	if (parser->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (parser->error == YAML_READER_ERROR)
		return message_set(c->ret_error, -EINVAL, "%s: not text at byte %zu: %s", c->name,
				   parser->problem_offset, problem);
	return REFUSE(c, parser->problem_mark, -EINVAL, "%s%s%s", problem, parser->context ? " " : "",
		      parser->context ? parser->context : "");
}

static int
compose_stream(struct composer *c, yaml_parser_t *parser, struct yaml_node **ret_root)
{
	const yaml_node_t *root;
	int r = load_next(c, parser);

	if (r < 0)
		return r;
	root = yaml_document_get_root_node(&c->document);
	if (root)
		r = compose(c, 1, 0, ret_root); /* libyaml counts from 1 */
	else if (!(*ret_root = calloc(1, sizeof(**ret_root))))
		r = -ENOMEM;
	yaml_document_delete(&c->document);
	if (r < 0)
		return r;
	if (!root || (*ret_root)->json.type == cJSON_NULL) /* nothing but comments, perhaps behind a --- */
		(*ret_root)->json.type = cJSON_Object;
	if (!root)
		return 0;
	r = load_next(c, parser);
	if (r < 0)
		return r;
	if (yaml_document_get_root_node(&c->document))
		r = REFUSE(c, c->document.start_mark, -EINVAL, "a second document; only one is read");
	yaml_document_delete(&c->document);
	return r;
}

/* ---- public functions ------------------------------------------------------------------- */

int
yaml_parse(const char *name, const char *data, size_t len, struct yaml **ret_yaml, char **ret_error)
{
	struct composer c = {.name = name, .ret_error = ret_error};
	struct yaml *yaml;
	yaml_parser_t parser;
	int r;

	if (len > YAML_MAX_BYTES)
		return message_set(ret_error, -E2BIG, "%s:1:1: larger than %u bytes", name, YAML_MAX_BYTES);
	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)data, len);
	yaml = calloc(1, sizeof(*yaml));
	r = yaml && (yaml->name = strdup(name)) ? compose_stream(&c, &parser, &yaml->root) : -ENOMEM;
	yaml_parser_delete(&parser);
	if (r < 0)
		yaml_unload(yaml);
	else
		*ret_yaml = yaml;
	return r;
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
	node_free(yaml->root);
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
	const struct yaml_node *n = node_of(node);
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
