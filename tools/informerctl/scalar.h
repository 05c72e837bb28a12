/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a string must be written as a YAML scalar, so that it is read back as this string.
 *
 * Source: sigs.k8s.io/yaml (goyaml.v2): stringv() and resolve() decide whether a plain text would be taken
 * for something else, yaml_emitter_analyze_scalar() which styles can hold it.
 */
#ifndef TOOLS_INFORMERCTL_SCALAR_H
#define TOOLS_INFORMERCTL_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/printer/field.h"

enum scalar_style { SCALAR_PLAIN, SCALAR_SINGLE, SCALAR_DOUBLE, SCALAR_LITERAL };

/* key: as a key on one line, where no literal block fits. */
enum scalar_style
scalar_style(struct field_text text, bool key);
/* A plain text would be read as something else than a string: true, 1, 1e3, null, 2026-01-02, 12:30. */
bool
scalar_resolves(struct field_text text);

/* ---- characters; `at` is below the length ---- */

/* The bytes of the character at `at`; 1 for what is no UTF-8. */
size_t
scalar_width(struct field_text text, size_t at);
uint32_t
scalar_character(struct field_text text, size_t at);
bool
scalar_printable(struct field_text text, size_t at);
bool
scalar_break(struct field_text text, size_t at);
/* false at the end */
bool
scalar_space(struct field_text text, size_t at);

#endif
