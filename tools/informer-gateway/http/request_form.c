/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each part by its grammar; see request_form.h. */
#include "tools/informer-gateway/http/request_form.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define METHOD_MAX 24u
/* libmicrohttpd before 1.0 cuts a value at a zero byte, and joins folded lines to other headers' names. */
#define LAX (MHD_VERSION < 0x01000000)
#define HIDDEN "a header has a zero byte, goes on in a second line, or ends without CR"
#define IMPERSONATE "Impersonate-"
#define BEARER "Bearer "

/* tchar of RFC 9110 */
static bool
is_token(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!text[i] || (!isalnum((unsigned char)text[i]) && !strchr("!#$%&'*+-.^_`|~", text[i])))
			return false;
	return length > 0;
}

/* ---- the target ---- */

static const char *
target_fault(const char *target)
{
	if (target[0] != '/')
		return "the request's target is no path";
	for (const char *c = target; *c; c++) {
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f || *c == '#' || *c == '\\')
			return "the request's target has a byte that no URL has";
		if (*c != '%')
			continue;
		if (!isxdigit((unsigned char)c[1]) || !isxdigit((unsigned char)c[2]))
			return "the request's target has a % that two hexadecimal digits do not follow";
		if (c[1] == '0' && c[2] == '0')
			return "the request's target has a zero byte";
	}
	return NULL;
}

/* "." and ".." are refused: a proxy before the gateway may or may not have resolved them. */
static bool
has_dots(const char *path)
{
	for (const char *c = path; *c;) {
		size_t length = strcspn(c, "/");

		if ((length == 1 && c[0] == '.') || (length == 2 && c[0] == '.' && c[1] == '.'))
			return true;
		c += length + (c[length] != '\0');
	}
	return false;
}

static const char *
path_fault(const char *path)
{
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return "the request's path has a control character";
	return has_dots(path) ? "the request's path has a segment . or .." : NULL;
}

/* ---- headers ---- */

struct headers {
	unsigned lengths, hosts;
	const char *fault;
	const char *end; /* behind the previous line */
};

static bool
is_value(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
			return false;
	return true;
}

static bool
is(const char *name, size_t length, const char *other)
{
	return length == strlen(other) && !strncasecmp(name, other, length);
}

static enum MHD_Result
look(void *ctx, enum MHD_ValueKind kind, const char *name, size_t name_length, const char *value,
     size_t value_length)
{
	struct headers *h = ctx;

	(void)kind;
	/* each line must begin where the previous one ended, or libmicrohttpd has hidden bytes */
	if (LAX && (name != h->end || !value || value[value_length] || value[value_length + 1]))
		h->fault = HIDDEN;
	else if (!is_token(name, name_length))
		h->fault = "a header's name has a byte that is not allowed";
	else if (value && !is_value(value, value_length))
		h->fault = "a header has a control character";
	if (h->fault)
		return MHD_NO;
	h->end = value + value_length + 2;
	if (is(name, name_length, "Content-Length"))
		h->lengths++;
	else if (is(name, name_length, "Host"))
		h->hosts++;
	else if (is(name, name_length, "Transfer-Encoding"))
		h->fault = "the request's body comes in chunks: send it with a Content-Length";
	return h->fault ? MHD_NO : MHD_YES;
}

static const char *
headers_fault(const struct api_request *request, const char *version, bool older)
{
	struct headers h = {.end = version + strlen(version) + 2};
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		request->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

	(void)MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, look, &h);
	if (h.fault)
		return h.fault;
	if (LAX && info && h.end + 2 != request->method + *(const size_t *)info)
		return HIDDEN;
	if (h.lengths > 1)
		return "the request has more than one Content-Length";
	if (h.hosts > 1 || (!older && !h.hosts))
		return "the request has not one Host";
	return NULL;
}

const char *
gw_request_fault(const struct api_request *request, const char *target, uintptr_t target_end,
		 const char *version)
{
	bool older = !strcmp(version, "HTTP/1.0");
	const char *fault;

	if (!older && strcmp(version, "HTTP/1.1") != 0)
		return "the request is not HTTP/1.1";
	if (strlen(request->method) > METHOD_MAX || !is_token(request->method, strlen(request->method)))
		return "the request's method is none";
	if ((uintptr_t)version != target_end)
		return "the request's line has a zero byte";
	fault = target_fault(target);
	if (!fault)
		fault = path_fault(request->url);
	return fault ? fault : headers_fault(request, version, older);
}

bool
gw_request_takes_gzip(struct MHD_Connection *connection)
{
	return gw_names_have(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept-Encoding"),
			     "gzip");
}

/* ---- header values ---- */

bool
gw_names_have(const char *list, const char *name)
{
	size_t length = strlen(name);

	while (list && *list) {
		size_t n;

		list += strspn(list, " \t,");
		n = strcspn(list, " \t,");
		if (n == length && strncasecmp(list, name, n) == 0)
			return true;
		list += n;
	}
	return false;
}

bool
gw_request_upgrades(struct MHD_Connection *connection)
{
	const char *upgrade = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Upgrade");

	return upgrade && *upgrade && strcasecmp(upgrade, "h2c") != 0 &&
	       gw_names_have(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Connection"),
			     "Upgrade");
}

static enum MHD_Result
look_for_another(void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
	bool *found = ctx;

	(void)kind;
	(void)value;
	*found = *found || !strncasecmp(name, IMPERSONATE, strlen(IMPERSONATE));
	return *found ? MHD_NO : MHD_YES;
}

bool
gw_request_impersonates(struct MHD_Connection *connection)
{
	bool found = false;

	MHD_get_connection_values(connection, MHD_HEADER_KIND, look_for_another, &found);
	return found;
}

/* The characters of RFC 6750's b64token. */
static const char token_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=";

const char *
gw_bearer_token(const char *authorization, size_t *ret_length)
{
	const char *token;
	size_t length;

	if (!authorization || strncasecmp(authorization, BEARER, strlen(BEARER)) != 0)
		return NULL;
	token = authorization + strlen(BEARER);
	token += strspn(token, " ");
	length = strspn(token, token_letters);
	if (length == 0 || length > GW_TOKEN_MAX || token[length + strspn(token + length, " ")])
		return NULL;
	*ret_length = length;
	return token;
}
