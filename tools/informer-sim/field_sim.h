/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's documents as fields (tools/printer/field.h), so that Tables come from the printers that
 * informerctl uses.
 */
#ifndef TOOLS_INFORMER_SIM_FIELD_SIM_H
#define TOOLS_INFORMER_SIM_FIELD_SIM_H

#include "tools/informer-sim/doc.h"
#include "tools/printer/field.h"

/* The document's root. Texts that were escaped are put into its arena. */
struct field
field_of_doc(struct sim_doc *doc);

#endif
