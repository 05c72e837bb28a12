/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Composing YAML: libyaml's events become a tree of nodes.
 *
 * Events rather than libyaml's own document (yaml_parser_load()), which has lost what is asked here: whether
 * a plain scalar had a tag (!!str 5 is a string, 5 is none), where an alias stood and what it was called, and
 * the chance to stop at a limit before all of a hostile document is in memory (4 MiB become 330). It also
 * takes no anchor's name twice, which YAML allows.
 */
#ifndef WRITER_BASE_YAML_COMPOSE_H
#define WRITER_BASE_YAML_COMPOSE_H

#include <stddef.h>

#include "writer/base/yaml_node.h"

/* As yaml_parse(), of at most YAML_MAX_BYTES; *ret_root on success only, for yaml_node_free(). */
int yaml_compose(const char *name, const char *data, size_t len, struct yaml_node **ret_root,
		 char **ret_error);

#endif
