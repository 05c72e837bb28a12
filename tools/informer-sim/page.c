/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continue tokens, byte for byte as the real server makes them.
 */
#include "tools/informer-sim/page.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/doc.h"

#define VARIANT sodium_base64_VARIANT_URLSAFE_NO_PADDING

void
sim_page_done(struct sim_page *page)
{
	free(page->start);
	*page = (struct sim_page){0};
}

void
sim_page_encode(int64_t rv, const char *last, bool slash, struct sim_buf *buf)
{
	_cleanup_(sim_buf_done) struct sim_buf json = {0};
	_cleanup_(sim_buf_done) struct sim_buf start = {0};
	_cleanup_(sim_freep) char *text = NULL;
	size_t size;

	sim_buf_printf(&start, "%s%s", slash ? "/" : "", last);
	sim_buf_put(&start, "", 1);
	sim_buf_printf(&json, "{\"v\":\"meta.k8s.io/v1\",\"rv\":%" PRId64 ",\"start\":", rv);
	sim_buf_json(&json, start.data, start.len);
	sim_buf_puts(&json, "}");
	size = sodium_base64_encoded_len(json.len, VARIANT);
	text = sim_alloc(size);
	sodium_bin2base64(text, size, (const unsigned char *)json.data, json.len, VARIANT);
	sim_buf_puts(buf, text);
}

static int
invalid(struct sim_request *request, const char *why)
{
	return sim_status_set(&request->status, 400, "BadRequest",
			      "invalid continue token: continue key is not valid: %s", why);
}

int
sim_page_decode(struct sim_request *request, const char *token, struct sim_page *ret_page)
{
	_cleanup_(sim_doc_done) struct sim_doc doc = {0};
	_cleanup_(sim_freep) char *json = sim_alloc(strlen(token) + 1);
	_cleanup_(sim_buf_done) struct sim_buf start = {0};
	_cleanup_(sim_buf_done) struct sim_buf key = {0};
	const struct sim_node *rv;
	struct sim_doc_error error;
	const char *from;
	char number[32];
	size_t len;

	if (sodium_base642bin((unsigned char *)json, strlen(token) + 1, token, strlen(token), NULL, &len,
			      NULL, VARIANT) != 0)
		return invalid(request, "illegal base64 data");
	if (sim_doc_parse(&doc, json, len, NULL, &error) < 0)
		return invalid(request, error.text);
	if (!sim_is(sim_get(doc.root, "v"), "meta.k8s.io/v1"))
		return invalid(request, "server does not recognize this encoded version");
	rv = sim_get(doc.root, "rv");
	if (!rv || rv->type != SIM_NUMBER || rv->text_len >= sizeof(number))
		return invalid(request, "incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
	memcpy(number, rv->text, rv->text_len);
	number[rv->text_len] = '\0';
	ret_page->rv = strtoll(number, NULL, 10);
	if (ret_page->rv == 0)
		return invalid(request, "incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
	sim_text(sim_get(doc.root, "start"), &start);
	if (start.len == 0)
		return invalid(request, "encoded start key is empty");
	from = start.data + (start.data[0] == '/');
	ret_page->after = start.data[start.len - 1] == '\0';
	if (request->namespace_)
		sim_buf_printf(&key, "%s/", request->namespace_);
	sim_buf_puts(&key, from); /* up to its NUL */
	ret_page->start = sim_buf_take(&key);
	return 0;
}

int
sim_page_expired(struct sim_request *request, const struct sim_page *page)
{
	struct sim_buf token = {0};
	size_t skip = request->namespace_ ? strlen(request->namespace_) + 1 : 0;

	sim_status_set(&request->status, 410, "Expired",
		       "The provided continue parameter is too old to display a consistent list result. You "
		       "can start a new "
		       "list without the continue parameter, or use the continue token in this response to "
		       "retrieve the "
		       "remainder of the results. Continuing with the provided token results in an "
		       "inconsistent list - "
		       "objects that were created, modified, or deleted between the time the first chunk was "
		       "returned and "
		       "now may show up in the list.");
	sim_page_encode(-1, page->start + skip, false, &token);
	request->status.next_token = sim_buf_take(&token);
	return -EINVAL;
}
