/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the status of a refused write, in the API server's words. All return -EINVAL. */
#ifndef TOOLS_INFORMER_SIM_REFUSED_WRITE_H
#define TOOLS_INFORMER_SIM_REFUSED_WRITE_H

#include "tools/serving/status_document.h"

/* 409: the write is for another state of the object. */
int sim_status_conflict(struct api_status *status, const struct api_resource *resource, const char *name,
			const char *why);
/* 422: a field of the object is invalid. */
int sim_status_invalid(struct api_status *status, const struct api_resource *resource, const char *name,
		       const char *cause, const char *field, const char *text);

#endif
