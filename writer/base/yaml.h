/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a YAML document into a cJSON tree whose nodes know their places, so that a later "unknown field"
 * names file:line:column. JSON is YAML, so it reads both.
 *
 * One document a file. Scalars as in YAML 1.2's core schema: plain null/~/empty, true/false, decimal, 0x and
 * 0o integers, floats. Quoted and block scalars are strings, and so are plain `yes`, `on` and other booleans
 * of YAML 1.1. !!str, !!seq and !!map are ignored. Refused: other tags, duplicate keys, keys that are no
 * scalars, merge keys (<<), two anchors of one name. Refused too: documents of more than YAML_MAX_BYTES,
 * deeper than YAML_MAX_DEPTH, or of more than YAML_MAX_NODES nodes after aliases are expanded (so a "billion
 * laughs" ends early).
 */
#ifndef WRITER_BASE_YAML_H
#define WRITER_BASE_YAML_H

#include <stddef.h>

#include <cjson/cJSON.h>

#include "writer/base/message.h"

#define YAML_MAX_BYTES (4u << 20)
#define YAML_MAX_DEPTH 64
#define YAML_MAX_NODES 100000

struct yaml;

/*
 * Parse `len` bytes. An empty document is an empty object.
 *
 * name      for messages: the file's path
 * ret_yaml  set on success only; free it with yaml_unload()
 * Returns   0, -EINVAL or -E2BIG with a message that starts "name:line:column: ", -ENOMEM
 */
int yaml_parse(const char *name, const char *data, size_t len, struct yaml **ret_yaml, char **ret_error);

/* Read a file (or pipe) and parse it. Returns as above, or a negative errno. */
int yaml_load(const char *path, struct yaml **ret_yaml, char **ret_error);

/*
 * Free the tree and wipe its strings: kubeconfigs hold secrets. NULL is fine. Not named yaml_free(), a
 * function of libyaml.
 */
void yaml_unload(struct yaml *yaml);

/* The tree; borrowed until yaml_unload(). Do not change it. */
const cJSON *yaml_root(const struct yaml *yaml);

/* The name given to yaml_parse() or yaml_load(). Borrowed. */
const char *yaml_name(const struct yaml *yaml);

/*
 * Make an error about a node: "name:line:column: " and the message. For a member of an object YAML_AT_KEY
 * means the place of its key, YAML_AT_VALUE that of its value. A macro like message_set(): it returns the
 * code.
 */
#define yaml_error(yaml, node, at, ret_error, code, ...)                                                     \
	message_code((yaml_format_error(yaml, node, at, ret_error, __VA_ARGS__), (code)))

enum yaml_at { YAML_AT_VALUE, YAML_AT_KEY };
void yaml_format_error(const struct yaml *yaml, const cJSON *node, enum yaml_at at, char **ret_error,
		       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Line and column (both from 1) of a node, which must belong to a tree of yaml_parse() or yaml_load(). */
void yaml_position(const cJSON *node, enum yaml_at at, unsigned *ret_line, unsigned *ret_column);

/* for _cleanup_(yaml_unloadp) struct yaml *yaml = NULL; */
void yaml_unloadp(struct yaml **yaml);

#endif
