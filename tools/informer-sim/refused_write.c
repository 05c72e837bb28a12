/* SPDX-License-Identifier: Apache-2.0 */
/* Answers 409 and 422; see refused_write.h. */
#include "tools/informer-sim/refused_write.h"

#include <errno.h>

int
sim_status_conflict(struct api_status *status, const struct api_resource *resource, const char *name,
		    const char *why)
{
	api_status_set(status, 409, "Conflict", "Operation cannot be fulfilled on %s \"%s\": %s",
		       resource->group_resource, name, why);
	api_status_about(status, resource, NULL, name);
	return -EINVAL;
}

int
sim_status_invalid(struct api_status *status, const struct api_resource *resource, const char *name,
		   const char *cause, const char *field, const char *text)
{
	_cleanup_(api_buf_done) struct api_buf kind = {0};

	api_buf_printf(&kind, resource->group[0] ? "%s.%s" : "%s", resource->kind, resource->group);
	api_status_set(status, 422, "Invalid", "%s \"%s\" is invalid: %s: %s", kind.data, name, field, text);
	api_status_about(status, resource, resource->kind, name);
	api_status_cause(status, cause, field, "%s", text);
	return -EINVAL;
}
