/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in the arena as fields (tools/printer/field.h).
 */
#ifndef TOOLS_INFORMERCTL_FIELD_INFORMER_H
#define TOOLS_INFORMERCTL_FIELD_INFORMER_H

#include "tools/printer/field.h"

struct field
field_of_value(const struct informer_value *value);

/*
 * The first failure that reading through informer_value met since the last call (INFORMER_E_CORRUPT,
 * INFORMER_E_EXPIRED), or 0: what was read meanwhile may lack something.
 */
int
field_take_error(void);

#endif
