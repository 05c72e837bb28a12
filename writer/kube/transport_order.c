/* SPDX-License-Identifier: Apache-2.0 */
/* Method, headers and body of a request; see transport_order.h. */
#include "writer/kube/transport_order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "writer/base/message.h"
#include "writer/kube/transport_setup.h"

#define METHOD_MAX 32u

/* RFC 9110, token */
static size_t
token_length(const char *text)
{
	return strspn(text, "!#$%&'*+-.^_`|~0123456789"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
}

/* True for methods that need a Content-Length even without a body. */
static bool
must_have_length(const char *method)
{
	return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0;
}

static CURLcode
set_body(CURL *easy, const struct transport_order *order)
{
	CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)order->body_length);

	return code == CURLE_OK
		       ? curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, order->body ? order->body : "")
		       : code;
}

int
transport_order_set(CURL *easy, const struct transport_order *order)
{
	const char *method = order->method ? order->method : "GET";
	size_t length = strlen(method);
	bool body = order->body_length > 0 || must_have_length(method);
	CURLcode code = CURLE_OK;

	if (length == 0 || length > METHOD_MAX || token_length(method) != length)
		return -EINVAL;
	if (strcmp(method, "HEAD") == 0)
		return body ? -EINVAL : curl_easy_setopt(easy, CURLOPT_NOBODY, 1L) == CURLE_OK ? 0 : -ENOMEM;
	if (body)
		code = set_body(easy, order);
	if (code == CURLE_OK && (body || strcmp(method, "GET") != 0))
		code = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
	return code == CURLE_OK ? 0 : -ENOMEM;
}

/* True for headers that only the transport sets: they would change how the request is sent or read. */
static bool
is_the_transports(const char *line, size_t name)
{
	static const char *const names[] = {"Host",       "Content-Length", "Transfer-Encoding",
					    "Connection", "Upgrade",        "Expect",
					    "TE",         "Trailer"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == name && strncasecmp(line, names[i], name) == 0)
			return true;
	return false;
}

static bool
is_header(const char *line)
{
	size_t name = token_length(line);

	if (name == 0 || line[name] != ':' || is_the_transports(line, name))
		return false;
	for (const char *p = line + name; *p; p++)
		if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
			return false;
	return true;
}

static bool
append(struct curl_slist **headers, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*headers, line);

	if (longer)
		*headers = longer;
	return longer;
}

/* libcurl removes a header given as "Name:", and sends an empty one for "Name;". */
static bool
append_header(struct curl_slist **headers, const char *line)
{
	size_t name = token_length(line);
	_cleanup_(message_freep) char *empty = NULL;

	if (line[name + 1 + strspn(line + name + 1, " \t")])
		return append(headers, line);
	empty = strndup(line, name + 1);
	if (!empty)
		return false;
	empty[name] = ';';
	return append(headers, empty);
}

static bool
has(const struct transport_order *order, const char *name)
{
	size_t length = strlen(name);

	for (const char *const *line = order->headers; line && *line; line++)
		if (strncasecmp(*line, name, length) == 0 && (*line)[length] == ':')
			return true;
	return false;
}

int
transport_order_headers(const struct transport_order *order, struct curl_slist **ret_headers)
{
	struct curl_slist *headers = NULL;
	bool ok = append(&headers, "Expect:");

	if (ok && !has(order, "Content-Type"))
		ok = append(&headers, "Content-Type:");
	if (ok && order->flags & TRANSPORT_PLAIN && !has(order, "Accept"))
		ok = append(&headers, "Accept:");
	for (const char *const *line = order->headers; ok && line && *line; line++) {
		if (!is_header(*line)) {
			transport_setup_headers_free(headers);
			return -EINVAL;
		}
		ok = append_header(&headers, *line);
	}
	if (!ok) {
		transport_setup_headers_free(headers);
		return -ENOMEM;
	}
	*ret_headers = headers;
	return 0;
}
