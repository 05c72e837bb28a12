/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalar resolve: tells how a YAML reader reads a plain scalar. A string that it would read as another type
 * must be quoted.
 *
 * Source: sigs.k8s.io/yaml (goyaml.v2): resolve() and isBase60Float(), used by stringv()
 */
#ifndef TOOLS_INFORMERCTL_SCALAR_RESOLVE_H
#define TOOLS_INFORMERCTL_SCALAR_RESOLVE_H

#include <stdbool.h>

#include "tools/printer/field.h"

/* True if a plain text is not read as a string: true, 1, 1e3, null, 2026-01-02, 12:30. */
bool
scalar_resolves(struct field_text text);

#endif
