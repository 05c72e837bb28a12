/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an API server's answer to a request for another protocol: a head within the bytes, or none;
 * chunks that become no longer by being joined.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/informer-gateway/http_answer.h"

static void
look_at_head(const struct gw_answer_head *head, const char *bytes, size_t size)
{
	if (head->length > size || head->count > GW_ANSWER_HEADERS_MAX || head->status < 100 ||
	    head->status > 599)
		abort();
	for (unsigned i = 0; i < head->count; i++) {
		const struct gw_header *h = &head->headers[i];

		if (h->name < bytes || h->value + strlen(h->value) >= bytes + head->length || !*h->name ||
		    strpbrk(h->value, "\r\n"))
			abort();
		(void)gw_forward_answer(h->name, gw_answer_header(head, "Connection"));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = fuzz_text(data, size), *chunks = fuzz_text(data, size);
	struct gw_answer_head head;
	ssize_t n;

	if (gw_answer_head_parse(bytes, size, &head) == 0)
		look_at_head(&head, bytes, size);
	n = gw_chunks_join(chunks, size);
	if (n > (ssize_t)size || (n < 0 && n != -EAGAIN && n != -EPROTO))
		abort();
	if (n == -EAGAIN && memcmp(chunks, data, size) != 0)
		abort();
	free(bytes);
	free(chunks);
	return 0;
}
