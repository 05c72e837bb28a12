/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plain YAML scalar would be read as. A string that would be read as something else is quoted.
 *
 * Source: sigs.k8s.io/yaml (goyaml.v2): resolve() and isBase60Float(), by which stringv() decides
 */
#ifndef TOOLS_INFORMERCTL_SCALAR_RESOLVE_H
#define TOOLS_INFORMERCTL_SCALAR_RESOLVE_H

#include <stdbool.h>

#include "tools/printer/field.h"

/* A plain text would be read as something else than a string: true, 1, 1e3, null, 2026-01-02, 12:30. */
bool
scalar_resolves(struct field_text text);

#endif
