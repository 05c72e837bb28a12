/* SPDX-License-Identifier: Apache-2.0 */
/* Field informer: makes fields (tools/printer/field.h) of objects in the arena. */
#ifndef TOOLS_INFORMERCTL_FIELD_INFORMER_H
#define TOOLS_INFORMERCTL_FIELD_INFORMER_H

#include "tools/printer/field.h"

struct field
field_of_value(const struct informer_value *value);

/*
 * Returns and clears the first read error since the last call (INFORMER_E_CORRUPT, INFORMER_E_EXPIRED), or 0.
 * After an error the output may be incomplete.
 */
int
field_take_error(void);

#endif
