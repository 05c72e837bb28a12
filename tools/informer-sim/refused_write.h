/* SPDX-License-Identifier: Apache-2.0 */
/* Why a write is refused, in the API server's words. All return -EINVAL. */
#ifndef TOOLS_INFORMER_SIM_REFUSED_WRITE_H
#define TOOLS_INFORMER_SIM_REFUSED_WRITE_H

#include "tools/serving/status_document.h"

/* It is not of the object that is there: 409. */
int sim_status_conflict(struct api_status *status, const struct api_resource *resource, const char *name,
			const char *why);
/* A field of an object that is not as it must be: 422. */
int sim_status_invalid(struct api_status *status, const struct api_resource *resource, const char *name,
		       const char *cause, const char *field, const char *text);

#endif
