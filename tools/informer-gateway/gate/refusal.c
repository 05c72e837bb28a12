/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals in upstream's words; see refusal.h. */
#include "tools/informer-gateway/gate/refusal.h"

#include <string.h>

void
gw_refuse(struct api_status *status, enum gw_outcome outcome)
{
	if (outcome == GW_ACCESS_UNAUTHENTICATED) {
		api_status_set(status, 401, "Unauthorized", "Unauthorized");
		return;
	}
	if (outcome == GW_ACCESS_BUSY)
		api_status_set(status, 429, "TooManyRequests", "Too many requests, please try again later.");
	else
		api_status_set(status, 503, "ServiceUnavailable",
			       "the API server could not be asked whether this is allowed; please try again "
			       "later");
	status->has_details = true;
	status->retry_after = 1;
}

/* Quote as Go's %q does for names and paths, and escape HTML as upstream's answers do. */
static void
quoted(struct api_buf *out, const char *text)
{
	static const char *const escaped[256] = {
		['"'] = "\\\"", ['\\'] = "\\\\", ['&'] = "&amp;", ['<'] = "&lt;",
		['>'] = "&gt;", ['\n'] = "\\n",  ['\t'] = "\\t",  ['\r'] = "\\r",
	};

	api_buf_puts(out, "\"");
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (escaped[*c])
			api_buf_puts(out, escaped[*c]);
		else
			api_buf_printf(out, *c < 0x20 || *c == 0x7f ? "\\x%02x" : "%c", *c);
	}
	api_buf_puts(out, "\"");
}

/* `User "x" cannot list resource "pods" in API group "" in the namespace "y": REASON`. */
static void
sentence(struct api_buf *out, const struct gw_attributes *a, const char *user, const char *reason)
{
	api_buf_puts(out, "User ");
	quoted(out, user);
	if (*a->path) {
		api_buf_printf(out, " cannot %s path ", a->verb);
		quoted(out, a->path);
	} else {
		api_buf_printf(out, " cannot %s resource \"%s%s%s\" in API group ", a->verb, a->resource,
			       *a->subresource ? "/" : "", a->subresource);
		quoted(out, a->group);
		api_buf_puts(out, *a->namespace_ ? " in the namespace " : " at the cluster scope");
		if (*a->namespace_)
			quoted(out, a->namespace_);
	}
	if (*reason)
		api_buf_printf(out, ": %s", reason);
}

void
gw_refuse_forbidden(struct api_status *status, const struct gw_attributes *attributes, const char *user,
		    const char *reason)
{
	const struct gw_attributes *a = attributes;
	_cleanup_(api_buf_done) struct api_buf words = {0};

	if (!*a->path)
		api_buf_printf(&words, "%s%s%s ", a->resource, *a->group ? "." : "", a->group);
	if (*a->name && !*a->path)
		api_buf_printf(&words, "\"%s\" ", a->name);
	api_buf_puts(&words, *a->path ? "forbidden: " : "is forbidden: ");
	sentence(&words, a, user, reason);
	api_status_set(status, 403, "Forbidden", "%s", words.data);
	status->has_details = true;
	if (*a->path)
		return;
	status->name = *a->name ? api_strndup(a->name, strlen(a->name)) : NULL;
	status->group = a->group;
	status->kind = a->resource;
}

void
gw_refuse_pods_of_node(struct api_status *status, const char *user, const char *reason)
{
	api_status_set(status, 403, "Forbidden",
		       "Forbidden (user=%s, verb=get, resource=nodes, subresource(s)=[pods proxy])%s%s", user,
		       *reason ? ": " : "", reason);
}
