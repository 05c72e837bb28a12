/* SPDX-License-Identifier: Apache-2.0 */
/* Continue tokens, byte for byte as upstream's. */
#include "tools/serving/page.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/doc.h"

#define VARIANT sodium_base64_VARIANT_URLSAFE_NO_PADDING

void
api_page_done(struct api_page *page)
{
	free(page->start);
	*page = (struct api_page){0};
}

void
api_page_encode(int64_t rv, const char *last, bool slash, struct api_buf *buf)
{
	_cleanup_(api_buf_done) struct api_buf json = {0};
	_cleanup_(api_buf_done) struct api_buf start = {0};
	_cleanup_(api_freep) char *text = NULL;
	size_t size;

	api_buf_printf(&start, "%s%s", slash ? "/" : "", last);
	api_buf_put(&start, "", 1);
	api_buf_printf(&json, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%" PRId64 ",\"start\":", rv);
	api_buf_json(&json, start.data, start.len);
	api_buf_puts(&json, "}");
	size = sodium_base64_encoded_len(json.len, VARIANT);
	text = api_alloc(size);
	sodium_bin2base64(text, size, (const unsigned char *)json.data, json.len, VARIANT);
	api_buf_puts(buf, text);
}

static int
invalid(struct api_request *request, const char *why)
{
	return api_status_set(&request->status, 400, "BadRequest",
			      "invalid continue token: continue key is not valid: %s", why);
}

int
api_page_decode(struct api_request *request, const char *token, struct api_page *ret_page)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_freep) char *json = api_alloc(strlen(token) + 1);
	_cleanup_(api_buf_done) struct api_buf start = {0};
	_cleanup_(api_buf_done) struct api_buf key = {0};
	const struct api_node *rv;
	struct api_doc_error error;
	const char *from;
	char number[32];
	size_t len;

	if (sodium_base642bin((unsigned char *)json, strlen(token) + 1, token, strlen(token), NULL, &len,
			      NULL, VARIANT) != 0)
		return invalid(request, "illegal base64 data");
	if (api_doc_parse(&doc, json, len, NULL, &error) < 0)
		return invalid(request, error.text);
	if (!api_is(api_get(doc.root, "v"), "meta.k8s.io/v1"))
		return invalid(request, "server does not recognize this encoded version");
	rv = api_get(doc.root, "rv");
	if (!rv || rv->type != API_NUMBER || rv->text_len >= sizeof(number))
		return invalid(request, "incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
	memcpy(number, rv->text, rv->text_len);
	number[rv->text_len] = '\0';
	ret_page->rv = strtoll(number, NULL, 10);
	if (ret_page->rv == 0)
		return invalid(request, "incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
	api_text(api_get(doc.root, "start"), &start);
	if (start.len == 0)
		return invalid(request, "encoded start key is empty");
	from = start.data + (start.data[0] == '/');
	ret_page->after = start.data[start.len - 1] == '\0';
	api_object_key(&key, request->namespace_, from); /* only up to the start's NUL */
	ret_page->start = api_buf_take(&key);
	return 0;
}

int
api_page_expired(struct api_request *request, const struct api_page *page)
{
	struct api_buf token = {0};
	size_t skip = request->namespace_ ? strlen(request->namespace_) + 1 : 0;

	api_status_set(
		&request->status, 410, "Expired",
		"The provided continue parameter is too old to display a consistent list result. You can "
		"start a new list without the continue parameter, or use the continue token in this "
		"response to retrieve the remainder of the results. Continuing with the provided token "
		"results in an inconsistent list - objects that were created, modified, or deleted between "
		"the time the first chunk was returned and now may show up in the list.");
	api_page_encode(-1, page->start + skip, false, &token);
	request->status.next_token = api_buf_take(&token);
	return -EINVAL;
}
