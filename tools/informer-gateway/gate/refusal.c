/* SPDX-License-Identifier: Apache-2.0 */
/* What may not be, in upstream's words; see refusal.h. */
#include "tools/informer-gateway/gate/refusal.h"

#include <stdlib.h>
#include <string.h>

void
gw_refuse_unauthenticated(struct api_status *status)
{
	api_status_set(status, 401, "Unauthorized", "Unauthorized");
}

void
gw_refuse_forbidden(struct api_status *status, const struct gw_attributes *attributes, const char *user,
		    const char *reason)
{
	const struct gw_attributes *a = attributes;
	_cleanup_(api_freep) char *sentence = gw_attributes_refusal(a, user, reason);
	const char *words = sentence ? sentence : "", *dot = *a->group ? "." : "";

	if (*a->path)
		api_status_set(status, 403, "Forbidden", "forbidden: %s", words);
	else if (!*a->name)
		api_status_set(status, 403, "Forbidden", "%s%s%s is forbidden: %s", a->resource, dot,
			       a->group, words);
	else
		api_status_set(status, 403, "Forbidden", "%s%s%s \"%s\" is forbidden: %s", a->resource, dot,
			       a->group, a->name, words);
	status->has_details = true;
	if (*a->path)
		return;
	status->name = *a->name ? api_strndup(a->name, strlen(a->name)) : NULL;
	status->group = a->group;
	status->kind = a->resource;
}

void
gw_refuse_too_many(struct api_status *status)
{
	api_status_set(status, 429, "TooManyRequests", "Too many requests, please try again later.");
	status->has_details = true;
	status->retry_after = 1;
}

void
gw_refuse_unknown(struct api_status *status)
{
	api_status_set(status, 503, "ServiceUnavailable",
		       "the API server could not be asked whether this is allowed; please try again later");
	status->has_details = true;
	status->retry_after = 1;
}
