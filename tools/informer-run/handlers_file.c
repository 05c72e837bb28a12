/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the handlers file; see handlers_file.h. libyaml makes the document, with the position of each node.
 */
#include "tools/informer-run/handlers_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "tools/informer-run/say.h"
#include "tools/flags/flags.h"
#include "tools/flags/nearest.h"

struct reader {
	const char *path;
	yaml_document_t document;
	struct settings *settings;
};

static int
fail(const struct reader *reader, const yaml_node_t *node, const char *message, const char *detail)
{
	return say(NULL, "%s:%zu:%zu: %s%s", reader->path, node->start_mark.line + 1,
		   node->start_mark.column + 1, message, detail);
}

static int
fail_unknown(const struct reader *reader, const yaml_node_t *key, const char *const *names, size_t count)
{
	const char *word = (const char *)key->data.scalar.value, *near = nearest(word, names, count);

	return say(NULL, "%s:%zu:%zu: unknown field '%s'%s%s%s", reader->path, key->start_mark.line + 1,
		   key->start_mark.column + 1, word, near ? "; did you mean " : "", near ? near : "",
		   near ? "?" : "");
}

/* A scalar's text. NULL with a message: not a scalar, empty, or with a NUL inside. */
static const char *
text_of(const struct reader *reader, const yaml_node_t *node)
{
	if (node->type == YAML_SCALAR_NODE && node->data.scalar.length > 0 &&
	    strlen((const char *)node->data.scalar.value) == node->data.scalar.length)
		return (const char *)node->data.scalar.value;
	fail(reader, node, "a text or number is wanted here", "");
	return NULL;
}

static int
take_string(const struct reader *reader, const yaml_node_t *node, char **at)
{
	const char *text = text_of(reader, node);

	if (!text)
		return EXIT_USAGE;
	return settings_set(at, text) ? -1 : say(NULL, "%s", strerror(ENOMEM));
}

static int
take_number(const struct reader *reader, const yaml_node_t *node, uint32_t low, uint32_t high, uint32_t *ret)
{
	const char *text = text_of(reader, node);
	uint64_t number;
	char range[64];

	if (!text)
		return EXIT_USAGE;
	snprintf(range, sizeof(range), "a number from %u to %u is wanted here", low, high);
	if (flag_number(text, low, high, &number, NULL) < 0)
		return fail(reader, node, range, "");
	*ret = (uint32_t)number;
	return -1;
}

static int
take_time(const struct reader *reader, const yaml_node_t *node, bool may_be_zero, uint32_t *ret_ms)
{
	const char *text = text_of(reader, node);

	if (!text)
		return EXIT_USAGE;
	if (settings_duration(text, ret_ms) && (*ret_ms > 0 || may_be_zero))
		return -1;
	return fail(reader, node, "a time is wanted here: 500ms, 30s, 2m, 1h30m; not ", text);
}

static int
take_bool(const struct reader *reader, const yaml_node_t *node, bool *ret)
{
	const char *text = text_of(reader, node);

	if (!text)
		return EXIT_USAGE;
	*ret = strcmp(text, "true") == 0;
	return *ret || strcmp(text, "false") == 0
		       ? -1
		       : fail(reader, node, "true or false is wanted here; not ", text);
}

/* [command, argument...], or a string for the shell. */
static int
take_command(struct reader *reader, const yaml_node_t *node, char ***argv)
{
	static const char *const shell[] = {"sh", "-c"};
	size_t count, at = 0;

	if (node->type == YAML_MAPPING_NODE)
		return fail(reader, node, "a list or a text is wanted here: command: [./handler, arg]", "");
	count = node->type == YAML_SEQUENCE_NODE
			? (size_t)(node->data.sequence.items.top - node->data.sequence.items.start)
			: 3;
	if (*argv || count == 0)
		return fail(reader, node, *argv ? "command stands here twice" : "the command is empty", "");
	*argv = calloc(count + 1, sizeof(char *));
	if (!*argv)
		return say(NULL, "%s", strerror(ENOMEM));
	if (node->type == YAML_SCALAR_NODE) {
		for (; at < 2; at++)
			if (!settings_set(&(*argv)[at], shell[at]))
				return say(NULL, "%s", strerror(ENOMEM));
		return take_string(reader, node, &(*argv)[at]);
	}
	for (; at < count; at++) {
		int r = take_string(
			reader,
			yaml_document_get_node(&reader->document, node->data.sequence.items.start[at]),
			&(*argv)[at]);

		if (r >= 0)
			return r;
	}
	return -1;
}

/* In the order of take_handler_field(). */
static const char *const handler_fields[] = {
	"name",    "resource", "namespace", "selector",   "fieldSelector", "consumer",     "deadLetters",
	"workers", "window",   "queue",     "maxCrashes", "deadline",      "execPerEvent", "command"};
#define HANDLER_FIELD_COUNT (sizeof(handler_fields) / sizeof(*handler_fields))

static int
take_handler_field(struct reader *reader, struct handler_settings *handler, const yaml_node_t *key,
		   const yaml_node_t *value)
{
	char **const strings[] = {&handler->name,        &handler->resource, &handler->namespace_,
				  &handler->labels,      &handler->fields,   &handler->consumer,
				  &handler->dead_letters};
	size_t i = 0;

	while (i < HANDLER_FIELD_COUNT &&
	       strcmp(handler_fields[i], (const char *)key->data.scalar.value) != 0)
		i++;
	if (i < sizeof(strings) / sizeof(*strings))
		return take_string(reader, value, strings[i]);
	switch (i) {
	case 7:
		return take_number(reader, value, 1, SETTINGS_WORKERS_MAX, &handler->workers);
	case 8:
		return take_number(reader, value, 1, SETTINGS_WINDOW_MAX, &handler->window);
	case 9:
		return take_number(reader, value, 0, 1u << 20, &handler->queue_entries);
	case 10:
		return take_number(reader, value, 1, 1000, &handler->max_crashes);
	case 11:
		return take_time(reader, value, false, &handler->deadline_ms);
	case 12:
		return take_bool(reader, value, &handler->exec);
	case 13:
		return take_command(reader, value, &handler->argv);
	default:
		return fail_unknown(reader, key, handler_fields, HANDLER_FIELD_COUNT);
	}
}

static int
take_handler(struct reader *reader, const yaml_node_t *node)
{
	struct handler_settings *handler;
	char error[512];
	int r = -1;

	if (node->type != YAML_MAPPING_NODE)
		return fail(reader, node, "a handler is wanted here: - resource: pods ...", "");
	handler = settings_add(reader->settings);
	if (!handler)
		return fail(reader, node, "there are too many handlers, or there is no memory", "");
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     r < 0 && pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(&reader->document, pair->key);

		r = text_of(reader, key)
			    ? take_handler_field(reader, handler, key,
						 yaml_document_get_node(&reader->document, pair->value))
			    : EXIT_USAGE;
	}
	if (r < 0 && !settings_check(reader->settings, error, sizeof(error)))
		r = fail(reader, node, error, "");
	return r;
}

static int
take_handlers(struct reader *reader, const yaml_node_t *node)
{
	int r = -1;

	if (node->type != YAML_SEQUENCE_NODE)
		return fail(reader, node, "a list of handlers is wanted here", "");
	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     r < 0 && item < node->data.sequence.items.top; item++)
		r = take_handler(reader, yaml_document_get_node(&reader->document, *item));
	return r;
}

static int
take_root(struct reader *reader, const yaml_node_t *root)
{
	static const char *const fields[] = {"handlers", "socket", "drainTimeout"};
	int r = -1;

	if (!root || root->type != YAML_MAPPING_NODE)
		return say(NULL, "%s:1:1: the file must have handlers: with a list", reader->path);
	for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
	     r < 0 && pair < root->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(&reader->document, pair->key);
		const yaml_node_t *value = yaml_document_get_node(&reader->document, pair->value);
		const char *name = text_of(reader, key);

		if (!name)
			r = EXIT_USAGE;
		else if (strcmp(name, fields[0]) == 0)
			r = take_handlers(reader, value);
		else if (strcmp(name, fields[1]) == 0)
			r = reader->settings->socket ? -1
						     : take_string(reader, value, &reader->settings->socket);
		else if (strcmp(name, fields[2]) == 0)
			r = take_time(reader, value, true, &reader->settings->drain_ms);
		else
			r = fail_unknown(reader, key, fields, 3);
	}
	if (r < 0 && reader->settings->count == 0)
		r = say(NULL, "%s: no handlers in it", reader->path);
	return r;
}

int
settings_load(const char *path, struct settings *settings)
{
	struct reader reader = {.path = path, .settings = settings};
	FILE *file = fopen(path, "re");
	yaml_parser_t parser;
	int r;

	if (!file)
		return say(NULL, "%s: %s", path, strerror(errno));
	if (!yaml_parser_initialize(&parser)) {
		fclose(file);
		return say(NULL, "%s", strerror(ENOMEM));
	}
	yaml_parser_set_input_file(&parser, file);
	if (yaml_parser_load(&parser, &reader.document)) {
		r = take_root(&reader, yaml_document_get_root_node(&reader.document));
		yaml_document_delete(&reader.document);
	} else {
		r = say(NULL, "%s:%zu:%zu: %s%s%s", path, parser.problem_mark.line + 1,
			parser.problem_mark.column + 1, parser.problem ? parser.problem : "cannot be read",
			parser.context ? " " : "", parser.context ? parser.context : "");
	}
	yaml_parser_delete(&parser);
	fclose(file);
	return r;
}
