/* SPDX-License-Identifier: Apache-2.0 */
/* Any lines as a request's headers: the forwarded ones have one bearer and none of the connection's. */
#include <strings.h>

#include "tests/fuzz/fuzz.h"
#include "tools/informer-gateway/pass/forward_headers.h"

static bool
begins(const char *line, const char *with)
{
	return strncasecmp(line, with, strlen(with)) == 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gw_header headers[GW_FORWARD_MAX + 4];
	struct gw_header_lines lines = {0};
	_cleanup_(api_status_done) struct api_status status = {0};
	char *text = fuzz_text(data, size), *rest = text, *line;
	size_t count = 0, bearers = 0;

	while (count < GW_FORWARD_MAX + 4 && (line = strsep(&rest, "\n"))) {
		char *value = strchr(line, ':');

		if (value)
			*value++ = '\0';
		headers[count++] = (struct gw_header){line, value ? value : ""};
	}
	if (gw_forward_request(headers, count, &lines, &status) == 0) {
		for (unsigned i = 0; i < lines.count; i++) {
			bearers += begins(lines.lines[i], "Authorization: Bearer ");
			if (begins(lines.lines[i], "Connection:") ||
			    begins(lines.lines[i], "Transfer-Encoding:") ||
			    begins(lines.lines[i], "Content-Length:") || begins(lines.lines[i], "Host:") ||
			    begins(lines.lines[i], "X-Remote-"))
				abort();
		}
		if (bearers != 1 || lines.lines[lines.count])
			abort();
	} else if (!status.code || !status.message) {
		abort();
	}
	gw_header_lines_done(&lines);
	free(text);
	return 0;
}
