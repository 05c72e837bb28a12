/* SPDX-License-Identifier: Apache-2.0 */
/* Filtering headers; see forward_headers.h. */
#include "tools/informer-gateway/pass/forward_headers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/informer-gateway/http/request_form.h"
#include "tools/serving/buf.h"
#include "writer/base/file.h"

#define IMPERSONATE "Impersonate-"

static const char *const of_connection[] = {"Connection",
					    "Keep-Alive",
					    "Proxy-Connection",
					    "Proxy-Authenticate",
					    "Proxy-Authorization",
					    "TE",
					    "Trailer",
					    "Transfer-Encoding",
					    "Upgrade",
					    NULL};

static const char *const made_anew[] = {"Host", "Content-Length", "Expect", "HTTP2-Settings", NULL};

static const char *const of_proxies[] = {"X-Remote-", "X-Forwarded-", "Forwarded", "X-Real-Ip"};

static const char *const ours_in_answers[] = {"Date",          "Content-Length", "Content-Type",
					      "Cache-Control", "Alt-Svc",        NULL};

static bool
is_one_of(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcasecmp(*names, name) == 0)
			return true;
	return false;
}

static bool
begins_with(const char *name, const char *prefix)
{
	return strncasecmp(name, prefix, strlen(prefix)) == 0;
}

static bool
is_of_proxies(const char *name)
{
	for (size_t i = 0; i < sizeof(of_proxies) / sizeof(*of_proxies); i++)
		if (begins_with(name, of_proxies[i]))
			return true;
	return false;
}

static bool
takes_out_who_asks(const char *connection)
{
	while (connection && *connection) {
		connection += strspn(connection, " \t,");
		if (begins_with(connection, "Authorization") || begins_with(connection, IMPERSONATE))
			return true;
		connection += strcspn(connection, " \t,");
	}
	return false;
}

static bool
is_named_by_connection(const struct gw_header *headers, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(headers[i].name, "Connection") == 0 && gw_names_have(headers[i].value, name))
			return true;
	return false;
}

/* The request must have exactly one bearer token, which Connection must not remove. */
static int
check_identity(const struct gw_header *headers, size_t count, struct api_status *status)
{
	unsigned bearers = 0;
	size_t length;

	for (size_t i = 0; i < count; i++) {
		if (strcasecmp(headers[i].name, "Connection") == 0 && takes_out_who_asks(headers[i].value))
			return api_status_set(status, 400, "BadRequest",
					      "the Connection header names a header that says who asks");
		if (strcasecmp(headers[i].name, "Authorization") != 0)
			continue;
		if (!gw_bearer_token(headers[i].value, &length))
			return api_status_set(
				status, 401, "Unauthorized",
				"what is not served here is asked of the API server with the caller's own "
				"bearer token, and what the Authorization header has is none");
		bearers++;
	}
	if (bearers > 1)
		return api_status_set(status, 400, "BadRequest",
				      "there is more than one Authorization header");
	if (bearers == 0)
		return api_status_set(
			status, 401, "Unauthorized",
			"what is not served here is asked of the API server with the caller's own bearer "
			"token, and none was sent: nobody else's credentials are used for it");
	return 0;
}

static void
add(struct gw_header_lines *lines, const struct gw_header *header)
{
	struct api_buf line = {0};

	api_buf_printf(&line, "%s: %s", header->name, header->value);
	lines->lines[lines->count++] = api_buf_take(&line);
	lines->lines[lines->count] = NULL;
}

int
gw_forward_request(const struct gw_header *headers, size_t count, struct gw_header_lines *ret,
		   struct api_status *status)
{
	struct gw_header_lines lines = {0};
	int r;

	if (count > GW_FORWARD_MAX)
		return api_status_set(status, 431, "RequestHeaderFieldsTooLarge",
				      "there are too many headers");
	r = check_identity(headers, count, status);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		if (!is_one_of(of_connection, headers[i].name) && !is_one_of(made_anew, headers[i].name) &&
		    !is_of_proxies(headers[i].name) &&
		    !is_named_by_connection(headers, count, headers[i].name))
			add(&lines, &headers[i]);
	*ret = lines;
	return 0;
}

struct gathered {
	struct gw_header headers[GW_FORWARD_MAX + 1];
	size_t count;
};

static enum MHD_Result
gather(void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct gathered *g = ctx;

	(void)kind;
	if (g->count <= GW_FORWARD_MAX)
		g->headers[g->count++] = (struct gw_header){name, value ? value : ""};
	return MHD_YES;
}

int
gw_forward_request_of(struct MHD_Connection *connection, struct gw_header_lines *ret,
		      struct api_status *status)
{
	struct gathered g = {.count = 0};

	MHD_get_connection_values(connection, MHD_HEADER_KIND, gather, &g);
	return gw_forward_request(g.headers, g.count, ret, status);
}

void
gw_header_lines_done(struct gw_header_lines *lines)
{
	for (unsigned i = 0; i < lines->count; i++)
		file_wipe(lines->lines[i], strlen(lines->lines[i]));
	*lines = (struct gw_header_lines){0};
}

bool
gw_forward_answer(const char *name, const char *connection)
{
	return !is_one_of(of_connection, name) && !is_one_of(ours_in_answers, name) &&
	       !gw_names_have(connection, name);
}
