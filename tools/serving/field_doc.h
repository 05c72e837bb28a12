/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents (doc.h) as fields (tools/printer/field.h), so that Tables come from the printers that
 * informerctl uses.
 */
#ifndef TOOLS_SERVING_FIELD_DOC_H
#define TOOLS_SERVING_FIELD_DOC_H

#include "tools/serving/doc.h"
#include "tools/printer/field.h"

/* The document's root. Texts that were escaped are put into its arena. */
struct field field_of_doc(struct api_doc *doc);

#endif
