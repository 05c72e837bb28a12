/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the tree of a YAML document for yaml.c out of libyaml's events: anchors are copied in where they
 * are referred to, tags are looked at, duplicate keys refused, each with its place in the text.
 */
#include "writer/base/yaml_compose.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "writer/base/message.h"
#include "writer/base/yaml.h"
#include "writer/base/yaml_scalar.h"

struct anchor {
	char *name;
	struct yaml_node *node; /* NULL while it is still being composed */
};

struct composer {
	const char *name;
	yaml_parser_t parser;
	struct anchor *anchors;
	size_t n_anchors, n_nodes;
	char **ret_error;
};

static void format_at(struct composer *c, const yaml_mark_t *mark, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void
format_at(struct composer *c, const yaml_mark_t *mark, const char *format, ...)
{
	_cleanup_(message_freep) char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	message_format(c->ret_error, "%s:%zu:%zu: %s", c->name, mark->line + 1, mark->column + 1,
		       text ? text : "no memory");
}

#define fail_at(c, mark, code, ...) message_code((format_at(c, mark, __VA_ARGS__), (code)))

static int
next_event(struct composer *c, yaml_event_t *ret_event)
{
	yaml_parser_t *p = &c->parser;

	if (yaml_parser_parse(p, ret_event))
		return 0;
	if (p->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (p->error == YAML_READER_ERROR)
		return message_set(c->ret_error, -EINVAL, "%s: not text at byte %zu: %s", c->name,
				   p->problem_offset, p->problem ? p->problem : "cannot be read");
	return fail_at(c, &p->problem_mark, -EINVAL, "%s%s%s", p->problem ? p->problem : "not YAML",
		       p->context ? " " : "", p->context ? p->context : "");
}

static int
node_new(struct composer *c, const yaml_mark_t *mark, int type, struct yaml_node **ret_node)
{
	struct yaml_node *node;

	if (++c->n_nodes > YAML_MAX_NODES)
		return fail_at(c, mark, -E2BIG,
			       "more than %d values (aliases count as often as they are used)",
			       YAML_MAX_NODES);
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->json.type = type;
	node->line = (unsigned)mark->line + 1;
	node->column = (unsigned)mark->column + 1;
	*ret_node = node;
	return 0;
}

/* ---- scalars ---------------------------------------------------------------------------- */

static int
compose_scalar(struct composer *c, const yaml_event_t *event, struct yaml_node **ret_node)
{
	const char *text = (const char *)event->data.scalar.value,
		   *tag = (const char *)event->data.scalar.tag, *why = NULL;
	double number = 0;
	struct yaml_node *node;
	int r, type;

	if (strlen(text) != event->data.scalar.length)
		return fail_at(c, &event->start_mark, -EINVAL, "a string with a NUL character");
	type = yaml_scalar_type(text, tag, event->data.scalar.plain_implicit, &number, &why);
	if (type < 0)
		return fail_at(c, &event->start_mark, type, "%s %s", why, tag);
	if (type == cJSON_Number && !isfinite(number))
		return fail_at(c, &event->start_mark, -EINVAL, "number out of range");
	r = node_new(c, &event->start_mark, type, &node);
	if (r < 0)
		return r;
	if (type == cJSON_Number) {
		node->json.valuedouble = number;
		node->json.valueint = number >= INT_MAX ? INT_MAX : number <= INT_MIN ? INT_MIN : (int)number;
	} else if (type == cJSON_True) {
		node->json.valueint = 1;
	} else if (type == cJSON_String) {
		node->json.valuestring = strdup(text);
		if (!node->json.valuestring) {
			yaml_node_free(node);
			return -ENOMEM;
		}
	}
	*ret_node = node;
	return 0;
}

/* ---- anchors and aliases ---------------------------------------------------------------- */

static int
anchor_add(struct composer *c, const yaml_char_t *name, size_t *ret_index)
{
	struct anchor *larger;

	*ret_index = SIZE_MAX;
	if (!name)
		return 0;
	larger = reallocarray(c->anchors, c->n_anchors + 1, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	c->anchors = larger;
	larger[c->n_anchors].node = NULL;
	larger[c->n_anchors].name = strdup((const char *)name);
	if (!larger[c->n_anchors].name)
		return -ENOMEM;
	*ret_index = c->n_anchors++;
	return 0;
}

static int
node_copy(struct composer *c, const yaml_mark_t *mark, const struct yaml_node *from, unsigned depth,
	  struct yaml_node **ret_node)
{
	struct yaml_node *node, *child;
	int r;

	if (depth > YAML_MAX_DEPTH)
		return fail_at(c, mark, -E2BIG, "nested deeper than %d", YAML_MAX_DEPTH);
	r = node_new(c, mark, from->json.type, &node);
	if (r < 0)
		return r;
	node->line = from->line; /* where the text stands */
	node->column = from->column;
	node->key_line = from->key_line;
	node->key_column = from->key_column;
	node->json.valueint = from->json.valueint;
	node->json.valuedouble = from->json.valuedouble;
	if ((from->json.valuestring && !(node->json.valuestring = strdup(from->json.valuestring))) ||
	    (from->json.string && !(node->json.string = strdup(from->json.string))))
		r = -ENOMEM;
	for (const cJSON *j = from->json.child; r == 0 && j; j = j->next) {
		r = node_copy(c, mark, yaml_node_of(j), depth + 1, &child);
		if (r == 0)
			yaml_node_append(node, child);
	}
	if (r < 0) {
		yaml_node_free(node);
		return r;
	}
	*ret_node = node;
	return 0;
}

static int
compose_alias(struct composer *c, const yaml_event_t *event, unsigned depth, struct yaml_node **ret_node)
{
	const char *name = (const char *)event->data.alias.anchor;
	int r;

	for (size_t i = c->n_anchors; i-- > 0;) { /* the latest of a name counts */
		if (strcmp(c->anchors[i].name, name) != 0)
			continue;
		if (!c->anchors[i].node)
			return fail_at(c, &event->start_mark, -EINVAL, "*%s refers to itself", name);
		r = node_copy(c, &event->start_mark, c->anchors[i].node, depth, ret_node);
		if (r == 0) {
			/* a copy of a member is not a member under that key */
			free((*ret_node)->json.string);
			(*ret_node)->json.string = NULL;
		}
		return r;
	}
	return fail_at(c, &event->start_mark, -EINVAL, "*%s: no such anchor", name);
}

/* ---- collections ------------------------------------------------------------------------ */

static int compose(struct composer *c, yaml_event_t *event, unsigned depth, struct yaml_node **ret_node);

static int
compose_sequence(struct composer *c, struct yaml_node *node, unsigned depth)
{
	yaml_event_t event;
	struct yaml_node *child;
	int r;

	for (;;) {
		r = next_event(c, &event);
		if (r < 0)
			return r;
		if (event.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&event);
			return 0;
		}
		r = compose(c, &event, depth + 1, &child);
		yaml_event_delete(&event);
		if (r < 0)
			return r;
		yaml_node_append(node, child);
	}
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
refuse_duplicates(struct composer *c, const struct yaml_node *mapping)
{
	const struct yaml_node **members;
	size_t n = 0, i = 0;
	int r = 0;

	for (const cJSON *j = mapping->json.child; j; j = j->next)
		n++;
	if (n < 2)
		return 0;
	members = calloc(n, sizeof(*members));
	if (!members)
		return -ENOMEM;
	for (const cJSON *j = mapping->json.child; j; j = j->next)
		members[i++] = yaml_node_of(j);
	qsort(members, n, sizeof(*members), compare_keys);
	for (i = 1; i < n && r == 0; i++)
		if (strcmp(members[i - 1]->json.string, members[i]->json.string) == 0)
			r = message_set(c->ret_error, -EINVAL,
					"%s:%u:%u: '%s' stands here a second time (first in line %u)",
					c->name, members[i]->key_line, members[i]->key_column,
					members[i]->json.string, members[i - 1]->key_line);
	free(members);
	return r;
}

static int
compose_key(struct composer *c, const yaml_event_t *event, char **ret_key)
{
	const char *text = (const char *)event->data.scalar.value;

	if (event->type != YAML_SCALAR_EVENT)
		return fail_at(c, &event->start_mark, -EINVAL, "a key must be a plain or quoted string");
	if (strlen(text) != event->data.scalar.length)
		return fail_at(c, &event->start_mark, -EINVAL, "a key with a NUL character");
	if (event->data.scalar.plain_implicit && strcmp(text, "<<") == 0)
		return fail_at(c, &event->start_mark, -EINVAL,
			       "merge keys (<<) are not supported; write the fields out");
	*ret_key = strdup(text);
	return *ret_key ? 0 : -ENOMEM;
}

static int
compose_mapping(struct composer *c, struct yaml_node *node, unsigned depth)
{
	yaml_event_t event;
	yaml_mark_t mark;
	struct yaml_node *child = NULL;
	char *key = NULL;
	int r;

	for (;;) {
		r = next_event(c, &event);
		if (r < 0)
			return r;
		if (event.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&event);
			return refuse_duplicates(c, node);
		}
		mark = event.start_mark;
		r = compose_key(c, &event, &key);
		yaml_event_delete(&event);
		if (r < 0)
			return r;
		r = next_event(c, &event);
		if (r == 0) {
			r = compose(c, &event, depth + 1, &child);
			yaml_event_delete(&event);
		}
		if (r < 0) {
			free(key);
			return r;
		}
		assert(child);
		child->json.string = key;
		child->key_line = (unsigned)mark.line + 1;
		child->key_column = (unsigned)mark.column + 1;
		yaml_node_append(node, child);
	}
}

static int
compose_collection(struct composer *c, const yaml_event_t *event, unsigned depth, struct yaml_node **ret_node)
{
	bool mapping = event->type == YAML_MAPPING_START_EVENT;
	const char *tag = (const char *)(mapping ? event->data.mapping_start.tag
						 : event->data.sequence_start.tag);
	struct yaml_node *node;
	int r;

	if (tag && strcmp(tag, "!") != 0 && strcmp(tag, mapping ? YAML_MAP_TAG : YAML_SEQ_TAG) != 0)
		return fail_at(c, &event->start_mark, -EINVAL, "unknown tag %s", tag);
	if (depth >= YAML_MAX_DEPTH)
		return fail_at(c, &event->start_mark, -E2BIG, "nested deeper than %d", YAML_MAX_DEPTH);
	r = node_new(c, &event->start_mark, mapping ? cJSON_Object : cJSON_Array, &node);
	if (r < 0)
		return r;
	r = mapping ? compose_mapping(c, node, depth) : compose_sequence(c, node, depth);
	if (r < 0) {
		yaml_node_free(node);
		return r;
	}
	*ret_node = node;
	return 0;
}

/* Compose the node that `event` opens; the event stays the caller's. */
static int
compose(struct composer *c, yaml_event_t *event, unsigned depth, struct yaml_node **ret_node)
{
	const yaml_char_t *anchor_name = NULL;
	size_t anchor;
	int r;

	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return compose_alias(c, event, depth, ret_node);
	case YAML_SCALAR_EVENT:
		anchor_name = event->data.scalar.anchor;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor_name = event->data.sequence_start.anchor;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor_name = event->data.mapping_start.anchor;
		break;
	default:
		return fail_at(c, &event->start_mark, -EINVAL, "a value was expected");
	}
	r = anchor_add(c, anchor_name, &anchor);
	if (r < 0)
		return r;
	r = event->type == YAML_SCALAR_EVENT ? compose_scalar(c, event, ret_node)
					     : compose_collection(c, event, depth, ret_node);
	if (r == 0 && anchor != SIZE_MAX)
		c->anchors[anchor].node = *ret_node;
	return r;
}

/* stream start, at most one document, stream end */
static int
compose_stream(struct composer *c, struct yaml_node **ret_root)
{
	struct yaml_node *root = NULL;
	yaml_event_t event;
	yaml_event_type_t type = YAML_NO_EVENT;
	int r = 0;

	while (r == 0 && type != YAML_STREAM_END_EVENT) {
		r = next_event(c, &event);
		if (r < 0)
			break;
		type = event.type;
		if (type == YAML_DOCUMENT_START_EVENT && root)
			r = fail_at(c, &event.start_mark, -EINVAL, "a second document; only one is read");
		else if (type != YAML_STREAM_START_EVENT && type != YAML_STREAM_END_EVENT &&
			 type != YAML_DOCUMENT_START_EVENT && type != YAML_DOCUMENT_END_EVENT)
			r = compose(c, &event, 0, &root);
		yaml_event_delete(&event);
	}
	if (r == 0 && !root) {
		yaml_mark_t start = {0};

		r = node_new(c, &start, cJSON_Object, &root);
	}
	if (r < 0) {
		yaml_node_free(root);
		return r;
	}
	assert(root);
	if (root->json.type == cJSON_NULL) /* nothing but comments behind a --- */
		root->json.type = cJSON_Object;
	*ret_root = root;
	return 0;
}

int
yaml_compose(const char *name, const char *data, size_t len, struct yaml_node **ret_root, char **ret_error)
{
	struct composer c = {.name = name, .ret_error = ret_error};
	int r;

	if (!yaml_parser_initialize(&c.parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&c.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&c.parser, (const unsigned char *)data, len);
	r = compose_stream(&c, ret_root);
	yaml_parser_delete(&c.parser);
	for (size_t i = 0; i < c.n_anchors; i++)
		free(c.anchors[i].name);
	free(c.anchors);
	return r;
}
